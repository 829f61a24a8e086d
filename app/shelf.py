"""The library's rows in memory: every change is stored, then told; trouble with the disk is told once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from app.changes import ChangeKind, DeskChange, Observer
from app.library import Library, Recording
from engine.protocol.failures import Failure, FailureError


class Shelf:
    """Rows by id, as they are now. Single-threaded.

    `change` never raises: a row that cannot be stored is right in memory, kept for `settle`, and
    the first such row is told as `TROUBLE`.
    """

    def __init__(self, library: Library) -> None:
        self.library = library
        self._rows = {row.id: row for row in library.recordings()}
        self._observers: list[Observer] = []
        self._unstored: set[int] = set()
        self._trouble: Failure | None = None

    @property
    def trouble(self) -> Failure | None:
        """Why something waits to be stored; None when all is."""
        return self._trouble or self.library.trouble

    def ordered(self) -> list[Recording]:
        """All rows by position."""
        return sorted(self._rows.values(), key=lambda row: row.position)

    def of_file(self, path: str) -> list[Recording]:
        """All rows of one file, oldest first."""
        rows = [row for row in self._rows.values() if row.path == path]
        return sorted(rows, key=lambda row: row.id)

    def get(self, recording_id: int) -> Recording | None:
        """One row; None once it is removed."""
        return self._rows.get(recording_id)

    def __getitem__(self, recording_id: int) -> Recording:
        return self._rows[recording_id]

    def __contains__(self, recording_id: int) -> bool:
        return recording_id in self._rows

    def put(self, recording: Recording, kind: ChangeKind) -> None:
        """Take in a row that is stored already."""
        self._rows[recording.id] = recording
        self.tell(kind, recording.id)

    def drop(self, recording_id: int) -> None:
        """Take out a row that is hidden already."""
        del self._rows[recording_id]
        self.tell(ChangeKind.REMOVED, recording_id)

    def order(self, recording_ids: list[int]) -> None:
        """Bring all rows into this order. Raises FailureError."""
        self.library.reorder(recording_ids)
        places = sorted(row.position for row in self._rows.values())
        for recording_id, place in zip(recording_ids, places, strict=True):
            self._rows[recording_id] = msgspec.structs.replace(self._rows[recording_id], position=place)
        self.tell(ChangeKind.ORDER)

    def change(self, recording_id: int, **fields: Any) -> None:
        """Set fields of a row, store it, and tell it as `ROW`."""
        changed = msgspec.structs.replace(self._rows[recording_id], **fields)
        self._rows[recording_id] = changed
        try:
            self.library.update(changed)
        except FailureError as error:
            self._unstored.add(recording_id)
            self.report(error.failure)
        self.tell(ChangeKind.ROW, recording_id)

    def note(self, recording_id: int, **fields: Any) -> None:
        """Set fields that the library knows by itself, or that the next change stores."""
        self._rows[recording_id] = msgspec.structs.replace(self._rows[recording_id], **fields)

    def settle(self) -> None:
        """Store what could not be stored before. Raises FailureError while that is still so."""
        self.library.flush()
        for recording_id in list(self._unstored):
            if recording_id in self._rows:
                self.library.update(self._rows[recording_id])
            self._unstored.discard(recording_id)
        self._trouble = None

    def report(self, failure: Failure) -> None:
        """Tell trouble with the library, once until it is settled."""
        if self._trouble is None:
            self._trouble = failure
            self.emit(DeskChange(kind=ChangeKind.TROUBLE, failure=failure))

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell `observer` every change from now on; the result ends that."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def tell(self, kind: ChangeKind, recording_id: int | None = None) -> None:
        """Tell a change that has nothing to add."""
        self.emit(DeskChange(kind=kind, recording_id=recording_id))

    def emit(self, change: DeskChange) -> None:
        """Tell a change to everybody who watches now."""
        for observer in tuple(self._observers):
            observer(change)


def present(shelf: Shelf, recording_ids: Iterable[int]) -> list[int]:
    """Return those ids that are on the shelf, each once, in their order."""
    return [i for i in dict.fromkeys(recording_ids) if i in shelf]
