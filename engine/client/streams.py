"""How much of each live session's audio is on its way, and whether more may follow; pure."""

from __future__ import annotations

from typing import Final

from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.events import Backlog
from engine.protocol.requests import JobId

MAX_AHEAD_SAMPLES: Final = 60 * SAMPLE_RATE_HZ
"""Fed and not decoded yet: what the engine holds in memory for a session that falls behind."""


class Streams:
    """The open live sessions of a client."""

    def __init__(self) -> None:
        self._decoded: dict[JobId, int] = {}

    def open(self, job: JobId, start_sample: int) -> None:
        """Know a session that begins at `start_sample`."""
        self._decoded[job] = start_sample

    def close(self, job: JobId) -> None:
        """Forget a session, if it is one."""
        self._decoded.pop(job, None)

    def may_feed(self, job: JobId, end_sample: int) -> bool:
        """Say whether audio up to `end_sample` may be fed now; False for a session that is over."""
        decoded = self._decoded.get(job)
        return decoded is not None and end_sample - decoded <= MAX_AHEAD_SAMPLES

    def heard(self, backlog: Backlog) -> None:
        """Note how far the engine is."""
        if backlog.job in self._decoded:
            self._decoded[backlog.job] = backlog.decoded_samples
