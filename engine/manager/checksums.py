"""Proves that a file is the one it should be, and remembers which files were proved."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

MARKER_NAME: Final = ".jamak-checked.json"
_BLOCK_BYTES: Final = 1 << 20


class CheckedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file as it was when its digest was right."""

    size_bytes: int
    modified_ns: int
    digest: str


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model folder; kept in it, so that a start need not read every byte again."""

    files: dict[str, CheckedFile] = {}
    is_broken: bool = False
    """A later check found a wrong file."""


def digest_file(path: Path, like: str, on_read: Callable[[int], None]) -> str:
    """Return the digest of `path` of the kind that `like` is: SHA-256, or a git blob's id (40 digits).

    `on_read(num_bytes)` is told of every block and may raise. Raises OSError.
    """
    if len(like) == 40:
        hasher = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    else:
        hasher = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            hasher.update(block)
            on_read(len(block))
    return hasher.hexdigest()


def is_digest(text: str | None) -> bool:
    """Return whether `text` is a SHA-256 or a git blob's id, and so can be checked."""
    return text is not None and len(text) in (40, 64) and set(text) <= set("0123456789abcdef")


def describe(path: Path, digest: str) -> CheckedFile:
    """Return `path` as it is now, its digest known to be right."""
    status = path.stat()
    return CheckedFile(size_bytes=status.st_size, modified_ns=status.st_mtime_ns, digest=digest)


def read_marker(folder: Path) -> Marker:
    """Return what is remembered of `folder`; nothing, where that cannot be read."""
    try:
        return msgspec.json.decode((folder / MARKER_NAME).read_bytes(), type=Marker)
    except (OSError, msgspec.DecodeError):
        return Marker()


def write_marker(folder: Path, marker: Marker) -> None:
    """Remember `marker` for `folder`. Raises OSError."""
    temporary = folder / f"{MARKER_NAME}.new"
    temporary.write_bytes(msgspec.json.encode(marker))
    temporary.replace(folder / MARKER_NAME)
