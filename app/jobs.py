"""What every job is now, from what the engine told; pure: an event in, what changed out."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Final, assert_never

import msgspec

from engine.protocol.events import (
    Backlog,
    Confirmed,
    Diagnosis,
    EngineStats,
    Flushed,
    Gap,
    JobCancelled,
    JobDone,
    JobEvent,
    JobFailed,
    JobStarted,
    LanguageDetected,
    MediaProbed,
    ModelList,
    Progress,
    SegmentDone,
    SpeechEnded,
    SpeechStarted,
    Tail,
    Warned,
)
from engine.protocol.failures import Failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import MediaInfo

_ALMOST: Final = 0.99
"""The most a job shows before its ending is stored."""


class JobPhase(StrEnum):
    """A job's life: forward only, and exactly one of the last three ends it."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


_ENDED: Final = frozenset({JobPhase.DONE, JobPhase.FAILED, JobPhase.CANCELLED})


class JobChange(StrEnum):
    """What an event changed."""

    NOTHING = "nothing"
    STARTED = "started"
    LANGUAGE = "language"
    CONFIRMED = "confirmed"
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
    def is_ended(self) -> bool:
        """Nothing follows any more."""
        return self.phase in _ENDED

    @property
    def fraction(self) -> float | None:
        """0 to 0.99 while it runs, None while unknown, 1 only when done."""
        if self.phase is JobPhase.DONE:
            return 1.0
        if not self.total:
            return None
        return min(max(self.done / self.total, 0.0), _ALMOST)


class JobBook:
    """All open jobs; single-threaded. An ended job stays until it is forgotten."""

    def __init__(self) -> None:
        self._jobs: dict[JobId, Job] = {}

    def open(self, job: JobId) -> Job:
        """Begin to follow a job that was just asked for."""
        self._jobs[job] = Job(id=job)
        return self._jobs[job]

    def apply(self, event: JobEvent) -> JobChange:
        """Take in one event; events of unknown or ended jobs change nothing."""
        job = self._jobs.get(event.job)
        if job is None or job.is_ended:
            return JobChange.NOTHING
        change, fields = _reduce(job, event)
        self._jobs[event.job] = msgspec.structs.replace(job, **fields)
        return change

    def get(self, job: JobId) -> Job | None:
        """The job as it is now."""
        return self._jobs.get(job)

    def forget(self, job: JobId) -> None:
        """Stop following a job."""
        self._jobs.pop(job, None)


def _reduce(job: Job, event: JobEvent) -> tuple[JobChange, dict[str, Any]]:
    """Return what `event` changes and the fields of `job` that it sets."""
    match event:
        case JobStarted(media=media, model=model):
            fields = {"phase": JobPhase.RUNNING, "media": media, "model": model, "total": media.duration}
            return JobChange.STARTED, fields
        case LanguageDetected(language=language, probability=probability):
            return JobChange.LANGUAGE, {"language": language, "language_probability": probability}
        case Confirmed():
            # The tail began with this text; what follows it is told next.
            return JobChange.CONFIRMED, {"tail": ""}
        case Tail(text=text):
            return (JobChange.TAIL if text != job.tail else JobChange.NOTHING), {"tail": text}
        case SegmentDone():
            return JobChange.SEGMENT, {"num_segments": job.num_segments + 1}
        case Progress(done=done, total=total, remaining_s=remaining_s):
            known = total if total is not None else job.total
            return JobChange.PROGRESS, {
                "done": max(done, job.done),
                "total": known,
                "remaining_s": remaining_s,
            }
        case Backlog() | Gap() | SpeechStarted() | SpeechEnded() | Flushed():
            return JobChange.NOTHING, {}
        case Warned(failure=failure):
            return JobChange.WARNING, {"warnings": (*job.warnings, failure)}
        case MediaProbed(media=media):
            return JobChange.ANSWER, {"media": media}
        case ModelList() | Diagnosis() | EngineStats():
            return JobChange.ANSWER, {}
        case JobDone():
            return JobChange.ENDED, {"phase": JobPhase.DONE, "tail": "", "remaining_s": None}
        case JobFailed(failure=failure):
            fields = {"phase": JobPhase.FAILED, "failure": failure, "tail": "", "remaining_s": None}
            return JobChange.ENDED, fields
        case JobCancelled():
            return JobChange.ENDED, {"phase": JobPhase.CANCELLED, "tail": "", "remaining_s": None}
        case _:
            assert_never(event)
