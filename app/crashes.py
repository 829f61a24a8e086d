"""The last net: what nobody caught becomes one sentence for the user and a trace in a file."""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Final, TextIO

from app.texts import tr
from engine.config import log_folder
from engine.traces import anonymous_trace

EXIT_CRASHED: Final = 1
EXIT_MISUSED: Final = 2
EXIT_INTERRUPTED: Final = 130
EXIT_PIPE_CLOSED: Final = 141
"""128 + SIGPIPE, as a shell says it."""
MAX_BYTES: Final = 200_000
"""Of the file of traces; what was in it before is kept once more beside it."""


def guarded(action: Callable[[], int]) -> int:
    """Return what `action` returns; whatever it raises, no trace reaches the terminal."""
    try:
        exit_code = action()
        if sys.stdout is not None:  # as in a program without a console
            sys.stdout.flush()
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has had enough (`| head`). Python would complain again when it flushes at exit.
        with contextlib.suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PIPE_CLOSED
    except Exception as error:
        path = write_down(anonymous_trace(error))
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write("jamak: " + tr("cli_crashed", path=path) + "\n")
        return EXIT_CRASHED
    return exit_code


class CrashWatch:
    """Writes down what would be lost in a program without a terminal, from `begin` to `end`.

    That is what a slot or a thread raises, and, told at the next start, where the process was when
    the system ended it for a fault.
    """

    def __init__(self, on_crash: Callable[[], None] = lambda: None) -> None:
        """`on_crash` is called on the thread that raised."""
        self._on_crash = on_crash
        self._hooks = sys.excepthook, threading.excepthook
        self._faults: TextIO | None = None

    def begin(self) -> None:
        """Watch from now on."""
        sys.excepthook = self._on_exception
        threading.excepthook = lambda told: (
            self._write(told.exc_value) if told.exc_value is not None else None
        )
        with contextlib.suppress(OSError):
            self._faults = _open_faults(log_folder() / "fault.log")
            faulthandler.enable(self._faults)

    def end(self) -> None:
        """Watch no more; harmless when repeated."""
        sys.excepthook, threading.excepthook = self._hooks
        if self._faults is not None:
            faulthandler.disable()
            self._faults.close()
            self._faults = None

    def _on_exception(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        if isinstance(error, KeyboardInterrupt):
            self._hooks[0](kind, error, trace)
        else:
            self._write(error)

    def _write(self, error: BaseException) -> None:
        write_down(anonymous_trace(error))
        self._on_crash()


def write_down(trace: str) -> str:
    """Append a trace to the file of traces, and return that file's path."""
    path = log_folder() / "crash.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and path.stat().st_size > MAX_BYTES:
            path.replace(path.with_name("crash.log.1"))
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{trace}\n")
    except OSError:
        return os.devnull
    return str(path)


def _open_faults(path: Path) -> TextIO:
    """Open the file a fault is written to, after what is in it from the last run was written down."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and (last := path.read_text(encoding="utf-8", errors="replace").strip()):
        write_down(last)
    return path.open("w", encoding="utf-8")
