"""The last net: what nobody caught becomes one sentence for the user and a trace in a file."""

from __future__ import annotations

import contextlib
import os
import sys
import time
import traceback
from collections.abc import Callable
from typing import Final

from app.texts import tr
from engine.config import log_folder

EXIT_CRASHED: Final = 1
EXIT_INTERRUPTED: Final = 130
EXIT_PIPE_CLOSED: Final = 141
"""128 + SIGPIPE, as a shell says it."""


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
    except Exception:
        path = _write_down(traceback.format_exc())
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.stderr.write("jamak: " + tr("cli_crashed", path=path) + "\n")
        return EXIT_CRASHED
    return exit_code


def _write_down(trace: str) -> str:
    path = log_folder() / "crash.log"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{time.strftime('%Y-%m-%d %H:%M:%S')}\n{trace}\n")
    except OSError:
        return os.devnull
    return str(path)
