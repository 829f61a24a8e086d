"""What the desk tells those who watch it, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import msgspec

from app.intake import Refusal
from app.library_rows import Recording, StoredSegment
from engine.protocol.failures import Failure


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
