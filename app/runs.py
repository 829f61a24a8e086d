"""Rows at work: begins queued rows as engine jobs, stores what they tell, and resumes them after a death."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from enum import Enum, auto
from typing import Final, assert_never

import msgspec

from app.changes import ChangeKind, DeskChange
from app.file_identity import identity_of
from app.jobs import Job, JobBook, JobChange, JobPhase
from app.library import Recording, RowKind, RowState
from app.live_rests import LiveRests
from app.ports import EnginePort
from app.shelf import Shelf
from engine.protocol.events import (
    EngineLost,
    Event,
    JobDone,
    JobEvent,
    ModelState,
    Refused,
    SegmentDone,
    Warned,
    Welcome,
)
from engine.protocol.failures import SENTENCES, Failure, FailureError, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, Segment

log = logging.getLogger(__name__)

_MAX_DEATHS: Final = 3
"""Of the engine on one row, without a newly stored segment, before the row fails."""


class _Engine(Enum):
    """Whether jobs can be asked for."""

    UP = auto()
    DOWN = auto()
    GIVEN_UP = auto()


class Runs:
    """The open jobs and their rows. Single-threaded."""

    def __init__(self, shelf: Shelf, engine: EnginePort, *, max_running: int) -> None:
        self._shelf = shelf
        self._engine = engine
        self._rests = LiveRests(engine)
        self._max_running = max_running
        # What is asked for before the first Welcome is kept by the client.
        self._state = _Engine.UP
        self._book = JobBook()
        self._job_of: dict[int, JobId] = {}
        self._row_of: dict[JobId, int | None] = {}
        """Open jobs; None = cancelled by us, its ending is awaited only to free its place."""

    @property
    def num_running(self) -> int:
        """Rows the engine works on now."""
        return len(self._job_of)

    def job(self, recording_id: int) -> Job | None:
        """What a running row's job has told."""
        job = self._job_of.get(recording_id)
        return self._book.get(job) if job else None

    def begin_next(self) -> None:
        """Begin queued rows, first position first, while there is room."""
        if self._state is not _Engine.UP:
            return
        for row in self._shelf.ordered():
            if len(self._row_of) >= self._max_running:
                return
            if row.state is RowState.QUEUED:
                self._begin(row)

    def wake_engine(self) -> None:
        """Somebody asks for work: start the engine again if it was given up."""
        if self._state is _Engine.GIVEN_UP:
            self._state = _Engine.DOWN
            self._engine.restart()

    def cancel(self, recording_id: int) -> None:
        """End a row's job, if it has one; its place is free when the engine has answered."""
        job = self._job_of.pop(recording_id, None)
        if job is not None:
            self._row_of[job] = None
            self._engine.cancel(job)

    def take_in(self, events: Sequence[Event]) -> None:
        """Apply what the engine told, in order; tails and progress are told once a batch."""
        stale: dict[int, set[ChangeKind]] = {}
        for event in events:
            match event:
                case Welcome():
                    self._state = _Engine.UP
                case EngineLost():
                    self._state = _Engine.DOWN
                case Refused(failure=failure):
                    self.give_up(failure)
                case ModelState():
                    pass
                case _:
                    self._on_job_event(event, stale)
        for recording_id, kinds in stale.items():
            self._tell_latest(recording_id, kinds)

    def give_up(self, reason: Failure) -> None:
        """The engine could not be kept alive: interrupted rows fail, the others wait to be asked for."""
        self._state = _Engine.GIVEN_UP
        for row in self._shelf.ordered():
            if row.state is RowState.QUEUED and row.deaths:
                self._fail(row.id, _about(reason, row.name))
        self._shelf.emit(DeskChange(kind=ChangeKind.TROUBLE, failure=reason))

    def fail_all(self, reason: Failure) -> None:
        """End every running row: what it tells cannot be kept."""
        for recording_id in list(self._job_of):
            self.cancel(recording_id)
            self._fail(recording_id, _about(reason, self._shelf[recording_id].name))

    def stop(self) -> None:
        """Begin nothing and feed nothing any more."""
        self._rests.close()

    def _begin(self, row: Recording) -> None:
        identity = identity_of(row.path)
        stored = (row.file_size, row.file_mtime_ns)
        # A missing file is the engine's to say; another file under the name is transcribed from its start.
        if row.stored_until and identity != (None, None) and identity != stored:
            row = msgspec.structs.replace(row, starts_over=True)
        if row.resume_at_sample is None:
            row = msgspec.structs.replace(row, file_size=identity[0], file_mtime_ns=identity[1])
        options = row.options
        if row.resume_at_sample is not None and options.language is None:
            options = msgspec.structs.replace(options, language=row.language)
        try:
            job = self._ask(row, options)
        except FailureError as error:
            self._fail(row.id, error.failure)
            return
        self._book.open(job)
        self._job_of[row.id] = job
        self._row_of[job] = row.id
        self._shelf.change(
            row.id,
            state=RowState.RUNNING,
            starts_over=row.starts_over,
            file_size=row.file_size,
            file_mtime_ns=row.file_mtime_ns,
        )
        self._shelf.tell(ChangeKind.QUEUE)

    def _ask(self, row: Recording, options: Options) -> JobId:
        if row.kind is RowKind.LIVE and row.resume_at_sample is not None:
            return self._rests.begin(row.path, options, row.resume_at_sample)
        return self._engine.transcribe(row.path, options, row.resume_at_sample)

    def _on_job_event(self, event: JobEvent, stale: dict[int, set[ChangeKind]]) -> None:
        if event.job not in self._row_of:
            return
        change = self._book.apply(event)
        recording_id = self._row_of[event.job]
        job = self._book.get(event.job)
        if job is None or recording_id is None:
            if change is JobChange.ENDED:
                self._close(event.job)
            return
        later = stale.setdefault(recording_id, set())
        match change:
            case JobChange.STARTED:
                known = self._shelf[recording_id].duration
                duration = (job.media.duration if job.media else None) or known
                self._shelf.change(recording_id, model=job.model, duration=duration)
            case JobChange.LANGUAGE:
                self._shelf.change(
                    recording_id, language=job.language, language_probability=job.language_probability
                )
            case JobChange.SEGMENT:
                assert isinstance(event, SegmentDone)
                self._store(recording_id, event.segment)
                later.add(ChangeKind.TAIL)
            case JobChange.CONFIRMED | JobChange.TAIL:
                later.add(ChangeKind.TAIL)
            case JobChange.PROGRESS:
                later.add(ChangeKind.PROGRESS)
            case JobChange.WARNING:
                assert isinstance(event, Warned)
                warning = event.failure
                self._shelf.emit(
                    DeskChange(kind=ChangeKind.WARNING, recording_id=recording_id, failure=warning)
                )
            case JobChange.ENDED:
                later.clear()
                self._on_end(recording_id, job, event)
            case JobChange.NOTHING | JobChange.ANSWER:
                pass
            case _:
                assert_never(change)

    def _on_end(self, recording_id: int, job: Job, event: JobEvent) -> None:
        self._close(job.id)
        kind = job.failure.kind if job.failure else None
        log.info("row %d: its job ended as %s %s", recording_id, job.phase.value, kind or "")
        if job.phase is JobPhase.DONE:
            self._finish(recording_id, event.duration if isinstance(event, JobDone) else 0.0)
        elif job.failure is not None and job.failure.kind is not FailureKind.ENGINE_DIED:
            self._fail(recording_id, job.failure)
        else:
            # Cancelled though nobody asked: the engine took us for dead (the computer slept).
            row = self._shelf[recording_id]
            if row.deaths + 1 >= _MAX_DEATHS:
                self._fail(recording_id, job.failure or failure(FailureKind.ENGINE_DIED, row.name))
            else:
                self._shelf.change(recording_id, state=RowState.QUEUED, deaths=row.deaths + 1)
        self._shelf.tell(ChangeKind.QUEUE)

    def _finish(self, recording_id: int, heard_s: float) -> None:
        """Done only when the library has it: the change of state is committed behind every segment."""
        if self._shelf[recording_id].starts_over:
            self._forget_transcript(recording_id)
        row = self._shelf[recording_id]
        done = msgspec.structs.replace(
            row,
            state=RowState.DONE,
            ended_at=time.time(),
            # Of a recording of ours the engine may have heard the rest only.
            duration=(row.duration if row.kind is RowKind.LIVE else None) or heard_s or row.duration,
            failure=None,
            deaths=0,
        )
        try:
            self._shelf.library.update(done)
        except FailureError as error:
            self._fail(recording_id, _about(error.failure, row.name))
        else:
            self._shelf.put(done, ChangeKind.ROW)

    def _store(self, recording_id: int, segment: Segment) -> None:
        if self._shelf[recording_id].starts_over and not self._forget_transcript(recording_id):
            return
        stored = self._shelf.library.add_segment(recording_id, segment)
        self._shelf.note(recording_id, stored_until=segment.end)
        if self._shelf[recording_id].deaths:
            self._shelf.change(recording_id, deaths=0)
        self._shelf.emit(DeskChange(kind=ChangeKind.SEGMENT, recording_id=recording_id, segment=stored))

    def _forget_transcript(self, recording_id: int) -> bool:
        try:
            self._shelf.library.clear_segments(recording_id)
        except FailureError as error:
            self._shelf.report(error.failure)
            return False
        self._shelf.change(recording_id, starts_over=False, stored_until=0.0)
        self._shelf.tell(ChangeKind.CLEARED, recording_id)
        return True

    def _fail(self, recording_id: int, reason: Failure) -> None:
        self._shelf.change(recording_id, state=RowState.FAILED, failure=reason, ended_at=time.time())

    def _close(self, job: JobId) -> None:
        self._rests.end(job)
        recording_id = self._row_of.pop(job)
        if recording_id is not None:
            self._job_of.pop(recording_id, None)
        self._book.forget(job)

    def _tell_latest(self, recording_id: int, kinds: set[ChangeKind]) -> None:
        job = self.job(recording_id)
        if job is None:
            return
        if ChangeKind.TAIL in kinds:
            self._shelf.emit(DeskChange(kind=ChangeKind.TAIL, recording_id=recording_id, text=job.tail))
        if ChangeKind.PROGRESS in kinds:
            self._shelf.tell(ChangeKind.PROGRESS, recording_id)


def _about(reason: Failure, name: str) -> Failure:
    """Return the failure as it concerns one recording."""
    return failure(reason.kind, name, reason.detail) if reason.kind in SENTENCES else reason


def is_same_size(path: str, recording: Recording) -> bool:
    """Whether the file could be the recording after a move; a copy has another date."""
    return identity_of(path)[0] == recording.file_size


def modified_ns(path: str) -> int | None:
    """When the file was last written, as the library keeps it."""
    return identity_of(path)[1]


def needs_new_start(recording: Recording, options: Options) -> bool:
    """Whether a retry makes the whole transcript anew instead of going on behind what is stored."""
    return recording.starts_over or recording.state is RowState.DONE or options != recording.options
