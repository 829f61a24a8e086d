"""Two tracks as one: the first keeps the time, the second is held to it though its clock drifts."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.capture.ring import Samples
from app.capture.track import Collected, Track

CUSHION_S: Final = 0.1
"""Of the second track that is kept waiting, so that it need not come at the same moment as the first."""
_MOST_WAITING_S: Final = 2.0
"""More than that is not drift: it is let go."""
_SETTLE_S: Final = 8.0
"""Over which the waiting amount is averaged: blocks come in lumps."""
_GAIN_PER_S: Final = 0.02
"""An error of 10 ms changes the speed by 200 millionths, as much as clocks differ in practice."""
_MOST_SPEED: Final = 0.005
_KNEE: Final = 0.8


class Mixer:
    """Mixes a second track into a first. Single-threaded."""

    def __init__(self, first: Track, second: Track, rate_hz: int) -> None:
        self._first = first
        self._second = second
        self._rate_hz = rate_hz
        self._cushion = round(CUSHION_S * rate_hz)
        self._waiting = np.zeros(self._cushion, np.float32)
        self._has_begun = False
        self._average_s = CUSHION_S
        self._last_s: float | None = None
        self.speed = 1.0
        """How fast the second track is read now: above 1 while its clock is ahead."""

    @property
    def num_waiting(self) -> int:
        """Samples of the second track that wait for the first."""
        return len(self._waiting)

    def collect(self, now_s: float) -> Collected:
        """Take what the first track has, with what the second has for it."""
        first = self._first.collect(now_s)
        second = self._second.collect(now_s, self.speed)
        num = len(first.samples)
        self._has_begun = self._has_begun or num > 0
        self._waiting = np.concatenate((self._waiting, self._without_late_silence(second, num)))
        missing = num - len(self._waiting)
        if missing > 0:
            # It has not begun, or is late: let it come, with a new cushion.
            self._waiting = np.concatenate((self._waiting, np.zeros(missing + self._cushion, np.float32)))
            self._average_s = CUSHION_S
        other, self._waiting = self._waiting[:num], self._waiting[num:]
        self._steer(now_s)
        if not self._has_begun or len(self._waiting) > _MOST_WAITING_S * self._rate_hz:
            self._waiting = self._waiting[-self._cushion :]
            self._average_s = CUSHION_S
        return Collected(soft(first.samples + other), first.holes)

    def _without_late_silence(self, second: Collected, num_leaving: int) -> Samples:
        """Leave out silence that stands for moments which have passed: silence was put there already."""
        num_waiting = len(self._waiting) + len(second.samples) - num_leaving
        num_late = num_waiting - self._cushion
        pieces = []
        start = 0
        for hole in second.holes:
            num_out = min(hole.num, max(0, num_late))
            num_late -= num_out
            pieces.append(second.samples[start : hole.start])
            start = hole.start + num_out
        return np.concatenate((*pieces, second.samples[start:]))

    def _steer(self, now_s: float) -> None:
        """Correct the speed by how much waits on average; pure proportion settles without swinging."""
        elapsed_s = now_s - self._last_s if self._last_s is not None else 0.0
        self._last_s = now_s
        waiting_s = len(self._waiting) / self._rate_hz
        weight = min(1.0, elapsed_s / _SETTLE_S)
        self._average_s += weight * (waiting_s - self._average_s)
        change = _GAIN_PER_S * (self._average_s - CUSHION_S)
        self.speed = 1.0 + max(-_MOST_SPEED, min(_MOST_SPEED, change))


def soft(samples: Samples) -> Samples:
    """Bend what is louder than 0.8 so that nothing reaches 1; quieter samples pass untouched."""
    loud = np.abs(samples)
    room = 1.0 - _KNEE
    bent = _KNEE + room * np.tanh((loud - _KNEE) / room)
    return np.where(loud > _KNEE, np.copysign(bent, samples), samples).astype(np.float32)
