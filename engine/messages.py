"""What the engine's own processes say to one another; one tagged union per inbox."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import msgspec

from engine.protocol.failures import Failure
from engine.protocol.requests import JobId, Request
from engine.protocol.stats import ModelWork
from engine.protocol.transcript import MediaInfo, Mode, Segment, Task, TimeSource

Spans = tuple[tuple[float, float], ...]
"""Stretches [start, end) in seconds, in order and apart."""

SAMPLE_RATE_HZ = 16_000
"""Of every block and chunk behind the media reader; all sample counts are at this rate."""
BYTES_PER_SECOND = 4 * SAMPLE_RATE_HZ
"""Of their float32 samples."""


def seconds_of(spans: Sequence[tuple[int, int]], start: int) -> Spans:
    """Return stretches of samples in seconds from sample `start` on."""
    return tuple(((begin - start) / SAMPLE_RATE_HZ, (end - start) / SAMPLE_RATE_HZ) for begin, end in spans)


class RequestKey(msgspec.Struct, frozen=True, array_like=True):
    """One decoding of one chunk. A new attempt starts at token 0 and replaces the tail of the old."""

    job: JobId
    chunk: int
    attempt: int = 0


class ChunkKind(StrEnum):
    """Who waits for the answer; also the order of admission."""

    CLOSING = "closing"
    INTERIM = "interim"
    FILE = "file"


class DecodingOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a chunk is to be decoded; chunks with equal options can be detokenised together."""

    language: str | None = None
    task: Task = Task.TRANSCRIBE
    mode: Mode = Mode.FAST
    initial_prompt: str | None = None
    hotwords: str | None = None
    word_timestamps: bool = False
    temperatures: tuple[float, ...] = (0.0,)
    accepts_first: bool = False
    """What was generated is the answer, whatever the guards say: it has been read already."""
    token_logprobs: bool = False
    """Segments say how sure the model was of each token."""
    skip_special_tokens: bool = True
    keep_stop: bool = False
    """Leave the matched stop token or stop string in the text."""
    stop_strings: tuple[str, ...] = ()


class Chunk(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One contiguous range of samples to decode, with everything needed to answer it."""

    key: RequestKey
    kind: ChunkKind
    start_sample: int
    """Of the recording, from its very first sample."""
    pcm: bytes
    """Mono float32 little-endian at `SAMPLE_RATE_HZ`."""
    speech: Spans = ()
    """Where in the chunk speech was heard; empty where nobody listened for it."""
    options: DecodingOptions
    prefix_ids: tuple[int, ...] = ()
    """Live: what is confirmed of this audio already; the answer goes on behind it."""
    draft_ids: tuple[int, ...] = ()
    """Live: what was last heard behind the prefix; checked in one pass, so only changes cost steps."""

    @property
    def num_samples(self) -> int:
        return len(self.pcm) // 4


class Finish(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """No chunk of `job` follows; goes manager → scheduler → detokenizer → manager."""

    job: JobId
    num_chunks: int


class Abort(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Drop what waits and runs of `job`; takes the chunks' way and so is the job's last word."""

    job: JobId


class FreezeGC(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Move everything allocated so far out of the garbage collector's sight (after warm-up)."""


class Tick(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Wakes a loop that waits for messages; said by a thread of its own process."""


class FinishReason(StrEnum):
    """Why a decoding ended."""

    STOP = "stop"
    LENGTH = "length"
    LOOP = "loop"
    SILENCE = "silence"


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What is known when an attempt was accepted."""

    reason: FinishReason
    temperature: float
    avg_logprob: float
    no_speech_prob: float
    compression_ratio: float
    num_samples: int
    """Of the chunk: the end of the last segment where the model gave none."""
    token_times: tuple[tuple[float, float], ...] = ()
    """Seconds within the chunk, per id; empty when word times were not asked for."""
    times_source: TimeSource = TimeSource.MODEL
    """Where `token_times` come from, all but those of `guessed`."""
    guessed: tuple[int, ...] = ()
    """Which of the ids have interpolated times, in order."""
    speech: Spans = ()
    """Where in the chunk speech was heard, as the chunk said."""
    is_suspect: bool = False
    num_steps: int = 0
    """Passes of the decoder that were needed, the first included; 0 where nobody counted."""
    num_drafted: int = 0
    """Ids of the draft that proved right: steps that were saved."""
    num_windows: int = 0
    """Stretches of audio that had to be heard for this; 0 where nobody counted …"""
    num_windows_known: int = 0
    """… and those of them that were still in a cache."""


class TokenIDs(msgspec.Struct, frozen=True, kw_only=True):
    """New ids of one request. `first_index` is the position of `ids[0]` within the attempt."""

    key: RequestKey
    first_index: int
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    attended_s: tuple[float, ...] = ()
    """Where each id's attention lies in the audio, seconds within the chunk; may be empty."""
    prefix_ids: tuple[int, ...] = ()
    """Forced ids in front of the first: decoded in context, never sent. Only with `first_index` 0."""
    language: str | None = None
    language_probability: float | None = None
    options: DecodingOptions
    finished: Finished | None = None


class BatchTokenIDOutput(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """One scheduler turn's new tokens."""

    model: str
    """The loaded model's key (its folder): says which text to decode with."""
    outputs: tuple[TokenIDs, ...]


class StrOutput(msgspec.Struct, frozen=True, kw_only=True):
    """New text of one request; deltas of an attempt joined are its whole text."""

    key: RequestKey
    delta: str
    is_first: bool = False
    """The request's text begins anew: what was told of it before is void, whichever attempt it was."""
    ids: tuple[int, ...] = ()
    pieces: tuple[bytes, ...] = ()
    """The UTF-8 bytes of each id."""
    logprobs: tuple[float, ...] = ()
    attended_s: tuple[float, ...] = ()
    language: str | None = None
    language_probability: float | None = None
    segments: tuple[Segment, ...] = ()
    """Only with `finished`; times are seconds within the chunk."""
    finished: Finished | None = None


class BatchStrOutput(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The answer to a `BatchTokenIDOutput`, in its order."""

    outputs: tuple[StrOutput, ...]


class BatchEmbeddingOutput(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Vectors that pass the detokenizer untouched; `data` is float32 little-endian, row per key."""

    keys: tuple[RequestKey, ...]
    width: int
    data: bytes


class EndedReason(StrEnum):
    """Why a request is answered without text."""

    SUPERSEDED = "superseded"
    FAILED = "failed"
    LOST_STATE = "lost_state"


class Ended(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The answer to a request that yields no text."""

    key: RequestKey
    reason: EndedReason
    failure: Failure | None = None


class LoadText(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Tell the detokenizer how to read a model's ids, before its first batch."""

    model: str
    family: str
    folder: str


class ConnectDetokenizer(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Send output to this address from now on (a restarted detokenizer has a new one)."""

    address: str


class PresentKey(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Present this key to the server from the next request on; empty: none. Only to a remote loop."""

    key: str

    def __repr__(self) -> str:
        return "PresentKey(key=…)"


class WorkerReady(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A child has loaded what it needs and drains its inbox."""

    worker: str
    """The worker's name with its generation, unique for ever: `scheduler-3`."""
    device: str = ""
    slots: int = 0


class WorkerFailed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A child cannot start, and says why before it ends."""

    worker: str
    failure: Failure


class WorkerDied(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by the watcher thread: a child has ended. `detail` holds its last words on stderr."""

    worker: str
    exit_code: int
    detail: str


class WorkerHangs(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a child's watchdog thread: its loop has been in one turn for too long."""

    worker: str
    seconds: float


class Stats(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A scheduler's state, said about once a second while it works, and when it has nothing more to do."""

    worker: str
    num_waiting: int
    num_running: int
    num_slots: int
    tokens_per_s: float
    """While it was busy, in the last ten times this was said; as is the next."""
    real_time_factor: float
    work: ModelWork


class MediaOpened(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a media thread: the file could be opened."""

    job: JobId
    info: MediaInfo


class MediaChunk(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a media thread, one per credit: a range of samples with speech in it."""

    job: JobId
    index: int
    """Counts the chunks of the file from 0, skipped ones of a resumed job included."""
    start_sample: int
    overlap_samples: int
    """How much of the start was already in the chunk before; > 0 only after a forced cut."""
    next_overlap_samples: int = 0
    """How much of the end is also in the chunk that follows; > 0 only before a forced cut."""
    pcm: bytes
    speech_samples: int
    speech: Spans = ()
    """Where in it the speech is, seconds from its start; empty where nobody listened for it."""


class NothingUntil(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a media thread, one per credit: no new chunk yet, but everything before `sample` is known."""

    job: JobId
    sample: int


class MediaTrouble(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a media thread: something was skipped, the reading goes on."""

    job: JobId
    failure: Failure


class MediaEnd(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a media thread: the file was read to its end."""

    job: JobId
    num_chunks: int
    num_samples: int


class MediaFailed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a media thread: the file cannot be read (on)."""

    job: JobId
    failure: Failure


class DownloadProgress(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a model thread."""

    job: JobId
    done_bytes: int
    total_bytes: int


class ModelJobEnded(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a model thread: a download, verification or removal is over."""

    job: JobId
    failure: Failure | None = None
    is_cancelled: bool = False


class ServerModels(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Said by a thread that asked a server elsewhere for its models: their names, or why not."""

    job: JobId
    server: str
    names: tuple[str, ...] = ()
    failure: Failure | None = None


ThreadMessage = (
    MediaOpened
    | MediaChunk
    | NothingUntil
    | MediaTrouble
    | MediaEnd
    | MediaFailed
    | DownloadProgress
    | ModelJobEnded
    | ServerModels
    | WorkerDied
)
SchedulerMessage = Chunk | Finish | Abort | FreezeGC | ConnectDetokenizer
RemoteMessage = Chunk | Finish | Abort | FreezeGC | PresentKey | BatchStrOutput | Ended
"""The last two come from the loop's own helper thread."""
DetokenizerMessage = BatchTokenIDOutput | BatchEmbeddingOutput | Finish | Abort | Ended | FreezeGC | LoadText
ManagerMessage = (
    Request
    | BatchStrOutput
    | BatchEmbeddingOutput
    | Ended
    | Finish
    | Abort
    | WorkerReady
    | WorkerFailed
    | WorkerHangs
    | Stats
    | ThreadMessage
)
