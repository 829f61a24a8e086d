"""One process of ours as its parent sees it: start, lifeline, last words, end."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

import msgspec

from engine.config import Settings
from engine.heap import with_large_pages

log = logging.getLogger(__name__)

NUM_LAST_LINES: Final = 20
LONGEST_LINE_BYTES: Final = 2000
_READS_MUCH: Final = frozenset({"scheduler"})
_UTF8: Final = {"PYTHONUTF8": "1", "PYTHONIOENCODING": "utf-8:backslashreplace"}


class Child:
    """This very program started again with `--role`; lives no longer than we hold its stdin open.

    Its methods may be called from any thread.
    """

    def __init__(self, role: str, settings: Settings) -> None:
        """Start the process and hand it its settings. Raises OSError."""
        self._process = subprocess.Popen(
            command(role),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=with_large_pages(environment()) if role in _READS_MUCH else environment(),
            **_apart(),
        )
        self.pid = self._process.pid
        self._lines: deque[str] = deque(maxlen=NUM_LAST_LINES)
        self._ended = threading.Event()
        self._listener = _start_thread(self._listen, f"listen-{role}")
        _start_thread(self._await_end, f"await-{role}")
        # One line, so that the child can read it and leave the pipe open. A child that has died
        # already tells its end as any other does.
        with contextlib.suppress(OSError):
            self._stdin.write(msgspec.json.encode(settings) + b"\n")
            self._stdin.flush()

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    def wait(self, timeout_s: float | None = None) -> int | None:
        """Return the exit code, negative for a signal; None if it still runs after `timeout_s`."""
        self._ended.wait(timeout_s)
        return self._process.returncode

    def last_words(self) -> str:
        """Return the last lines it has written to stdout or stderr: its traceback, if it had one."""
        # A grandchild may hold the pipe open after the child's end, so the end of it is not waited for.
        if self.has_ended:
            self._listener.join(0.5)
        return "\n".join(self._lines)

    def end_within(self, seconds: float) -> None:
        """Let go of its lifeline and return; it is killed if it has not ended in time."""
        self.let_go()
        if not self.has_ended:
            _start_thread(lambda: self._kill_after(seconds), f"end-{self.pid}")

    def let_go(self) -> None:
        """Close its stdin, which it takes as the word to end."""
        with contextlib.suppress(OSError):
            self._stdin.close()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        self._process.kill()
        self.let_go()

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def _kill_after(self, seconds: float) -> None:
        if self.wait(seconds) is None:
            self.kill()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        with contextlib.suppress(OSError, ValueError), self._process.stdout as stdout:
            while line := stdout.readline(LONGEST_LINE_BYTES):
                self._lines.append(line.decode("utf-8", "replace").rstrip())

    def _await_end(self) -> None:
        self._process.wait()
        self._ended.set()
        self.let_go()


def command(role: str) -> list[str]:
    """Return the command line of a process of ours, installed or frozen."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--role", role]
    # -P: a folder named `engine` where the user happens to stand must not be taken for ours.
    return [sys.executable, "-P", "-m", "engine", "--role", role]


def environment() -> dict[str, str]:
    """Ours, so that the child finds the same modules; its pipes speak UTF-8 on every platform."""
    if getattr(sys, "frozen", False):
        # It finds its libraries as we did, whatever has become of ours since:
        # https://pyinstaller.org/en/stable/common-issues-and-pitfalls.html (PYINSTALLER_RESET_ENVIRONMENT)
        return {**os.environ, "PYINSTALLER_RESET_ENVIRONMENT": "1", **_UTF8}
    home = str(Path(__file__).resolve().parent.parent)
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != home]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([home, *others]),
        **_UTF8,
    }


def _apart() -> dict[str, Any]:
    """Keep Ctrl-C in the user's terminal for the process that the user started; no console window."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"process_group": 0}


def _start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, daemon=True, name=name)
    thread.start()
    return thread
