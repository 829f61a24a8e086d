"""Where the app's files are, also when it is frozen into one program."""

from __future__ import annotations

import hashlib
import os
import sys
from datetime import datetime
from pathlib import Path

import platformdirs

from engine.config import data_folder, runtime_folder


def library_path() -> Path:
    """The database of recordings and transcripts."""
    return data_folder() / "library.db"


def settings_path() -> Path:
    """The file of the user's choices."""
    return data_folder() / "settings.json"


def starts_path() -> Path:
    """The file that counts failed starts of the window."""
    return data_folder() / "starts.json"


def instance_address() -> str:
    """The local server by which a second start finds the first; one per user and data folder."""
    if sys.platform == "win32":
        return "jamak-" + hashlib.sha256(str(data_folder()).encode()).hexdigest()[:16]
    return str(runtime_folder() / "window.sock")


def instance_lock_path() -> Path:
    """The file whose lock the first instance holds."""
    return runtime_folder() / "window.lock"


def recordings_folder(chosen: str = "") -> Path:
    """Where recordings are kept: as `chosen`, or else in `JAMAK_RECORDINGS_DIR` or a folder of ours."""
    if chosen:
        # Not Path's: that raises for a user nobody knows.
        return Path.home() / os.path.expanduser(chosen)  # noqa: PTH111
    return Path(os.environ.get("JAMAK_RECORDINGS_DIR") or platformdirs.user_documents_path() / "Jamak")


def new_recording_path(folder: Path, began: datetime) -> Path:
    """Return a path in `folder` named by date and time that no file has; colons are not for every disk."""
    stem = began.strftime("%Y-%m-%d %H.%M.%S")
    path = folder / f"{stem}.wav"
    number = 2
    # Not Path's: that raises for a folder that may not be looked into.
    while os.path.exists(path):  # noqa: PTH110
        path = folder / f"{stem} ({number}).wav"
        number += 1
    return path


def resource(name: str) -> Path:
    """Return the path of a file that ships with the program (`icons/jamak.svg`, `sample.flac`)."""
    frozen = getattr(sys, "_MEIPASS", None)
    root = Path(frozen) if frozen else Path(__file__).resolve().parent.parent
    return root / "resources" / name
