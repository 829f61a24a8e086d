"""What the desk asks of the engine, and what it tells those who watch it."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

import msgspec

from app.intake import Refusal
from app.library_rows import Recording, StoredSegment
from engine.protocol.failures import Failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options


class EnginePort(Protocol):
    """What the desk asks of the engine (`app.engine_link.EngineLink`; a fake in tests)."""

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        """Ask for a transcript; its events come to `Desk.on_events`."""
        ...

    def cancel(self, job: JobId) -> None:
        """Ask for a job's end."""
        ...

    def restart(self) -> None:
        """Start the engine again after it was given up; its `Welcome` says when it is there."""
        ...


class ChangeKind(StrEnum):
    """What a view may have to redraw."""

    ADDED = "added"
    """A row is new (or restored)."""
    REMOVED = "removed"
    ROW = "row"
    """A row's state, language, duration, failure, path or options."""
    ORDER = "order"
    PROGRESS = "progress"
    """`Desk.row(id)` has a new fraction or remaining time."""
    SEGMENT = "segment"
    """`segment` was appended to the row's transcript; a new `TAIL` follows."""
    TAIL = "tail"
    """`text` is the row's new tail."""
    CLEARED = "cleared"
    """The row's transcript was forgotten: it is made anew."""
    EDITED = "edited"
    """`segment` has a corrected text."""
    WARNING = "warning"
    """`failure` says what is not as it should be; the row goes on."""
    QUEUE = "queue"
    """The queue was paused or resumed, or the number of open rows changed."""
    TROUBLE = "trouble"
    """`failure` concerns no single row: the library cannot be written, the engine cannot be started."""


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


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What became of dropped files."""

    recording_ids: tuple[int, ...] = ()
    refused: tuple[Refusal, ...] = ()
    repeated: tuple[str, ...] = ()
    """Files that are in the library already: ask, then add them again with `allow_repeats`."""


Observer = Callable[[DeskChange], None]
