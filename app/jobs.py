"""What every job is now, from what the engine told; pure: an event in, what changed out."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.protocol.events import JobEvent
from engine.protocol.failures import Failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import MediaInfo


class JobPhase(StrEnum):
    """A job's life: forward only, and exactly one of the last three ends it."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobChange(StrEnum):
    """What an event changed."""

    NOTHING = "nothing"
    STARTED = "started"
    LANGUAGE = "language"
    TAIL = "tail"
    SEGMENT = "segment"
    PROGRESS = "progress"
    WARNING = "warning"
    ANSWER = "answer"
    ENDED = "ended"


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job as told so far."""

    id: JobId
    phase: JobPhase = JobPhase.WAITING
    media: MediaInfo | None = None
    model: str | None = None
    language: str | None = None
    language_probability: float | None = None
    done: float = 0.0
    """Seconds of audio (bytes of a download); never goes back."""
    total: float | None = None
    remaining_s: float | None = None
    tail: str = ""
    num_segments: int = 0
    warnings: tuple[Failure, ...] = ()
    failure: Failure | None = None

    @property
    def fraction(self) -> float | None:
        """0 to 0.99 while it runs, None while unknown, 1 only when done."""
        raise NotImplementedError


class JobBook:
    """All open jobs; single-threaded. An ended job is forgotten with `forget`."""

    def open(self, job: JobId) -> Job:
        """Begin to follow a job that was just asked for."""
        raise NotImplementedError

    def apply(self, event: JobEvent) -> JobChange:
        """Take in one event; events of unknown or ended jobs change nothing."""
        raise NotImplementedError

    def get(self, job: JobId) -> Job | None:
        """The job as it is now."""
        raise NotImplementedError

    def forget(self, job: JobId) -> None:
        """Stop following a job."""
        raise NotImplementedError
