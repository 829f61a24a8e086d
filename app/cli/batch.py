"""`jamak transcribe --recursive`: whole folders, each text beside its recording; goes on where it ended."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from app import texts
from app.cli.console import Console
from app.cli.ledger import Ledger
from app.cli.session import Session
from app.cli.transcribe import File, Run, Transcribing, find_files, prepare_folder, save
from app.jobs import JobPhase
from app.texts import failure_line, tr
from engine.export import file_name, render
from engine.private_folder import make_private_folder
from engine.protocol.events import Event, LanguageDetected, SegmentDone
from engine.protocol.failures import Failure
from engine.rendezvous import FileLock


def run_batch(session: Session, console: Console, paths: Sequence[str], wish: Transcribing) -> int:
    """Transcribe everything below `paths` that is not done yet; return 0, or 1 if anything failed."""
    problem = prepare_folder(wish.output_folder)
    if problem is not None:
        console.complain(problem)
        return 1
    with alone_in(_roots(paths, wish), Path(session.config.runtime_folder)) as is_alone:
        if not is_alone:
            console.tell("jamak: " + tr("cli_batch_taken"))
            return 1
        return _run_alone(session, console, paths, wish)


@contextlib.contextmanager
def alone_in(roots: Iterable[Path], runtime_folder: Path) -> Iterator[bool]:
    """Keep other batches of this machine out of these folders; yield False if one is there already.

    The locks lie in the runtime folder: not every disk on a network knows locks.
    """
    locks = []
    try:
        make_private_folder(runtime_folder)
        for root in sorted({root.resolve() for root in roots}):
            digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
            locks.append(FileLock(runtime_folder / f"batch-{digest}.lock"))
        is_alone = all(lock.try_take() for lock in locks)
    except OSError:
        # Work done twice is better than none.
        is_alone = True
    try:
        yield is_alone
    finally:
        for lock in locks:
            lock.release()


def _roots(paths: Sequence[str], wish: Transcribing) -> list[Path]:
    """Return the folders that this batch keeps ledgers in."""
    if wish.output_folder is not None:
        return [wish.output_folder]
    return [path if path.is_dir() else path.parent for path in map(Path, paths)]


def _run_alone(session: Session, console: Console, paths: Sequence[str], wish: Transcribing) -> int:
    places = Places(paths, wish)
    found = list(find_files(paths))
    files = [file for file in found if file.is_ended or not places.is_done(file)]
    console.note(tr("cli_batch_found", all=len(found), done=len(found) - len(files)))
    run = BatchRun(session, console, files, wish, places)
    try:
        if any(not file.is_ended for file in files):
            with session:
                run.go()
        else:
            run.show()
    except KeyboardInterrupt:
        console.note(tr("cli_batch_resume"))
        raise
    return run.tell_failures(len(found))


class Places:
    """Where each recording's text goes, and the ledger that knows of it."""

    def __init__(self, paths: Sequence[str], wish: Transcribing) -> None:
        self._roots = [Path(path).absolute() for path in paths if Path(path).is_dir()]
        self._wish = wish
        self._ledgers: dict[Path, Ledger] = {}
        self._claimed: set[Path] = set()

    def is_done(self, file: File) -> bool:
        return self.ledger(file).is_done(Path(file.path))

    def ledger(self, file: File) -> Ledger:
        """Return the ledger of the folder that was named, or of the one for results."""
        root = self._wish.output_folder or self._root(file)
        root = root.absolute()
        if root not in self._ledgers:
            self._ledgers[root] = Ledger(root, (self._wish.options, self._wish.format))
        return self._ledgers[root]

    def claim(self, file: File) -> Path:
        """Return where a text is to be written: never over a file that is not ours."""
        source = Path(file.path)
        folder = source.parent
        if self._wish.output_folder is not None:
            folder = self._wish.output_folder.absolute() / folder.relative_to(self._root(file))
        taken: list[str] = []
        while True:
            path = folder / file_name(source.name, self._wish.format, taken)
            if path not in self._claimed and self.ledger(file).may_replace(source, path):
                self._claimed.add(path)
                return path
            taken.append(path.name)

    def _root(self, file: File) -> Path:
        """Return the innermost folder named that a recording lies below."""
        parent = Path(file.path).parent
        above = [root for root in self._roots if parent.is_relative_to(root)]
        return max(above, key=lambda root: len(root.parts), default=parent)


class BatchRun(Run):
    """Files end in any order here; what is recognised is remembered at once, and written when whole."""

    def __init__(
        self, session: Session, console: Console, files: list[File], wish: Transcribing, places: Places
    ) -> None:
        super().__init__(session, console, files, wish)
        self._places = places
        self._failed: list[tuple[File, Failure]] = []
        self._sizes = {id(file): _size_bytes(file) for file in files}
        self._is_concluded: set[int] = set()
        self._began_s = console.now()

    def show(self) -> None:
        """Write the text of every file that has ended."""
        for file in self._files[self._front :]:
            if file.is_ended and id(file) not in self._is_concluded:
                self._is_concluded.add(id(file))
                self._conclude(file)
        while self._front < len(self._files) and id(self._files[self._front]) in self._is_concluded:
            self._front += 1

    def tell_failures(self, num_found: int) -> int:
        """List what failed, at the end where it is seen; return the exit code."""
        if not self._failed:
            return 0
        self._console.tell(f"jamak: {tr('cli_batch_failed', count=len(self._failed), all=num_found)}")
        for file, why in self._failed:
            self._console.tell(f"  {file.path}: {failure_line(why)}")
        return 1

    def _begin(self, file: File) -> None:
        if not file.segments:
            begun = self._places.ledger(file).begun(Path(file.path))
            file.segments = list(begun.segments)
            file.language = begun.language
        super()._begin(file)

    def _on_job_event(self, event: Event, file: File) -> None:
        ledger, source = self._places.ledger(file), Path(file.path)
        match event:
            case SegmentDone(segment=segment):
                ledger.note_segment(source, segment)
            case LanguageDetected(language=language):
                ledger.note_language(source, language)
            case _:
                pass
        super()._on_job_event(event, file)

    def _conclude(self, file: File) -> None:
        if file.failure is None:
            path = self._places.claim(file)
            problem = prepare_folder(path.parent)
            file.failure = problem or save(path, render(self._transcript(file), self._wish.format))
            if file.failure is None:
                self._places.ledger(file).note_done(Path(file.path), path)
                self._console.note(tr("cli_wrote", path=path))
        if file.failure is not None:
            self._failed.append((file, file.failure))

    def _draw(self) -> None:
        if self._front >= len(self._files):
            return
        names = [file.name for file in self._file_of.values()]
        place = tr("cli_batch", done=len(self._is_concluded), all=len(self._files))
        done, total = self._done_bytes(), sum(self._sizes.values())
        left_s = _left_s(done, total, self._console.now() - self._began_s)
        remark = tr("cli_left", time=texts.duration(left_s)) if left_s is not None else ""
        self._console.progress(f"{place} {', '.join(names)}", done / total if total else None, remark)

    def _done_bytes(self) -> float:
        """Return how much of the files has been worked on, running ones in part."""
        done = 0.0
        for file in self._files:
            if file.is_ended:
                done += self._sizes[id(file)]
            elif (job := self._told(file)) is not None and job.phase is JobPhase.RUNNING:
                done += self._sizes[id(file)] * (job.fraction or 0.0)
        return done


def _size_bytes(file: File) -> int:
    """Return a file's size: what is known of its length before it is opened."""
    try:
        return Path(file.path).stat().st_size
    except OSError:
        return 0


def _left_s(done: float, total: float, elapsed_s: float) -> float | None:
    """Return how long the rest takes at the speed so far, once that says something."""
    if elapsed_s < 5.0 or done < total / 1000:
        return None
    return (total - done) / done * elapsed_s
