"""By what the library knows a file again: its size and when it was last written."""

from __future__ import annotations

from pathlib import Path


def identity_of(path: str) -> tuple[int | None, int | None]:
    """Return size in bytes and modification time in ns; None where they cannot be asked."""
    try:
        status = Path(path).stat()
    except OSError:
        return None, None
    return status.st_size, status.st_mtime_ns
