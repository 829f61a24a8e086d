"""Decides which file each exported transcript goes to, and writes them; no Qt."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import Path, PurePath
from typing import Final

import msgspec

from engine.export import ExportFormat, file_name, render
from engine.protocol.transcript import Transcript

DEFAULT_TEMPLATE: Final = "{name}"
FIELDS: Final = ("name", "language", "model", "date")
"""What a template may hold in braces."""

_FIELD: Final = re.compile(r"\{(" + "|".join(FIELDS) + r")\}")
# What Windows refuses in a name is refused everywhere: files are carried from one system to another.
_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*\x00-\x1f]')
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?$", re.IGNORECASE)


class Trouble(StrEnum):
    """Why a file could not be written."""

    NOT_ALLOWED = "not_allowed"
    FOLDER_MISSING = "folder_missing"
    DISK_FULL = "disk_full"
    OTHER = "other"


@dataclass(frozen=True)
class Planned:
    """A transcript and the file it is to become."""

    transcript: Transcript
    path: Path


@dataclass(frozen=True)
class Outcome:
    """What became of an export: files written, and (file name, reason, the system's words) of the others."""

    written: tuple[Path, ...]
    failed: tuple[tuple[str, Trouble, str], ...]


def plan(
    transcripts: Sequence[Transcript],
    format: ExportFormat,
    folder: Path,
    template: str = DEFAULT_TEMPLATE,
    *,
    taken: Collection[str] = (),
) -> list[Planned]:
    """Give every transcript a file in `folder`, none twice and none of the `taken` names."""
    names = set(taken)
    planned = []
    for transcript in transcripts:
        name = file_name(f"{_stem(transcript, template)}.media", format, names)
        names.add(name)
        planned.append(Planned(transcript, folder / name))
    return planned


def existing(planned: Sequence[Planned]) -> list[Path]:
    """Return the planned files that are there already."""
    return [one.path for one in planned if one.path.exists()]


def names_in(folder: Path) -> set[str]:
    """Return the names in `folder`; empty when it cannot be read."""
    try:
        return {entry.name for entry in folder.iterdir()}
    except OSError:
        return set()


def has_word_times(transcripts: Sequence[Transcript]) -> bool:
    """Say whether there are times of words to be written."""
    return any(segment.words for transcript in transcripts for segment in transcript.segments)


def write_all(planned: Sequence[Planned], format: ExportFormat, *, with_word_times: bool) -> Outcome:
    """Write every file whole or not at all, replacing what is there; one failure stops no other."""
    written, failed = [], []
    for one in planned:
        transcript = one.transcript if with_word_times else _without_words(one.transcript)
        try:
            _write(one.path, render(transcript, format))
        except OSError as error:
            failed.append((one.path.name, _trouble(error, one.path.parent), error.strerror or str(error)))
        else:
            written.append(one.path)
    return Outcome(tuple(written), tuple(failed))


def plain_text(transcripts: Sequence[Transcript]) -> str:
    """Return transcripts as text for the clipboard; several are headed by their names."""
    texts = [render(transcript, ExportFormat.TXT).strip() for transcript in transcripts]
    if len(texts) == 1:
        return texts[0]
    return "\n\n".join(f"{one.source}\n\n{text}" for one, text in zip(transcripts, texts, strict=True))


def _stem(transcript: Transcript, template: str) -> str:
    values = {
        "name": PurePath(transcript.source).stem,
        "language": transcript.language or "",
        "model": PurePath(transcript.model).name,
        "date": date.today().isoformat(),
    }
    stem = _FIELD.sub(lambda field: values[field[1]], template)
    stem = _FORBIDDEN.sub("_", stem).strip(" .")
    return f"_{stem}" if _RESERVED.match(stem) else stem or "transcript"


def _without_words(transcript: Transcript) -> Transcript:
    segments = (msgspec.structs.replace(segment, words=()) for segment in transcript.segments)
    return msgspec.structs.replace(transcript, segments=tuple(segments))


def _write(path: Path, text: str) -> None:
    """Write beside the target and rename, so that a full disk never costs the old file."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".jamak-", suffix=".part")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        # mkstemp makes files that nobody else may read; an exported file is an ordinary one.
        temporary.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _trouble(error: OSError, folder: Path) -> Trouble:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Trouble.DISK_FULL
    if not folder.is_dir():
        return Trouble.FOLDER_MISSING
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return Trouble.NOT_ALLOWED
    return Trouble.OTHER
