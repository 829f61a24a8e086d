"""What was said and when: the vocabulary of results and options. Times are seconds everywhere."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec


class Task(StrEnum):
    """What to write: the words as spoken, or their English translation."""

    TRANSCRIBE = "transcribe"
    TRANSLATE = "translate"


class Mode(StrEnum):
    """How much is done to find what was said."""

    FAST = "fast"
    """One text, which goes on with what is likeliest."""
    BEST = "best"
    """Several texts side by side, of which the likeliest as a whole is kept: fewer errors, more time."""


class TimeSource(StrEnum):
    """Where a time comes from, the surest first; kept so that nobody takes a guess for a measurement."""

    ALIGNED = "aligned"
    """By a network that was given the words and looked for nothing but their places."""
    MODEL = "model"
    """By the recogniser itself: its timestamps, or where its attention lay."""
    VAD = "vad"
    """Where a stretch of sound begins or ends that the text was given to."""
    INTERPOLATED = "interpolated"
    """Put between times that are known, or moved to where there was room."""

    @property
    def is_measured(self) -> bool:
        """A model that knew the text looked for this time."""
        return self in (TimeSource.ALIGNED, TimeSource.MODEL)


_USABLE_MEMORY: Final = 0.9
"""Of a machine's memory; the rest is the system's."""
RESOLUTION_S: Final = 0.021
"""No model here tells times apart that are closer (Whisper's attention: 20 ms); rounding included."""
_SURENESS: Final = {source: place for place, source in enumerate(TimeSource)}


def least_sure(sources: Iterable[TimeSource]) -> TimeSource:
    """Return the one that a time made of several comes from; there is at least one."""
    return max(sources, key=_SURENESS.__getitem__)


def after_move(source: TimeSource, old: tuple[float, float], new: tuple[float, float]) -> TimeSource:
    """Return where a span comes from that was `old` by `source` and had to become `new`."""
    distance_s = max(abs(old[0] - new[0]), abs(old[1] - new[1]))
    return source if distance_s <= RESOLUTION_S else TimeSource.INTERPOLATED


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One word with its punctuation and its leading space, if the script has one.

    `start < end` always; words of a segment do not overlap.
    """

    text: str
    start: float
    end: float
    probability: float
    time_source: TimeSource = TimeSource.MODEL
    """Of the less sure of its two times."""


class TokenLogprob(msgspec.Struct, frozen=True, array_like=True):
    """What one token of a text is made of, and how sure the model was of it."""

    piece: bytes
    """Its UTF-8; a character may be spread over several tokens."""
    logprob: float


class Segment(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of speech with its text as the model wrote it, leading space included.

    The texts of a job's segments joined are exactly its confirmed text. Segments of a job are in
    time order and do not overlap: `start <= end <= next.start`.
    """

    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()
    tokens: tuple[int, ...] = ()
    time_source: TimeSource = TimeSource.MODEL
    """Of the less sure of its two times."""
    temperature: float = 0.0
    avg_logprob: float = 0.0
    compression_ratio: float = 0.0
    no_speech_prob: float = 0.0
    is_suspect: bool = False
    """True when the guards still objected after the last attempt (a loop, very unlikely text)."""
    seek: int = 0
    """Where the chunk it was heard in begins, in hundredths of a second. (Whisper's frames)"""
    token_logprobs: tuple[TokenLogprob, ...] = ()
    """One for each of `tokens`, where `Options.token_logprobs` asked for them."""


class VadSettings(msgspec.Struct, frozen=True, kw_only=True):
    """When the voice detector calls a sound speech, and a pause a pause."""

    threshold: float = 0.5
    """Speech begins at this probability."""
    padding_s: float = 0.4
    """Kept around speech: soft consonants lie outside of what is called speech."""
    silence_s: float = 0.064
    """So long a silence is a place to cut at."""


DEFAULT_VAD: Final = VadSettings()


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """What the user chose for one job."""

    model: str = "whisper-base"
    """A catalogue key, or the absolute path of a checkpoint folder."""
    mode: Mode = Mode.FAST
    language: str | None = None
    """ISO 639-1 code as the model lists it; None = detect."""
    task: Task = Task.TRANSCRIBE
    word_timestamps: bool = False
    initial_prompt: str | None = None
    hotwords: str | None = None
    audio_track: int | None = None
    """Index among the audio streams; None = the one that carries the sound."""
    temperatures: tuple[float, ...] = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """Tried in order until the guards are content; a single 0.0 turns fallback off."""
    vad: bool = True
    live_chunk_s: float | None = None
    """Live, for models that hear speech in chunks: new speech that is worth a decoding, 0.5 or more."""
    vad_settings: VadSettings = DEFAULT_VAD
    token_logprobs: bool = False
    """Files: tell how sure the model was of each token."""
    confirms_tokens: bool = False
    """Files: text is confirmed while it is generated. Each part is accepted as it first comes, whatever the
    guards say, and where speech never pauses it is cut without an overlap."""


class AudioTrack(msgspec.Struct, frozen=True, kw_only=True):
    """One audio stream of a media file."""

    index: int
    codec: str
    channels: int
    sample_rate_hz: int
    language: str | None = None
    title: str | None = None


class MediaInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What a media file says about itself; `duration` is None where only reading to the end tells."""

    duration: float | None
    tracks: tuple[AudioTrack, ...]
    start_offset: float = 0.0
    """Seconds by which the track starts after the container's zero; already added to all times."""


class ModelPhase(StrEnum):
    """Whether a model is on disk."""

    MISSING = "missing"
    PARTIAL = "partial"
    INSTALLED = "installed"


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the model list."""

    key: str
    name: str
    family: str
    size_bytes: int
    """Of the download."""
    languages: tuple[str, ...]
    can_translate: bool
    phase: ModelPhase
    folder: str | None = None
    note: str = ""
    """One sentence for choosing: speed, quality, languages."""
    is_runnable: bool = True
    """False where no job can be decoded with it."""
    memory_bytes: int | None = None
    """What it needs at most, which is while it is loaded."""
    companion_of: str | None = None
    """The family whose models it helps when it is there; it recognises nothing by itself."""
    is_removable: bool = True
    """False where it is part of the program."""

    def is_too_large(self, machine_bytes: int | None) -> bool:
        """Say whether a machine with so much memory cannot hold it beside what else runs there."""
        if self.memory_bytes is None or machine_bytes is None:
            return False
        return self.memory_bytes > _USABLE_MEMORY * machine_bytes


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A whole result, ready to be exported."""

    segments: tuple[Segment, ...]
    language: str | None = None
    language_probability: float | None = None
    duration: float | None = None
    model: str = ""
    task: Task = Task.TRANSCRIBE
    source: str = ""
    """File name of the recording, without its folder."""
