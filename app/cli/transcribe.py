"""`jamak transcribe`: files in, text out in their order; one bad file does not stop the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from app import texts
from app.cli.console import Console
from app.cli.session import Session
from app.cli.whole_file import write_whole
from app.intake import take_in
from app.jobs import Job, JobBook, JobPhase
from app.restarts import Restarts
from app.texts import tr
from engine.export import ExportFormat, file_name, plain_line, render
from engine.protocol.events import (
    EngineLost,
    Event,
    JobDone,
    ModelState,
    Refused,
    SegmentDone,
    Warned,
    Welcome,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, Segment, Transcript

_MAX_DEATHS: Final = 3
_SAMPLE_RATE_HZ: Final = 16_000


class Transcribing(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    options: Options
    format: ExportFormat
    output_folder: Path | None = None
    num_at_once: int = 2
    """Files in the engine at a time: the next one's speech fills the batch while one ends."""


@dataclass(eq=False)
class File:
    """One recording on its way; written by its `Run` alone."""

    path: str
    segments: list[Segment] = field(default_factory=list)
    language: str | None = None
    """Known from an earlier run."""
    duration: float | None = None
    deaths: int = 0
    """Of the engine, since the last new segment."""
    num_shown: int = 0
    is_ended: bool = False
    failure: Failure | None = None

    @property
    def name(self) -> str:
        return Path(self.path).name


def run_transcribe(session: Session, console: Console, paths: Sequence[str], wish: Transcribing) -> int:
    """Transcribe everything; return 0, or 1 if anything failed."""
    files = list(find_files(paths))
    problem = prepare_folder(wish.output_folder)
    if problem is not None:
        console.complain(problem)
        return 1
    if any(not file.is_ended for file in files):
        with session:
            Run(session, console, files, wish).go()
    else:
        Run(session, console, files, wish).show()
    return int(any(file.failure is not None for file in files))


def find_files(paths: Sequence[str]) -> Iterator[File]:
    """Every file named or found in a folder, in order; what is refused is there too, as ended."""
    for path in paths:
        intake = take_in([path])
        yield from map(File, intake.files)
        for refusal in intake.refused:
            yield File(refusal.path, is_ended=True, failure=refusal.failure)


def prepare_folder(folder: Path | None) -> Failure | None:
    """Make the folder for results; return why it cannot be made."""
    try:
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        return failure(FailureKind.NOT_READABLE, str(folder), str(error))
    return None


def save(path: Path, content: str) -> Failure | None:
    """Write a result; return why it could not be written."""
    try:
        write_whole(path, content)
    except OSError as error:
        kind = FailureKind.NOT_READABLE if isinstance(error, PermissionError) else FailureKind.DISK_FULL
        return failure(kind, str(path), str(error))
    return None


class Run:
    """The files of one command and their jobs. Text is written for the front file only, the rest waits."""

    def __init__(self, session: Session, console: Console, files: list[File], wish: Transcribing) -> None:
        self._session = session
        self._console = console
        self._files = files
        self._wish = wish
        self._book = JobBook()
        self._restarts = Restarts()
        self._file_of: dict[JobId, File] = {}
        self._last_job: dict[int, Job] = {}
        self._front = 0
        self._taken: list[str] = []
        self._num_printed = 0
        self._status = tr("cli_waiting")

    def go(self) -> None:
        """Work until every file has ended."""
        self.show()
        while self._front < len(self._files):
            self._begin_next()
            self._draw()
            self._on_event(self._session.next_event())
            self.show()

    def show(self) -> None:
        """Write what is new of the front file; where it has ended, go on to the next."""
        while self._front < len(self._files):
            file = self._files[self._front]
            if self._is_streamed:
                self._stream(file)
            if not file.is_ended:
                return
            self._conclude(file)
            self._front += 1

    @property
    def _is_streamed(self) -> bool:
        return self._wish.format is ExportFormat.TXT and self._wish.output_folder is None

    def _begin_next(self) -> None:
        at_work = list(self._file_of.values())
        for file in self._files[self._front :]:
            if len(self._file_of) >= self._wish.num_at_once:
                return
            if not file.is_ended and file not in at_work:
                self._begin(file)

    def _begin(self, file: File) -> None:
        options = self._wish.options
        resume_at = round(file.segments[-1].end * _SAMPLE_RATE_HZ) if file.segments else None
        told = self._told(file)
        known = told.language if told is not None and told.language is not None else file.language
        if resume_at is not None and options.language is None:
            options = msgspec.structs.replace(options, language=known)
        job = self._session.client.transcribe(file.path, options, resume_at)
        self._book.open(job)
        self._file_of[job] = file

    def _on_event(self, event: Event) -> None:
        match event:
            case Welcome():
                pass
            case ModelState(model=model, phase=phase):
                self._status = f"{Path(model).name}: {phase}"
            case Refused(failure=reason):
                self._give_up(reason)
            case EngineLost(failure=reason):
                if self._restarts.allow(self._console.now()):
                    self._session.client.restart()
                else:
                    self._give_up(reason)
            case _:
                if (file := self._file_of.get(event.job)) is not None:
                    self._book.apply(event)
                    self._on_job_event(event, file)

    def _on_job_event(self, event: Event, file: File) -> None:
        match event:
            case SegmentDone(segment=segment):
                file.segments.append(segment)
                file.deaths = 0
            case Warned(failure=warning):
                self._console.complain(warning)
            case JobDone(duration=duration):
                file.duration = duration
        told = self._told(file)
        if told is not None and told.is_ended:
            self._on_end(file, told)

    def _on_end(self, file: File, job: Job) -> None:
        self._last_job[id(file)] = job
        del self._file_of[job.id]
        self._book.forget(job.id)
        if job.phase is JobPhase.DONE:
            file.is_ended = True
            return
        reason = job.failure or failure(FailureKind.ENGINE_DIED, file.name)
        file.deaths += 1
        if reason.kind is not FailureKind.ENGINE_DIED or file.deaths >= _MAX_DEATHS:
            file.is_ended = True
            file.failure = reason

    def _give_up(self, reason: Failure) -> None:
        for file in self._files[self._front :]:
            if not file.is_ended:
                file.is_ended = True
                file.failure = failure(reason.kind, file.name, reason.detail)
        self._file_of.clear()

    def _told(self, file: File) -> Job | None:
        """What the file's latest job has told."""
        job = next((job for job, worked_on in self._file_of.items() if worked_on is file), None)
        return self._book.get(job) if job else self._last_job.get(id(file))

    def _stream(self, file: File) -> None:
        new = filter(None, map(plain_line, file.segments[file.num_shown :]))
        text = "".join(f"{line}\n" for line in new)
        file.num_shown = len(file.segments)
        if text:
            self._console.result(text)

    def _conclude(self, file: File) -> None:
        """Write an ended file's text; what was recognised before a failure is not thrown away."""
        if file.failure is not None:
            self._console.complain(file.failure)
        if self._is_streamed or (file.failure is not None and not file.segments):
            return
        content = render(self._transcript(file), self._wish.format)
        if self._wish.output_folder is None:
            # Documents that end without a blank line would run into one another.
            self._console.result("\n" * bool(self._num_printed) + content)
            self._num_printed += 1
        else:
            self._write(file, self._wish.output_folder, content)

    def _write(self, file: File, folder: Path, content: str) -> None:
        name = file_name(file.name, self._wish.format, self._taken)
        self._taken.append(name)
        file.failure = save(folder / name, content)
        if file.failure is not None:
            self._console.complain(file.failure)
        else:
            self._console.note(tr("cli_wrote", path=folder / name))

    def _transcript(self, file: File) -> Transcript:
        job = self._told(file) or Job(id="")
        return Transcript(
            segments=tuple(file.segments),
            language=job.language,
            language_probability=job.language_probability,
            duration=file.duration,
            model=job.model or self._wish.options.model,
            task=self._wish.options.task,
            source=file.name,
        )

    def _draw(self) -> None:
        if self._front >= len(self._files):
            return
        file = self._files[self._front]
        job = self._told(file)
        place = f"{self._front + 1}/{len(self._files)} " if len(self._files) > 1 else ""
        if job is None or job.phase is JobPhase.WAITING:
            self._console.progress(place + file.name, None, self._status)
            return
        left = job.remaining_s
        remark = tr("cli_left", time=texts.duration(left)) if left is not None else ""
        self._console.progress(place + file.name, job.fraction, remark)
