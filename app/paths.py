"""Where the app's files are, also when it is frozen into one program."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path

from engine.config import data_folder, runtime_folder


def library_path() -> Path:
    """The database of recordings and transcripts."""
    return data_folder() / "library.db"


def settings_path() -> Path:
    """The file of the user's choices."""
    return data_folder() / "settings.json"


def instance_address() -> str:
    """The local server by which a second start finds the first; one per user and data folder."""
    if sys.platform == "win32":
        return "jamak-" + hashlib.sha256(str(data_folder()).encode()).hexdigest()[:16]
    return str(runtime_folder() / "window.sock")


def instance_lock_path() -> Path:
    """The file whose lock the first instance holds."""
    return runtime_folder() / "window.lock"


def resource(name: str) -> Path:
    """Return the path of a file that ships with the program (`icons/jamak.svg`, `sample.flac`)."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parent.parent
    return root / "resources" / name
