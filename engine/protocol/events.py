"""What the engine tells a client. A job's story starts, yields, and ends exactly once."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from engine.protocol.failures import Failure
from engine.protocol.requests import JobId
from engine.protocol.stats import ModelLoad
from engine.protocol.transcript import MediaInfo, ModelInfo, Segment


class Welcome(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The engine knows the client now."""

    engine_pid: int
    protocol_version: int


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The engine will not serve this client."""

    failure: Failure


class WorkerPhase(StrEnum):
    """The life of a loaded model."""

    LOADING = "loading"
    READY = "ready"
    UNLOADED = "unloaded"
    FAILED = "failed"


class ModelState(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Told to every client: a model is being loaded, runs on `device`, or is gone."""

    model: str
    phase: WorkerPhase
    device: str = ""
    """For people: "CPU, int8, 2 threads"."""


class EngineLost(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Written by the client itself: the engine has ended unasked; open jobs have failed before this."""

    failure: Failure


class JobStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The media could be opened and the work begins. A live session has neither duration nor tracks."""

    job: JobId
    media: MediaInfo
    model: str


class LanguageDetected(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The language everything in this job is decoded in; `probability` is 1 when it was chosen."""

    job: JobId
    language: str
    probability: float


class Confirmed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Text that is never taken back; the deltas of a job joined are its segments' texts joined."""

    job: JobId
    delta: str
    end: float | None = None
    """Live only: when its last word ends. Who must go on without the segment can listen on from here."""


class Tail(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """What follows the confirmed text for now; replaces the tail before it whole."""

    job: JobId
    text: str


class SegmentDone(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A confirmed segment with its times; comes right after the delta that holds its text."""

    job: JobId
    segment: Segment


class Progress(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How far a job is. `done` and `total` are seconds of audio, or bytes for a download.

    `total` is None while unknown. `remaining_s` is None until it can be believed. `done == total`
    is not the ending: only `JobDone` is.
    """

    job: JobId
    done: float
    total: float | None
    remaining_s: float | None = None


class Backlog(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """How far a live session is, in samples of the recording; told while audio arrives.

    It acknowledges everything before `received_samples`: feed on from there, or wait while much of it
    is not decoded yet.
    """

    job: JobId
    received_samples: int
    decoded_samples: int
    """Everything before has been decoded at least once, or is silence."""
    seconds: float
    """Between the two."""


class SpeechStarted(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Somebody has begun to speak in a live session that tells turns."""

    job: JobId
    sample: int
    """Of the recording, with the padding in front of the speech."""


class SpeechEnded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """They have stopped; what they said is confirmed by the `Flushed` of the same sample."""

    job: JobId
    sample: int
    """Of the recording, with the silence that shows that it has ended."""


class Flushed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """All that was said before `sample` is confirmed, and its segments are done: the answer to a `Flush`."""

    job: JobId
    sample: int


class Gap(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Audio of a live session that was never fed, `[start, end)` seconds; it is taken for silence."""

    job: JobId
    start: float
    end: float


class Warned(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Something is not as it should be, and the job goes on (damaged packets were skipped)."""

    job: JobId
    failure: Failure


class MediaProbed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The answer to `ProbeMedia`."""

    job: JobId
    media: MediaInfo


class ModelList(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The answer to `ListModels`."""

    job: JobId
    models: tuple[ModelInfo, ...]
    folder: str
    """Where downloads are kept."""
    free_bytes: int
    memory_bytes: int | None = None
    """Of the machine that models run on; None where it does not tell."""


class Diagnosis(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The answer to `Diagnose`: lines to paste, in order."""

    job: JobId
    facts: tuple[tuple[str, str], ...]


class EngineStats(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The answer to `Measure`."""

    job: JobId
    models: tuple[ModelLoad, ...]
    """Those that are loaded."""
    num_jobs: int
    """Open, of all clients."""


class JobDone(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The ending: everything was told. Numbers are 0 for jobs without audio."""

    job: JobId
    duration: float = 0.0
    """Seconds of audio read."""
    speech: float = 0.0
    """Seconds in which the VAD heard speech."""
    elapsed: float = 0.0
    num_steps: int = 0
    """Live: passes of the decoder …"""
    num_steps_saved: int = 0
    """… and those that drafts made unnecessary."""


class JobFailed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The ending: what was told before stays true."""

    job: JobId
    failure: Failure


class JobCancelled(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The ending the client asked for."""

    job: JobId


JobEnding = JobDone | JobFailed | JobCancelled
JobEvent = (
    JobStarted
    | LanguageDetected
    | Confirmed
    | Tail
    | SegmentDone
    | Progress
    | Backlog
    | SpeechStarted
    | SpeechEnded
    | Flushed
    | Gap
    | Warned
    | MediaProbed
    | ModelList
    | Diagnosis
    | EngineStats
    | JobEnding
)
Event = Welcome | Refused | ModelState | EngineLost | JobEvent
