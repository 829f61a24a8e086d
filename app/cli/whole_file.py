"""Writes a result to a file, whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: str) -> None:
    """Write `content` to `path`, replacing what is there. Raises OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".new")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(content)
        # As a file that was simply created: readable by whom the umask allows.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
