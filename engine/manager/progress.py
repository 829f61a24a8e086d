"""How long a job will still take, said only when it can be believed; pure."""

from __future__ import annotations

from collections import deque
from typing import Final

_WINDOW_S: Final = 60.0
"""The pace of the last minute counts: other jobs come and go."""
_BELIEVABLE_AFTER_S: Final = 2.0
_BELIEVABLE_STEPS: Final = 2
"""How often the confirmed audio must have grown: the first chunk's time is mostly the model's loading."""
_STALE_FACTOR: Final = 3.0


class Pace:
    """Seconds of audio confirmed per second of wall clock, of one job."""

    def __init__(self) -> None:
        self._steps: deque[tuple[float, float]] = deque()
        """(now_s, done_s) whenever `done_s` grew, oldest first."""

    def update(self, *, done_s: float, now_s: float) -> None:
        """Note that `done_s` of audio is confirmed at `now_s` (any monotonic clock)."""
        if self._steps and done_s <= self._steps[-1][1]:
            return
        self._steps.append((now_s, done_s))
        while len(self._steps) > 2 + _BELIEVABLE_STEPS and now_s - self._steps[1][0] > _WINDOW_S:
            self._steps.popleft()

    def remaining_s(self, *, total_s: float | None, now_s: float) -> float | None:
        """Return the seconds to go, or None while nothing believable can be said.

        Counts down between two steps; after a much longer wait than usual it is not believed any more.
        """
        if total_s is None or len(self._steps) <= _BELIEVABLE_STEPS:
            return None
        (first_s, first_done_s), (last_s, last_done_s) = self._steps[0], self._steps[-1]
        took_s = last_s - first_s
        if took_s < _BELIEVABLE_AFTER_S:
            return None
        waited_s = now_s - last_s
        if waited_s > _STALE_FACTOR * took_s / (len(self._steps) - 1) + _BELIEVABLE_AFTER_S:
            return None
        audio_left_s = max(0.0, total_s - last_done_s)
        return max(0.0, audio_left_s * took_s / (last_done_s - first_done_s) - waited_s)
