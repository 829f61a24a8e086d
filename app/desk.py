"""The desk: what a person can do with the rows of the library, and what the engine's story does to them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from app.changes import Added, ChangeKind, DeskChange, Observer, Row
from app.intake import Refusal, take_in
from app.library import Library, Recording, RowState, StoredSegment
from app.live_rows import LiveRows, recover
from app.ports import EnginePort
from app.runs import Runs, is_same_size, modified_ns, needs_new_start
from app.shelf import Shelf, present
from engine.protocol.events import Event
from engine.protocol.failures import Failure, FailureError, FailureKind
from engine.protocol.transcript import Options

__all__ = ["Added", "ChangeKind", "Desk", "DeskChange", "EnginePort", "Observer", "Refusal", "Row"]

_OPEN: Final = frozenset({RowState.QUEUED, RowState.RUNNING})


class Desk:
    """The rows and their jobs. Called from one thread only (the window's, or a test's).

    What a person asks for raises FailureError where the library cannot store it; nothing has
    happened then. What the engine tells never raises: trouble with the library fails the running
    rows, pauses the queue and is told as `TROUBLE`.
    """

    def __init__(
        self, library: Library, engine: EnginePort, *, max_running: int = 2, is_paused: bool = False
    ) -> None:
        self._library = library
        self._shelf = Shelf(library)
        self._runs = Runs(self._shelf, engine, max_running=max_running)
        self._is_paused = is_paused
        self._is_stopped = False
        self._recovered: tuple[int, ...] = ()
        self.live = LiveRows(self._shelf, self._go_on)
        """The rows of recordings that grow, for who records."""

    def start(self) -> None:
        """Take up what the last run of the app left: interrupted rows are queued again, in their order.

        Recordings that were cut off are among them, see `recovered`.
        """
        self._recovered = tuple(recover(self._shelf))
        for row in self._shelf.ordered():
            if row.state is RowState.RUNNING:
                self._shelf.change(row.id, state=RowState.QUEUED)
        self._begin_next()

    def stop(self) -> None:
        """The app ends: running rows stay marked for resuming, nothing is begun or taken in any more."""
        self._is_stopped = True
        self._runs.stop()

    def observe(self, observer: Observer) -> Callable[[], None]:
        """Tell `observer` every change from now on; the result ends that."""
        return self._shelf.observe(observer)

    @property
    def is_paused(self) -> bool:
        """True while no queued row is begun; running ones go on."""
        return self._is_paused

    @property
    def recovered(self) -> tuple[int, ...]:
        """Recordings that the last run of the app was still making when it was killed; tell the user."""
        return self._recovered

    @property
    def num_running(self) -> int:
        """Rows the engine works on now."""
        return self._runs.num_running

    @property
    def num_open(self) -> int:
        """Rows that run or wait."""
        return sum(row.state in _OPEN for row in self._shelf.ordered())

    def rows(self) -> list[Row]:
        """All rows by position."""
        return [self._row(recording) for recording in self._shelf.ordered()]

    def row(self, recording_id: int) -> Row | None:
        """One row; None once it is removed."""
        recording = self._shelf.get(recording_id)
        return self._row(recording) if recording else None

    def add(self, paths: Iterable[str], options: Options, *, allow_repeats: bool = False) -> Added:
        """Queue files; folders are searched for media. Says what was refused and what is there already."""
        intake = take_in(paths)
        ids: list[int] = []
        refused = list(intake.refused)
        repeated: list[str] = []
        for path in intake.files:
            try:
                if not allow_repeats and self._library.find_same(path) is not None:
                    repeated.append(path)
                    continue
                recording = self._library.add(path, options)
            except FailureError as error:
                refused.append(Refusal(path, error.failure))
                continue
            ids.append(recording.id)
            self._shelf.put(recording, ChangeKind.ADDED)
        if ids:
            self._go_on()
        return Added(recording_ids=tuple(ids), refused=tuple(refused), repeated=tuple(repeated))

    def add_version(self, recording_id: int, options: Options) -> int:
        """Queue the same recording as another row right behind it; the transcript there is stays.

        Returns the new row's id. Raises FailureError.
        """
        row = self._shelf[recording_id]
        added = self._library.add(row.path, options)
        self._shelf.put(msgspec.structs.replace(added, duration=row.duration), ChangeKind.ADDED)
        order = [one.id for one in self._shelf.ordered()]
        self.move([added.id], order.index(recording_id) + 1)
        self._go_on()
        return added.id

    def versions(self, recording_id: int) -> list[Row]:
        """All rows of the same file, oldest first: the row itself, and what it was transcribed to else."""
        row = self._shelf.get(recording_id)
        if row is None:
            return []
        return [self._row(one) for one in self._shelf.of_file(row.path)]

    def pause(self) -> None:
        """Begin no further row."""
        self._is_paused = True
        self._shelf.tell(ChangeKind.QUEUE)

    def resume(self) -> None:
        """Begin rows again. Raises FailureError while the library cannot be written."""
        self._shelf.settle()
        self._is_paused = False
        self._go_on()

    def cancel(self, recording_ids: Iterable[int]) -> None:
        """End these rows' work, running or waiting; what is stored stays."""
        for recording_id in present(self._shelf, recording_ids):
            if self._shelf[recording_id].state in _OPEN:
                self._runs.cancel(recording_id)
                self._shelf.change(recording_id, state=RowState.CANCELLED, ended_at=time.time())
        self._shelf.tell(ChangeKind.QUEUE)
        self._begin_next()

    def retry(self, recording_id: int, options: Options | None = None) -> None:
        """Queue an ended row again: behind its last stored segment, or anew if done or with other options.

        A transcript that is made anew replaces the old one only when its first segment is there.
        """
        row = self._shelf[recording_id]
        if row.state in _OPEN or row.state is RowState.RECORDING:
            return
        self._shelf.settle()
        wanted = options or row.options
        starts_over = needs_new_start(row, wanted)
        changed = msgspec.structs.replace(
            row,
            state=RowState.QUEUED,
            options=wanted,
            failure=None,
            ended_at=None,
            deaths=0,
            starts_over=starts_over,
        )
        self._library.update(changed)
        self._shelf.put(changed, ChangeKind.ROW)
        self._go_on()

    def relocate(self, recording_id: int, path: str) -> None:
        """Say where a moved source is now, for all its versions; a row that failed for it is tried again.

        Raises FailureError (not_found, bad_media …) where the new path is no good either.
        """
        intake = take_in([path])
        if intake.refused:
            raise FailureError(intake.refused[0].failure)
        for version in self.versions(recording_id):
            self._relocate(version.recording, intake.files[0])

    def move(self, recording_ids: Sequence[int], index: int) -> None:
        """Put these rows, in this order, in front of the row that is at `index` now."""
        order = [row.id for row in self._shelf.ordered()]
        moving = present(self._shelf, recording_ids)
        ahead = [i for i in order[:index] if i not in moving]
        behind = [i for i in order[index:] if i not in moving]
        wanted = [*ahead, *moving, *behind]
        if wanted != order:
            self._shelf.order(wanted)

    def remove(self, recording_ids: Iterable[int]) -> None:
        """Take rows out of the library (never their files), cancelling what runs.

        What is being recorded stays.
        """
        there = present(self._shelf, recording_ids)
        ids = [i for i in there if self._shelf[i].state is not RowState.RECORDING]
        self.cancel([i for i in ids if self._shelf[i].state is RowState.RUNNING])
        self._library.remove(ids)
        for recording_id in ids:
            self._shelf.drop(recording_id)
        self._shelf.tell(ChangeKind.QUEUE)

    def restore(self, recording_ids: Iterable[int]) -> None:
        """Undo `remove`."""
        ids = list(recording_ids)
        self._library.restore(ids)
        for recording_id in ids:
            if (recording := self._library.recording(recording_id)) is not None:
                self._shelf.put(recording, ChangeKind.ADDED)
        self._shelf.tell(ChangeKind.QUEUE)
        self._begin_next()

    def edit_segment(self, segment_id: int, text: str) -> StoredSegment:
        """Correct a segment's text, stored at once."""
        segment = self._library.edit_segment(segment_id, text)
        change = DeskChange(kind=ChangeKind.EDITED, recording_id=segment.recording_id, segment=segment)
        self._shelf.emit(change)
        return segment

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in what the engine told, in order; tails and progress are told once a batch."""
        if self._is_stopped:
            return
        self._runs.take_in(events)
        if (trouble := self._shelf.trouble) is not None:
            self._on_trouble(trouble)
        self._begin_next()

    def on_engine_given_up(self, failure: Failure) -> None:
        """The engine could not be kept alive: interrupted rows fail, the others wait for a retry."""
        if not self._is_stopped:
            self._runs.give_up(failure)

    def _relocate(self, row: Recording, found: str) -> None:
        changed = msgspec.structs.replace(row, path=found, name=Path(found).name)
        if is_same_size(found, row):
            changed = msgspec.structs.replace(changed, file_mtime_ns=modified_ns(found))
        self._library.update(changed)
        self._shelf.put(changed, ChangeKind.ROW)
        if row.state is RowState.FAILED and row.failure and row.failure.kind is FailureKind.NOT_FOUND:
            self.retry(row.id)

    def _on_trouble(self, trouble: Failure) -> None:
        """Nothing can be stored: stop before more is recognised that could be lost."""
        self._shelf.report(trouble)
        self._runs.fail_all(trouble)
        if not self._is_paused:
            self.pause()

    def _go_on(self) -> None:
        self._shelf.tell(ChangeKind.QUEUE)
        self._runs.wake_engine()
        self._begin_next()

    def _begin_next(self) -> None:
        if not (self._is_paused or self._is_stopped):
            self._runs.begin_next()

    def _row(self, recording: Recording) -> Row:
        job = self._runs.job(recording.id)
        if job is None:
            return Row(recording=recording, fraction=recording.progress or None)
        told = max(job.fraction or 0.0, recording.progress)
        return Row(
            recording=recording,
            fraction=told if job.fraction is not None or told else None,
            remaining_s=job.remaining_s,
            tail=job.tail,
        )
