"""How long a job will still take, said only when it can be believed; pure."""

from __future__ import annotations


class Pace:
    """Seconds of audio confirmed per second of wall clock, of one job."""

    def update(self, *, done_s: float, now_s: float) -> None:
        """Note that `done_s` of audio is confirmed at `now_s` (any monotonic clock)."""
        raise NotImplementedError

    def remaining_s(self, *, total_s: float | None, now_s: float) -> float | None:
        """Return the seconds to go, or None while nothing believable can be said."""
        raise NotImplementedError
