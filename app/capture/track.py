"""One source's samples on the recording's clock: converted, and silence where nothing came."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from app.capture.notices import MarkKind
from app.capture.ring import Samples
from app.capture.sinc import Stretcher
from app.capture.source import Intake
from app.capture.watchdog import STALL_S


class Hole(NamedTuple):
    """Silence that stands for something: `[start, start + num)` samples of what was collected."""

    kind: MarkKind
    start: int
    num: int


class Collected(NamedTuple):
    """What is new on a track."""

    samples: Samples
    holes: list[Hole]


class Track:
    """Collects from the intakes of one source. Single-threaded.

    A stream that begins or goes on after another leaves silence for the time between, so that the
    recording is as long as it took. A stream that is quiet for less than `STALL_S` is only late.
    """

    def __init__(
        self, intakes: deque[Intake], rate_hz: int, begun_s: float, *, is_steered: bool = False
    ) -> None:
        self._intakes = intakes
        self._rate_hz = rate_hz
        self._is_steered = is_steered
        self._until_s = begun_s
        """Everything up to here has been collected, and `_num_filled` samples of silence more."""
        self._num_filled = 0
        self._num_stood_in = 0
        """Samples of silence within the current stream: what is missing of it is not filled in again."""
        self._has_begun = False
        self.num_overflowed = 0
        """Samples that found no room in a ring, at the rate of their device."""
        self.num_lost = 0
        """Those, and what the device itself lost, at the recording's rate."""
        self._current: Intake | None = None
        self._stretcher: Stretcher | None = None
        self._pieces: list[Samples] = []
        self._holes: list[Hole] = []
        self._num = 0

    def collect(self, now_s: float, speed: float = 1.0) -> Collected:
        """Take what has come by `now_s`; a steered track is read `speed` times as fast."""
        self._pieces, self._holes, self._num = [], [], 0
        while self._intakes:
            intake = self._intakes[0]
            is_over = intake.is_over  # before the read: what comes later is read next time
            self._drain(intake, speed)
            if not is_over:
                break
            self._fill(MarkKind.LOST, self._converted(intake, intake.num_missing) - self._num_stood_in)
            self._intakes.popleft()
        if now_s - self._until_s > STALL_S:
            self._fill_until(now_s)
        samples = np.concatenate(self._pieces) if self._pieces else np.zeros(0, np.float32)
        return Collected(samples, self._holes)

    def _drain(self, intake: Intake, speed: float) -> None:
        while True:
            last_block_s = intake.last_block_s
            samples, num_lost = intake.ring.read()
            if not len(samples) and not num_lost:
                return
            self.num_overflowed += num_lost
            self._enter(intake)
            converted = self._stretcher.push(samples, speed) if self._stretcher else samples
            self._add(converted)
            self._fill(MarkKind.LOST, self._converted(intake, num_lost))
            if last_block_s is not None:
                self._until_s = last_block_s
                self._num_filled = 0

    def _enter(self, intake: Intake) -> None:
        """Begin with a new stream; the time since the one before is silence."""
        if self._current is intake:
            if intake.first_block_s is not None and self._until_s > intake.first_block_s:
                self._num_stood_in += self._num_filled
            return
        self._current = intake
        self._num_stood_in = 0
        if (self._has_begun or self._num_filled) and intake.first_block_s is not None:
            self._fill_until(intake.first_block_s)
        self._has_begun = True
        is_plain = intake.device.rate_hz == self._rate_hz and not self._is_steered
        self._stretcher = None if is_plain else Stretcher(intake.device.rate_hz, self._rate_hz)

    def _fill_until(self, until_s: float) -> None:
        num_due = round((until_s - self._until_s) * self._rate_hz) - self._num_filled
        if num_due > 0:
            self._num_filled += num_due
            self._fill(MarkKind.GAP, num_due)

    def _fill(self, kind: MarkKind, num: int) -> None:
        if num > 0:
            self._holes.append(Hole(kind, self._num, num))
            self.num_lost += num if kind is MarkKind.LOST else 0
            self._add(np.zeros(num, np.float32))

    def _add(self, samples: Samples) -> None:
        self._pieces.append(samples)
        self._num += len(samples)

    def _converted(self, intake: Intake, num_samples: int) -> int:
        return round(num_samples * self._rate_hz / intake.device.rate_hz)
