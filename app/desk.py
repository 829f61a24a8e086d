"""The queue: turns library rows into engine jobs, stores what comes back, and says what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import Protocol

import msgspec

from app.library import Library, Recording, StoredSegment
from engine.protocol.events import Event
from engine.protocol.failures import Failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options


class EnginePort(Protocol):
    """What the desk asks of the engine (`app.engine_link.EngineLink`; a fake in tests)."""

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId: ...

    def cancel(self, job: JobId) -> None: ...

    def restart(self) -> None:
        """Start the engine again after it was given up."""
        ...


class ChangeKind(StrEnum):
    """What a view may have to redraw."""

    ADDED = "added"
    """A row is new (or restored)."""
    REMOVED = "removed"
    ROW = "row"
    """A row's state, language, duration, failure or options."""
    ORDER = "order"
    PROGRESS = "progress"
    """`Desk.row(id)` has a new fraction or remaining time."""
    SEGMENT = "segment"
    """`segment` was appended to the row's transcript; the tail is empty again."""
    TAIL = "tail"
    """`text` is the row's new tail."""
    CLEARED = "cleared"
    """The row's transcript was forgotten: it is made anew."""
    WARNING = "warning"
    """`failure` says what is not as it should be; the row goes on."""
    QUEUE = "queue"
    """The queue was paused or resumed, or the number of running rows changed."""
    TROUBLE = "trouble"
    """`failure` concerns no row: the library cannot be written, the engine cannot be started."""


class DeskChange(msgspec.Struct, frozen=True, kw_only=True):
    """One change, told to every observer on the desk's thread."""

    kind: ChangeKind
    recording_id: int | None = None
    segment: StoredSegment | None = None
    text: str = ""
    failure: Failure | None = None


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A recording with what is only known while it runs."""

    recording: Recording
    fraction: float | None = None
    """0 to 1; 1 only when done, that is after the library's commit; None while unknown."""
    remaining_s: float | None = None
    tail: str = ""


class Refusal(msgspec.Struct, frozen=True):
    """A path that was not added, and why."""

    path: str
    failure: Failure


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What became of dropped files."""

    recording_ids: tuple[int, ...] = ()
    refused: tuple[Refusal, ...] = ()
    repeated: tuple[str, ...] = ()
    """Files that are in the library already: ask, then add them again with `allow_repeats`."""


Observer = Callable[[DeskChange], None]


class Desk:
    """The rows and their jobs. Called from one thread only (the window's, or a test's)."""

    def __init__(self, library: Library, engine: EnginePort, *, max_running: int = 2) -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Take up what the last run of the app left: interrupted rows are queued again, in their order."""
        raise NotImplementedError

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell `observer` every change from now on; the result ends that."""
        raise NotImplementedError

    @property
    def is_paused(self) -> bool:
        """True while no queued row is begun; running ones go on."""
        raise NotImplementedError

    @property
    def num_running(self) -> int:
        """Rows the engine works on now."""
        raise NotImplementedError

    @property
    def num_open(self) -> int:
        """Rows that run or wait."""
        raise NotImplementedError

    def rows(self) -> list[Row]:
        """All rows by position."""
        raise NotImplementedError

    def row(self, recording_id: int) -> Row | None:
        """One row; None once it is removed."""
        raise NotImplementedError

    def add(self, paths: Iterable[str], options: Options, *, allow_repeats: bool = False) -> Added:
        """Queue files; folders are searched for media. Says what was refused and what is there already."""
        raise NotImplementedError

    def pause(self) -> None:
        """Begin no further row."""
        raise NotImplementedError

    def resume(self) -> None:
        """Begin rows again."""
        raise NotImplementedError

    def cancel(self, recording_ids: Iterable[int]) -> None:
        """End these rows' work, running or waiting; what is stored stays."""
        raise NotImplementedError

    def retry(self, recording_id: int, options: Options | None = None) -> None:
        """Queue an ended row again: behind its last stored segment, or anew if done or with other options."""
        raise NotImplementedError

    def relocate(self, recording_id: int, path: str) -> None:
        """Say where a moved source is now; a row that failed for it is tried again."""
        raise NotImplementedError

    def move(self, recording_ids: Sequence[int], index: int) -> None:
        """Put these rows, in this order, in front of the row that is at `index` now."""
        raise NotImplementedError

    def remove(self, recording_ids: Iterable[int]) -> None:
        """Take rows out of the library (never their files), cancelling what runs."""
        raise NotImplementedError

    def restore(self, recording_ids: Iterable[int]) -> None:
        """Undo `remove`."""
        raise NotImplementedError

    def edit_segment(self, segment_id: int, text: str) -> StoredSegment:
        """Correct a segment's text, stored at once. Raises FailureError."""
        raise NotImplementedError

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in what the engine told, in order."""
        raise NotImplementedError

    def on_engine_given_up(self, failure: Failure) -> None:
        """The engine could not be kept alive: interrupted rows fail, the others wait for a retry."""
        raise NotImplementedError

    def stop(self) -> None:
        """The app ends: running rows stay marked for resuming, nothing is begun any more."""
        raise NotImplementedError
