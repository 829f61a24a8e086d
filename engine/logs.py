"""One rotating log file for each process: what happened, never what was said or where it lies."""

from __future__ import annotations

import contextlib
import logging
import logging.handlers
import re
import time
from pathlib import Path
from typing import Any, Final

from engine.traces import anonymous_trace

MAX_BYTES: Final = 1_000_000
NUM_BACKUPS: Final = 2
NUM_KEPT: Final = 24
"""Log files that stay in the folder, backups included: restarted processes have names of their own."""


def start_logging(name: str, folder: Path, level: str) -> None:
    """Send this process's log to `folder`/`name`.log, in UTC; without the folder, to nowhere.

    Our own modules write from `level` on, others only what somebody should look at: what a library
    finds worth telling may hold paths.
    """
    logging.raiseExceptions = False
    handler: logging.Handler
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _drop_oldest(folder)
        handler = logging.handlers.RotatingFileHandler(
            folder / f"{_safe(name)}.log",
            maxBytes=MAX_BYTES,
            backupCount=NUM_BACKUPS,
            encoding="utf-8",
            delay=True,
        )
    except OSError:
        handler = logging.NullHandler()
    formatter = _Formatter("%(asctime)s %(levelname)s %(process)d %(threadName)s %(name)s: %(message)s")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    for ours in ("engine", "app"):
        logging.getLogger(ours).setLevel(level)


class _Formatter(logging.Formatter):
    """Leaves out what an exception says of the values it met."""

    def formatException(self, ei: Any) -> str:
        return anonymous_trace(ei[1]).rstrip()


def _safe(name: str) -> str:
    return re.sub(r"[^\w.-]", "_", name)


def _drop_oldest(folder: Path) -> None:
    with contextlib.suppress(OSError):
        files = sorted(folder.glob("*.log*"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[NUM_KEPT:]:
            path.unlink(missing_ok=True)
