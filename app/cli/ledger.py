"""What a batch has done below one folder, and how far it is: small files in a folder `.jamak` there.

They lie beside the results, so that they move with them to another disk or machine. Lines are only
ever appended: a batch that is killed loses the line it was writing, which is then skipped.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from engine.protocol.transcript import Segment

FOLDER: Final = ".jamak"
_DONE: Final = "done.jsonl"


class Stamp(msgspec.Struct, frozen=True):
    """Tells one state of a file from another without reading it."""

    size_bytes: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Stamp | None:
        """Return a file's; None where there is none."""
        try:
            found = path.stat()
        except OSError:
            return None
        return cls(found.st_size, found.st_mtime_ns)


class Done(msgspec.Struct, frozen=True, kw_only=True):
    """A recording whose text was written."""

    source: str
    """Its path below the ledger's folder, or its whole path where it lies elsewhere."""
    stamp: Stamp
    asked: str
    """Digest of what was asked for."""
    output: str
    output_stamp: Stamp


class Begun(msgspec.Struct, frozen=True):
    """What is known of a recording that was interrupted."""

    segments: tuple[Segment, ...] = ()
    language: str | None = None


class _Line(msgspec.Struct, frozen=True):
    """A line about a recording on its way: one or the other."""

    segment: Segment | None = None
    language: str | None = None


class Ledger:
    """One folder's. A ledger that cannot be written costs work to be done again, never the work itself."""

    def __init__(self, root: Path, asked: object) -> None:
        """`asked` is whatever the results depend on: when it changes, everything is to be done anew."""
        self._root = root
        self._folder = root / FOLDER
        self._asked = hashlib.sha256(msgspec.json.encode(asked)).hexdigest()[:16]
        self._done = {line.source: line for line in _read(self._folder / _DONE, Done)}

    def is_done(self, source: Path) -> bool:
        """Say whether a recording, as it is now, was written down as asked, and the text is still there."""
        done = self._done.get(self._name(source))
        return (
            done is not None
            and done.asked == self._asked
            and done.stamp == Stamp.of(source)
            and (self._root / done.output).exists()
        )

    def may_replace(self, source: Path, output: Path) -> bool:
        """Say whether `output` is free, or the text of an older run that nobody has touched since."""
        if not output.exists():
            return True
        done = self._done.get(self._name(source))
        return (
            done is not None and done.output == self._name(output) and done.output_stamp == Stamp.of(output)
        )

    def note_done(self, source: Path, output: Path) -> None:
        """Remember that a recording's text was written."""
        stamp, output_stamp = Stamp.of(source), Stamp.of(output)
        if stamp is None or output_stamp is None:
            return
        done = Done(
            source=self._name(source),
            stamp=stamp,
            asked=self._asked,
            output=self._name(output),
            output_stamp=output_stamp,
        )
        self._done[done.source] = done
        self._append(self._folder / _DONE, done)
        with contextlib.suppress(OSError):
            self._part(source).unlink(missing_ok=True)

    def begun(self, source: Path) -> Begun:
        """Return how far an interrupted run came with a recording."""
        lines = list(_read(self._part(source), _Line))
        languages = [line.language for line in lines if line.language is not None]
        segments = tuple(line.segment for line in lines if line.segment is not None)
        return Begun(segments, languages[-1] if languages else None)

    def note_segment(self, source: Path, segment: Segment) -> None:
        """Remember a segment of a recording on its way."""
        self._append(self._part(source), _Line(segment=segment))

    def note_language(self, source: Path, language: str) -> None:
        """Remember the language of a recording on its way."""
        self._append(self._part(source), _Line(language=language))

    def _name(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix() if path.is_relative_to(self._root) else str(path)

    def _part(self, source: Path) -> Path:
        """Another file for another state of the recording, or another wish."""
        known = msgspec.json.encode([self._name(source), Stamp.of(source), self._asked])
        return self._folder / f"part-{hashlib.sha256(known).hexdigest()[:16]}.jsonl"

    def _append(self, path: Path, line: msgspec.Struct) -> None:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("ab") as file:
                # One that was cut off in its middle ends here.
                is_torn = file.tell() > 0 and not _ends_with_newline(path)
                file.write(b"\n" * is_torn + msgspec.json.encode(line) + b"\n")


def _ends_with_newline(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read() == b"\n"


def _read(path: Path, kind: type[Any]) -> Iterator[Any]:
    """Yield the lines that can be read."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
            yield msgspec.json.decode(line, type=kind)
