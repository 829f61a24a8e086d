"""What the library hands out: recordings, stored segments and search hits."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from engine.protocol.failures import Failure
from engine.protocol.transcript import Options, TimeSource, Word

SAMPLE_RATE_HZ: Final = 16_000
"""In which the engine counts where to resume."""


class RowKind(StrEnum):
    """Where a recording comes from; stored."""

    FILE = "file"
    LIVE = "live"
    """We recorded it ourselves."""


class RowState(StrEnum):
    """Where a recording is on its way; stored."""

    RECORDING = "recording"
    """It grows, and its live captions are stored as they are confirmed."""
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the library."""

    id: int
    path: str
    name: str
    kind: RowKind = RowKind.FILE
    state: RowState
    position: int
    """Order in the list and in the queue, unique among the rows."""
    options: Options
    model: str | None = None
    """What the engine said it decodes with."""
    language: str | None = None
    language_probability: float | None = None
    duration: float | None = None
    """Seconds of audio, once known."""
    stored_until: float = 0.0
    """End of the last stored segment, seconds."""
    added_at: float
    """Unix time."""
    ended_at: float | None = None
    failure: Failure | None = None
    file_size: int | None = None
    """Bytes, when it was last read from the start."""
    file_mtime_ns: int | None = None
    deaths: int = 0
    """How often the engine died on it since the last stored segment."""
    starts_over: bool = False
    """What is stored gives way as soon as the next job has something to store."""

    @property
    def progress(self) -> float:
        """The stored part, 0 to 1; 1 only when done."""
        if self.state is RowState.DONE:
            return 1.0
        if not self.duration:
            return 0.0
        return min(self.stored_until / self.duration, 0.99)

    @property
    def resume_at_sample(self) -> int | None:
        """Where the next job goes on, from the file's start; None = from the start."""
        if self.starts_over or self.stored_until <= 0.0:
            return None
        return round(self.stored_until * SAMPLE_RATE_HZ)


class StoredSegment(msgspec.Struct, frozen=True, kw_only=True):
    """A segment as the library keeps it; `text` is the corrected text where there is one."""

    id: int
    recording_id: int
    index: int
    start: float
    end: float
    text: str
    words: tuple[Word, ...] = ()
    is_edited: bool = False
    is_suspect: bool = False
    time_source: TimeSource = TimeSource.MODEL


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A segment that holds what was searched for. `snippet[a:b]` for each range is a match."""

    recording_id: int
    segment_id: int
    name: str
    start: float
    snippet: str
    matches: tuple[tuple[int, int], ...]
