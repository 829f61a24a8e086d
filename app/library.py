"""Recordings, the queue's rows and every transcript, in one SQLite database; the only file with SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from engine.protocol.failures import Failure
from engine.protocol.transcript import Options, Segment, Transcript, Word


class RowState(StrEnum):
    """Where a recording is on its way; stored."""

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


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A segment that holds what was searched for. `snippet[a:b]` for each range is a match."""

    recording_id: int
    segment_id: int
    name: str
    start: float
    snippet: str
    matches: tuple[tuple[int, int], ...]


class Library:
    """The database: one writer thread, reads from any thread.

    Every writing method returns when its change is committed, except `add_segment`, which queues
    (a segment is written within milliseconds, and always before any later change). Reads see all
    changes made before them. What cannot be written is kept in memory, told by `trouble`, raised
    as FailureError (disk_full, not_readable) by the next writing method, and tried again by each.
    """

    def __init__(self, path: Path) -> None:
        """Open or create; raises FailureError (not_readable, disk_full)."""
        raise NotImplementedError

    @property
    def set_aside(self) -> Path | None:
        """Where a damaged (or newer) database was moved when this one was opened; tell the user."""
        raise NotImplementedError

    @property
    def trouble(self) -> Failure | None:
        """Why segments wait to be written; None when all are."""
        raise NotImplementedError

    def add(self, path: str, options: Options) -> Recording:
        """Append a queued row."""
        raise NotImplementedError

    def recordings(self) -> list[Recording]:
        """All rows that are not removed, by position."""
        raise NotImplementedError

    def recording(self, recording_id: int) -> Recording | None:
        """The row, also when removed; None once it is purged."""
        raise NotImplementedError

    def find_same(self, path: str) -> Recording | None:
        """The newest row (not removed) of the same file."""
        raise NotImplementedError

    def update(self, recording: Recording) -> None:
        """Store every field of a row except `position` and `stored_until`."""
        raise NotImplementedError

    def set_state(self, recording_id: int, state: RowState, failure: Failure | None = None) -> Recording:
        """Store a row's new state and return the row."""
        raise NotImplementedError

    def reorder(self, recording_ids: Sequence[int]) -> None:
        """Give these rows the places they hold together, in this order."""
        raise NotImplementedError

    def remove(self, recording_ids: Iterable[int]) -> None:
        """Hide rows; their files are never touched."""
        raise NotImplementedError

    def restore(self, recording_ids: Iterable[int]) -> None:
        """Undo `remove`."""
        raise NotImplementedError

    def add_segment(self, recording_id: int, segment: Segment) -> StoredSegment:
        """Append a segment to a row; returns at once."""
        raise NotImplementedError

    def clear_segments(self, recording_id: int) -> None:
        """Forget a row's transcript: it is made anew."""
        raise NotImplementedError

    def segments(self, recording_id: int) -> list[StoredSegment]:
        """A row's segments in time order."""
        raise NotImplementedError

    def edit_segment(self, segment_id: int, text: str) -> StoredSegment:
        """Correct a segment's text; the recognised text is kept."""
        raise NotImplementedError

    def recognised_text(self, segment_id: int) -> str:
        """What the model wrote, before any correction."""
        raise NotImplementedError

    def transcript(self, recording_id: int) -> Transcript:
        """A row's transcript with its corrections, ready to be exported."""
        raise NotImplementedError

    def search(self, query: str, limit: int = 200) -> list[SearchHit]:
        """Segments that hold every word of `query`, anywhere in a word, newest recording first."""
        raise NotImplementedError

    def flush(self) -> None:
        """Return when everything is committed; raises FailureError where it cannot be."""
        raise NotImplementedError

    def close(self) -> None:
        """Commit what waits and end the writer; idempotent."""
        raise NotImplementedError
