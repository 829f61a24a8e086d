"""Brings decoded frames to 16 kHz and to their place in time."""

from __future__ import annotations

from typing import Any, Final, cast

import av
import numpy as np
import numpy.typing as npt

from engine.manager.downmix import Samples
from engine.messages import SAMPLE_RATE_HZ

_GAP_SAMPLES: Final = SAMPLE_RATE_HZ // 5
"""Timestamps of healthy files tremble by less."""
_LONGEST_GAP_SAMPLES: Final = SAMPLE_RATE_HZ * 3600
_UNPROVEN_GAP_SAMPLES: Final = SAMPLE_RATE_HZ * 60
"""The longest gap believed of a file that does not tell its duration."""
_ABSURD: Final = 1e6


class Clock:
    """Where in the recording the next sample belongs, by the timestamps of the container."""

    def __init__(self, zero_s: float, duration_s: float | None) -> None:
        self._zero_s = zero_s
        self._position = 0
        self._shift = 0
        self._end = None if duration_s is None else int((duration_s + 1) * SAMPLE_RATE_HZ)

    @property
    def position_s(self) -> float:
        return self._position / SAMPLE_RATE_HZ

    def advance(self, num_samples: int) -> None:
        self._position += num_samples

    def gap_before(self, frame: av.AudioFrame) -> int:
        """Return how many samples are missing before `frame`.

        A clock that jumps back, or ahead beyond belief, is set anew instead.
        """
        if frame.time is None:
            return 0
        expected = round((frame.time - self._zero_s) * SAMPLE_RATE_HZ) + self._shift
        gap = expected - self._position
        if self._position == 0 and 0 < gap <= _GAP_SAMPLES:
            return gap
        longest = (
            _UNPROVEN_GAP_SAMPLES
            if self._end is None
            else min(_LONGEST_GAP_SAMPLES, self._end - self._position)
        )
        if gap > longest or gap < -SAMPLE_RATE_HZ:
            self._shift -= gap
            return 0
        return gap if gap > _GAP_SAMPLES else 0


class Converter:
    """Resamples frames of one format to 16 kHz float, channels kept apart."""

    def __init__(self, frame: av.AudioFrame) -> None:
        self._key = _key(frame)
        self._is_float = frame.format.name.rstrip("p") in ("flt", "dbl")
        self._resampler = av.AudioResampler(format="fltp", layout=frame.layout, rate=SAMPLE_RATE_HZ)
        self.channel_names = tuple(channel.name for channel in frame.layout.channels)

    def fits(self, frame: av.AudioFrame) -> bool:
        return _key(frame) == self._key

    def convert(self, frame: av.AudioFrame) -> list[Samples]:
        """Return what is ready of (channels, samples)."""
        if self._is_float:
            frame = _finite(frame)
        frame.pts = None  # The clock deals with gaps; the resampler must not.
        return [_array(piece) for piece in self._resampler.resample(frame)]

    def rest(self) -> list[Samples]:
        return [_array(piece) for piece in self._resampler.resample(None)]


def _array(frame: av.AudioFrame) -> Samples:
    return cast(Samples, frame.to_ndarray())


def _key(frame: av.AudioFrame) -> tuple[str, str, int]:
    return frame.format.name, frame.layout.name, frame.sample_rate


def _finite(frame: av.AudioFrame) -> av.AudioFrame:
    """Return `frame` without NaN, infinities and numbers no sound has: they would spread in the filter."""
    samples: npt.NDArray[Any] = frame.to_ndarray()
    if bool((np.abs(samples) < _ABSURD).all()):
        return frame
    samples = np.where(np.abs(samples) < _ABSURD, samples, 0).astype(samples.dtype)
    clean = av.AudioFrame.from_ndarray(samples, format=frame.format.name, layout=frame.layout.name)
    clean.sample_rate = frame.sample_rate
    return clean
