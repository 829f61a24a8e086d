"""Where clients find the one engine that runs: two locks and a note in the private runtime folder.

The engine holds `engine.lock` for its whole life, so the system itself tells whether it lives, also
after a kill. Whoever looks for an engine holds `start.lock` while it looks and, where there is
none, starts one: two that come at the same moment start one engine. The files stay; only the locks
on them mean something.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from pathlib import Path
from typing import Final

import msgspec

from engine.private_folder import make_private_folder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NOTE_NAME: Final = "engine.json"
LOOK_S: Final = 0.01
NUM_TRIES: Final = 50
EXIT_NOT_ALONE: Final = 3
"""How an engine ends that finds another one alive: whoever started it goes to that one."""


class EngineNote(msgspec.Struct, frozen=True, kw_only=True):
    """What the running engine says of itself; readable for the user alone, as its address is a key."""

    pid: int
    address: str
    owner: str | None
    """The client whose end is the engine's; None once that client is gone and others are still served."""


class FileLock:
    """A lock between processes that the system takes back when its holder ends, however it ends."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def try_take(self) -> bool:
        """Take it unless somebody has it. Raises OSError where the file cannot be made."""
        file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if sys.platform == "win32":
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
            else:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(file)
            return False
        self._file = file
        return True

    def take_within(self, seconds: float) -> bool:
        """Take it as soon as it is free; False if it is not in time."""
        end_s = time.monotonic() + seconds
        while not self.try_take():
            if time.monotonic() > end_s:
                return False
            time.sleep(LOOK_S)
        return True

    def release(self) -> None:
        """Give it back, if we have it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


class Rendezvous:
    """The meeting place of one runtime folder."""

    def __init__(self, folder: Path) -> None:
        """Create the folder where it is missing. Raises OSError where it cannot be ours alone."""
        make_private_folder(folder)
        self.starting = FileLock(folder / "start.lock")
        self.living = FileLock(folder / "engine.lock")
        self._note_path = folder / NOTE_NAME

    def is_engine_alive(self) -> bool:
        """Say whether an engine runs. (A look takes the lock for a moment; engines try again.)"""
        if not self.living.try_take():
            return True
        self.living.release()
        return False

    def read(self) -> EngineNote | None:
        """Return the note of the engine that runs or ran last; None where there is none to read."""
        try:
            return msgspec.json.decode(self._note_path.read_bytes(), type=EngineNote)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def publish(self, note: EngineNote) -> None:
        """Put the note where clients look; whole or not at all. For the engine only. Raises OSError."""
        draft = self._note_path.with_suffix(f".{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(msgspec.json.encode(note))
        # On Windows a file that somebody is reading cannot be replaced; readers are quick.
        for _ in range(NUM_TRIES - 1):
            with contextlib.suppress(PermissionError):
                draft.replace(self._note_path)
                return
            time.sleep(LOOK_S)
        draft.replace(self._note_path)

    def withdraw(self) -> None:
        """Take the note away: this engine ends in order and is not to be attached to."""
        with contextlib.suppress(OSError):
            self._note_path.unlink(missing_ok=True)


def disown_engine(runtime_folder: str) -> None:
    """Note that our owner is gone and we stay for others, so that it does not wait for our end."""
    meeting = Rendezvous(Path(runtime_folder))
    note = meeting.read()
    if note is not None and note.pid == os.getpid():
        meeting.publish(msgspec.structs.replace(note, owner=None))
