"""What a client may ask of the engine."""

from __future__ import annotations

import msgspec

from engine.protocol.transcript import Options, VadSettings

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


class Listen(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Open a live session: what is fed to it is told as the events of `job` while it is spoken.

    Samples are counted from the start of the recording at 16 kHz; a session that takes over from an
    engine that died begins at `start_sample`, the end of the last confirmed segment.
    """

    client: str
    job: JobId
    options: Options
    start_sample: int = 0
    turns: VadSettings | None = None
    """Tell where speech begins and ends by these settings, and treat each end as a `Flush` up to there."""


class Feed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Audio of a live session, in order; mono float32 little-endian at 16 kHz.

    What was received before is ignored; what is missing is taken for silence and told as `Gap`.
    """

    client: str
    job: JobId
    first_sample: int
    pcm: bytes


class Flush(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Pause: decode and confirm everything fed so far, and stay open; told by `Flushed` when it is done."""

    client: str
    job: JobId
    at_sample: int | None = None
    """Only what was said before this sample; None: everything."""


class CloseStream(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Decode and confirm everything fed so far; `JobDone` follows."""

    client: str
    job: JobId


class SetOptions(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Change what a live session does from here on; `language` None means: find out anew."""

    client: str
    job: JobId
    language: str | None = None


class Cancel(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Forget a job; answered by its `JobCancelled`, unless it ended before."""

    client: str
    job: JobId


class ProbeMedia(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask what is in a media file: `MediaProbed`, then the ending."""

    client: str
    job: JobId
    path: str


class UseKey(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Present this key to a server elsewhere from now on; kept in memory only. Not answered."""

    client: str
    server: str
    """`Elsewhere.server`."""
    key: str
    """Empty: none."""

    def __repr__(self) -> str:
        return f"UseKey(server={self.server!r}, key=…)"


class ListModels(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask for every model known or installed: `ModelList`, then the ending."""

    client: str
    job: JobId
    server: str = ""
    """List the models of this server elsewhere instead; their keys are ready for `Options.model`."""


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


class Measure(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Ask how much there is to do and how fast it goes: `EngineStats`, then the ending."""

    client: str
    job: JobId


JobRequest = (
    TranscribeFile
    | Listen
    | ProbeMedia
    | ListModels
    | DownloadModel
    | VerifyModel
    | RemoveModel
    | Diagnose
    | Measure
)
StreamRequest = Feed | Flush | CloseStream | SetOptions
"""What is said to an open live session."""
Request = Hello | Alive | Goodbye | Cancel | UseKey | JobRequest | StreamRequest
