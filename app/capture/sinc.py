"""Resampling by windowed sinc: exact and repeatable from any place of a file, or steered by a drifting clock.

Both kinds compute each output sample from its own position alone, so where reading began does not matter.
The filter: J. O. Smith, "Digital Audio Resampling", https://ccrma.stanford.edu/~jos/resample/.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from app.capture.ring import Samples

_ZERO_CROSSINGS: Final = 16
"""Of the sinc to either side, at the lower of the two rates."""
_KAISER_BETA: Final = 9.0
"""About 90 dB down outside the band."""
_PASSBAND: Final = 0.94
"""Of the lower Nyquist rate: the rest is the filter's slope."""
_NUM_PHASES: Final = 256
"""Places between two samples for which a varying rate has coefficients; between them it interpolates."""


class Resampler:
    """From one fixed rate to another. Output sample n is at input position n * from / to, exactly.

    Stateless: `resample` may be called for any range, in any order, and gives the same samples.
    """

    def __init__(self, from_hz: int, to_hz: int) -> None:
        divisor = math.gcd(from_hz, to_hz)
        self._up = to_hz // divisor
        self._down = from_hz // divisor
        self._half = _half_width(from_hz, to_hz)
        fractions = np.arange(self._up) / self._up
        self._filters = _filters(fractions, self._half, min(1.0, to_hz / from_hz))

    @property
    def is_identity(self) -> bool:
        """The rates are equal: samples pass untouched."""
        return self._up == self._down

    def input_range(self, first: int, end: int) -> tuple[int, int]:
        """Return the input `[start, stop)` that output `[first, end)` is made from; start may be negative."""
        if self.is_identity:
            return first, end
        return (first * self._down // self._up - self._half + 1), (
            (end - 1) * self._down // self._up + self._half + 1
        )

    def output_end(self, num_input: int, *, is_whole: bool = False) -> int:
        """Return how many output samples `num_input` samples are good for.

        While more may come (`is_whole` False) only those whose filter has everything it needs.
        """
        if self.is_identity:
            return num_input
        if is_whole:
            return -(-num_input * self._up // self._down)
        last = num_input - self._half - 1
        return 0 if last < 0 else (last * self._up + self._up - 1) // self._down + 1

    def resample(self, samples: Samples, first: int, end: int) -> Samples:
        """Return output `[first, end)`.

        `samples` is the input of `input_range(first, end)`, with zeros beyond the ends of the sound.
        """
        if self.is_identity or end <= first:
            return samples[: max(0, end - first)]
        start, _ = self.input_range(first, end)
        positions = np.arange(first, end, dtype=np.int64) * self._down
        places = positions // self._up - self._half + 1 - start
        windows = sliding_window_view(samples, 2 * self._half)[places]
        return _dot(windows, self._filters[positions % self._up])


class Stretcher:
    """From one rate to about another, continuously; the speed may change by a little at any moment."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        self._step = from_hz / to_hz
        self._half = _half_width(from_hz, to_hz)
        fractions = np.arange(_NUM_PHASES + 1) / _NUM_PHASES
        self._filters = _filters(fractions, self._half, min(1.0, to_hz / from_hz))
        self._input = np.zeros(self._half - 1, np.float32)
        self._position = float(self._half - 1)

    def push(self, samples: Samples, speed: float = 1.0) -> Samples:
        """Return what `samples` give; `speed` above 1 uses them up faster, so that fewer come out."""
        self._input = np.concatenate((self._input, samples))
        step = self._step * speed
        room = len(self._input) - self._half - self._position
        num = max(0, math.ceil(room / step))
        positions = self._position + step * np.arange(num, dtype=np.float64)
        places = positions.astype(np.int64)
        output = self._at(places, positions - places)
        self._position += step * num
        num_used = min(int(self._position) - self._half + 1, len(self._input))
        self._input = self._input[num_used:]
        self._position -= num_used
        return output

    def _at(self, places: NDArray[np.int64], fractions: NDArray[np.floating]) -> Samples:
        # A computer that plays nothing gives zeros all day.
        if not self._input.any():
            return np.zeros(len(places), np.float32)
        windows = sliding_window_view(self._input, 2 * self._half)[places - self._half + 1]
        phases = fractions * _NUM_PHASES
        below = phases.astype(np.int64)
        weight = (phases - below).astype(np.float32)
        # Two products are cheaper than a blend of two filters for each sample.
        before, behind = _dot(windows, self._filters[below]), _dot(windows, self._filters[below + 1])
        output: Samples = before + (behind - before) * weight
        return output


def _dot(windows: Samples, filters: Samples) -> Samples:
    """Return the product of each window with its filter; each row by itself, so that no other changes it."""
    output: Samples = np.einsum("nt,nt->n", windows, filters, dtype=np.float32)
    return output


def _half_width(from_hz: int, to_hz: int) -> int:
    return math.ceil(_ZERO_CROSSINGS * max(1.0, from_hz / to_hz))


def _filters(fractions: NDArray[np.float64], half: int, band: float) -> Samples:
    """Return one filter of 2 * half taps for each fraction of a sample, each with a gain of 1 at 0 Hz."""
    taps = np.arange(1 - half, half + 1)
    distance = taps[None, :] - fractions[:, None]
    inside = np.clip(1.0 - (distance / half) ** 2, 0.0, None)
    window = np.i0(_KAISER_BETA * np.sqrt(inside)) / np.i0(_KAISER_BETA)
    filters = np.sinc(distance * band * _PASSBAND) * window
    normal: Samples = (filters / filters.sum(axis=1, keepdims=True)).astype(np.float32)
    return normal
