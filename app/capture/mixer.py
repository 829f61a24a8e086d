"""Two tracks as one: the first keeps the time, the second is held to it though its clock drifts."""

from __future__ import annotations

from typing import Final

import numpy as np

from app.capture.ring import Samples
from app.capture.track import Collected, Hole, Track

CUSHION_S: Final = 0.1
"""Of the second track that is kept waiting, so that it need not come at the same moment as the first."""
LATE_S: Final = 2.0
"""How far behind the moment a hole of the second track may begin and still be joined to others."""
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
        self._holes: list[Hole] = []
        """Of what waits; the start is negative where silence has stood in for it already."""
        self._silent_from: int | None = 0
        """Where the silence begins that stands in at the end of what waits; None: there is none."""
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
        """Take what the first track has, with what the second has for it.

        The holes are those of both: what only one has heard is not all that was to be heard. Of the
        second's, which are known late, some begin before what is returned: their start is negative.
        """
        first = self._first.collect(now_s)
        second = self._second.collect(now_s, self.speed)
        num = len(first.samples)
        self._has_begun = self._has_begun or num > 0
        self._queue(second, num)
        missing = num - len(self._waiting)
        if missing > 0:
            # It has not begun, or is late: let it come, with a new cushion.
            if self._silent_from is None:
                self._silent_from = len(self._waiting)
            self._waiting = np.concatenate((self._waiting, np.zeros(missing + self._cushion, np.float32)))
            self._average_s = CUSHION_S
        other = self._waiting[:num]
        holes = [
            hole._replace(num=min(hole.start + hole.num, num) - hole.start)
            for hole in self._holes
            if hole.start < num
        ]
        self._waiting = self._waiting[num:]
        self._shift(num)
        self._steer(now_s)
        if not self._has_begun or len(self._waiting) > _MOST_WAITING_S * self._rate_hz:
            self._let_go()
        return Collected(soft(first.samples + other), [*first.holes, *holes])

    def _queue(self, second: Collected, num_leaving: int) -> None:
        """Let it wait, without silence that stands for moments which have passed: silence was put there."""
        num_waiting = len(self._waiting) + len(second.samples) - num_leaving
        num_late = num_waiting - self._cushion
        pieces = [self._waiting]
        num_queued = len(self._waiting)
        start = 0
        for hole in second.holes:
            num_out = min(hole.num, max(0, num_late))
            num_late -= num_out
            if hole.start > start:
                pieces.append(second.samples[start : hole.start])
                num_queued += hole.start - start
                self._silent_from = None
            begin = num_queued - num_out
            if num_out and self._silent_from is not None:
                begin = self._silent_from
            num_queued += hole.num - num_out
            self._holes.append(Hole(hole.kind, begin, num_queued - begin))
            start = hole.start + hole.num
            pieces.append(second.samples[hole.start + num_out : start])
        if start < len(second.samples):
            self._silent_from = None
        self._waiting = np.concatenate((*pieces, second.samples[start:]))

    def _shift(self, num: int) -> None:
        """Count from `num` samples later."""
        if self._silent_from is not None:
            self._silent_from -= num
        ends = [(hole.kind, max(0, hole.start - num), hole.start + hole.num - num) for hole in self._holes]
        self._holes = [Hole(kind, start, end - start) for kind, start, end in ends if end > start]

    def _let_go(self) -> None:
        """Keep no more than the cushion."""
        num = max(0, len(self._waiting) - self._cushion)
        self._waiting = self._waiting[num:]
        self._shift(num)
        self._average_s = CUSHION_S
        if self._silent_from is not None:
            self._silent_from = max(0, self._silent_from)
        if not self._has_begun:
            self._holes = []

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
