"""Folders that nobody but the user can enter: home of sockets, locks and keys."""

from __future__ import annotations

import getpass
import hashlib
import os
import tempfile
from pathlib import Path


def make_private_folder(folder: Path) -> Path:
    """Create `folder` (mode 0700) or close it to others. Raises OSError where it is somebody else's.

    On Windows the user's own folders are private by inheritance, and nothing is changed.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if os.name == "posix":
        facts = folder.stat(follow_symlinks=False)
        if facts.st_uid != os.getuid():
            raise PermissionError(f"{folder} belongs to somebody else")
        if facts.st_mode & 0o077:
            folder.chmod(0o700)
    return folder


def short_private_folder(folder: Path, *, make: bool = True) -> Path:
    """Return the folder that stands in for `folder` where its path is too long for a socket."""
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
    short = Path(tempfile.gettempdir()) / f"jamak-{getpass.getuser()}-{digest}"
    return make_private_folder(short) if make else short
