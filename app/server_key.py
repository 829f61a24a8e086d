"""The key that callers of our own server show: made once, kept where only the user can read it; no Qt."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

from engine.config import data_folder

KEY_VARIABLE: Final = "JAMAK_API_KEY"


def key_path() -> Path:
    """Where the key is kept."""
    return data_folder() / "server.key"


def own_key() -> tuple[str, str]:
    """Return the key and where it is from: `JAMAK_API_KEY`, or a file, made now if there is none yet.

    Raises OSError where none can be kept.
    """
    if given := os.environ.get(KEY_VARIABLE, "").strip():
        return given, KEY_VARIABLE
    return kept_key(key_path()), str(key_path())


def kept_key(path: Path) -> str:
    """Return the key in the file `path`, which is made if there is none yet. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        if kept := path.read_text(encoding="ascii", errors="ignore").strip():
            return kept
        # Whoever made it was ended before it was written.
        file = os.open(path, os.O_WRONLY | os.O_TRUNC)
    key = "jamak-" + secrets.token_urlsafe(32)
    with os.fdopen(file, "w", encoding="ascii") as written:
        written.write(key + "\n")
    return key
