"""What a client may ask of the engine."""

from __future__ import annotations

import msgspec

from engine.protocol.transcript import Options

JobId = str
"""Chosen by the client, unique for ever (a uuid4 hex)."""


class Hello(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Attach: answered with `Welcome`, or with `Refused` when the versions differ."""

    client: str
    address: str
    protocol_version: int
    pid: int


class Alive(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said every two seconds; ten seconds of silence are the client's death."""

    client: str


class Goodbye(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Detach: the client's open jobs are cancelled, nothing more is sent to it."""

    client: str


class TranscribeFile(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Transcribe a media file; told as the events of `job`.

    With `resume_at_sample` (16 kHz, from the file's start) only segments that start at or after it
    are told again.
    """

    client: str
    job: JobId
    path: str
    options: Options
    resume_at_sample: int | None = None


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Forget a job; answered by its `JobCancelled`, unless it ended before."""

    client: str
    job: JobId


class ProbeMedia(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask what is in a media file: `MediaProbed`, then the ending."""

    client: str
    job: JobId
    path: str


class ListModels(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask for every model known or installed: `ModelList`, then the ending."""

    client: str
    job: JobId


class DownloadModel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Fetch a catalogue model: `Progress` in bytes, then the ending. May be cancelled; resumes."""

    client: str
    job: JobId
    model: str


class VerifyModel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Check every file of an installed model against its hash: done, or failed with what is wrong."""

    client: str
    job: JobId
    model: str


class RemoveModel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Delete a downloaded catalogue model from our model folder (never a folder of the user's)."""

    client: str
    job: JobId
    model: str


class Diagnose(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask for versions, devices and paths: `Diagnosis`, then the ending."""

    client: str
    job: JobId


JobRequest = TranscribeFile | ProbeMedia | ListModels | DownloadModel | VerifyModel | RemoveModel | Diagnose
Request = Hello | Alive | Goodbye | Cancel | JobRequest
