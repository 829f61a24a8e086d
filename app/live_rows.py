"""The library's rows of recordings that grow: filled while they do, and taken up again after a crash."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from app.capture.mending import mend
from app.capture.notices import Mark
from app.changes import ChangeKind, DeskChange
from app.file_identity import identity_of
from app.library import RowKind, RowState
from app.shelf import Shelf
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options, Segment
from engine.recording import rate_of


class LiveRows:
    """What a live session stores, as it comes. On the desk's thread; `begin` excepted, nothing raises."""

    def __init__(self, shelf: Shelf, go_on: Callable[[], None]) -> None:
        """`go_on` has the desk begin what is queued."""
        self._shelf = shelf
        self._go_on = go_on

    def begin(self, path: Path, options: Options) -> int:
        """Add the row of a recording that begins. Raises FailureError."""
        recording = self._shelf.library.add(str(path), options, kind=RowKind.LIVE, state=RowState.RECORDING)
        self._shelf.put(recording, ChangeKind.ADDED)
        return recording.id

    def set_model(self, recording_id: int, model: str) -> None:
        """Store what the engine decodes with."""
        self._shelf.change(recording_id, model=model)

    def set_language(self, recording_id: int, language: str, probability: float) -> None:
        """Store the language that is spoken."""
        self._shelf.change(recording_id, language=language, language_probability=probability)

    def store(self, recording_id: int, segment: Segment) -> None:
        """Append a confirmed segment."""
        stored = self._shelf.library.add_segment(recording_id, segment)
        self._shelf.note(recording_id, stored_until=segment.end)
        self._shelf.emit(DeskChange(kind=ChangeKind.SEGMENT, recording_id=recording_id, segment=stored))

    def keep_unfinished(self, recording_id: int, segment: Segment | None) -> None:
        """Keep confirmed text whose segment has not ended."""
        self._shelf.library.live.keep_unfinished(recording_id, segment)

    def show_tail(self, recording_id: int, text: str) -> None:
        """Tell what follows the stored segments for now."""
        self._shelf.emit(DeskChange(kind=ChangeKind.TAIL, recording_id=recording_id, text=text))

    def add_marks(self, recording_id: int, marks: Iterable[Mark]) -> None:
        """Store marked places."""
        self._shelf.library.live.add_marks(recording_id, marks)

    def set_duration(self, recording_id: int, duration_s: float) -> None:
        """Know how long it is by now; stored with the next change."""
        self._shelf.note(recording_id, duration=duration_s)

    def end(self, recording_id: int, *, is_complete: bool) -> None:
        """The recording has ended; if its transcript is not complete, the queue does the rest."""
        row = self._shelf[recording_id]
        size, modified = identity_of(row.path)
        state = RowState.DONE if is_complete else RowState.QUEUED
        ended_at = time.time() if is_complete else None
        self._shelf.change(
            recording_id, state=state, ended_at=ended_at, file_size=size, file_mtime_ns=modified
        )
        self._shelf.tell(ChangeKind.QUEUE)
        if not is_complete:
            self._go_on()


def recover(shelf: Shelf) -> list[int]:
    """Queue the recordings that were cut off, all they have kept; return their ids.

    Their files are made whole, and confirmed text that was in no segment becomes one.
    """
    cut_off = [row for row in shelf.ordered() if row.state is RowState.RECORDING]
    for row in cut_off:
        unfinished = shelf.library.live.unfinished(row.id)
        if unfinished is not None:
            shelf.library.add_segment(row.id, unfinished)
            shelf.library.live.keep_unfinished(row.id, None)
            shelf.note(row.id, stored_until=unfinished.end)
        path = Path(row.path)
        try:
            num_samples, rate_hz = mend(path), rate_of(path) or 1
        except OSError:
            # It may be on a disk that is away; the queue says so, and can be asked again.
            shelf.change(row.id, state=RowState.QUEUED)
            continue
        size, modified = identity_of(row.path)
        fields = {"duration": num_samples / rate_hz, "file_size": size, "file_mtime_ns": modified}
        if num_samples:
            shelf.change(row.id, state=RowState.QUEUED, **fields)
        else:
            reason = failure(FailureKind.EMPTY_AUDIO, row.name)
            shelf.change(row.id, state=RowState.FAILED, failure=reason, ended_at=time.time(), **fields)
    return [row.id for row in cut_off]
