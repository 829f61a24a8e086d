"""Keeps the computer from going to sleep while work runs; does nothing where that cannot be asked."""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Final

log = logging.getLogger(__name__)

Release = Callable[[], None]
Inhibit = Callable[[str], Release | None]
"""Ask for wakefulness for a reason; the answer ends it. None = not to be had this way."""

_CONTINUOUS: Final = 0x8000_0000
_SYSTEM_REQUIRED: Final = 0x0000_0001


class KeepAwake:
    """Awake between `hold` and `release`. Called from one thread."""

    def __init__(self, inhibitors: tuple[Inhibit, ...] | None = None) -> None:
        """`inhibitors` None: the ways of this system that need no window."""
        self._inhibitors = inhibitors if inhibitors is not None else system_inhibitors()
        self._release: Release | None = None

    @property
    def is_held(self) -> bool:
        """Whether the system has promised to stay awake."""
        return self._release is not None

    def hold(self, reason: str = "") -> None:
        """Keep the computer awake from now on; repeating it changes nothing."""
        if self._release is None:
            answers = (inhibit(reason) for inhibit in self._inhibitors)
            self._release = next((answer for answer in answers if answer is not None), None)

    def release(self) -> None:
        """Let it sleep again; repeating it changes nothing."""
        if self._release is not None:
            self._release()
            self._release = None


def system_inhibitors() -> tuple[Inhibit, ...]:
    """Return the ways of this system, the best first."""
    if sys.platform == "win32":
        return (_ask_windows,)
    if sys.platform == "darwin":
        return (_ask_caffeinate,)
    return (_ask_logind,)


def _ask_windows(_reason: str) -> Release | None:
    """https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-setthreadexecutionstate"""
    kernel32 = getattr(ctypes, "windll").kernel32  # noqa: B009 - only there on Windows
    if not kernel32.SetThreadExecutionState(_CONTINUOUS | _SYSTEM_REQUIRED):
        return None
    return lambda: kernel32.SetThreadExecutionState(_CONTINUOUS)


def _ask_caffeinate(_reason: str) -> Release | None:
    return _hold_child(["caffeinate", "-i", "-w", str(os.getpid())])


def _ask_logind(reason: str) -> Release | None:
    """systemd-inhibit holds the lock as long as its child lives, and `cat` as long as we do."""
    why = f"--why={reason or 'Transcribing'}"
    return _hold_child(["systemd-inhibit", "--what=idle:sleep", "--who=Jamak", why, "--mode=block", "cat"])


def _hold_child(command: list[str]) -> Release | None:
    program = shutil.which(command[0])
    if program is None:
        return None
    nowhere = subprocess.DEVNULL
    try:
        # Ctrl-C in a terminal is not for the lock: what was heard is still being written down.
        child = subprocess.Popen(
            [program, *command[1:]],
            stdin=subprocess.PIPE,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
        )
    except OSError:
        return None

    def release() -> None:
        if child.stdin is not None:
            child.stdin.close()
        child.terminate()
        child.wait()

    return release
