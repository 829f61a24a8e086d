"""Traces of exceptions that tell where something failed, and no value: that may be somebody's words."""

from __future__ import annotations

import re
import traceback
from typing import Final

_QUOTED: Final = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|“[^”\n]*”|‘[^’\n]*’")


def without_quoted(text: str) -> str:
    """Return `text` with "…" for everything in quotes: that is where messages put values."""
    return _QUOTED.sub("…", text)


def anonymous_trace(error: BaseException) -> str:
    """Return where `error` came from and of which type it is; of its message, what holds no values."""
    lines = []
    for line in traceback.TracebackException.from_exception(error).format(chain=True):
        is_frame = line.startswith(("  File ", "Traceback ", "\n"))
        lines.append(line if is_frame else without_quoted(line))
    return "".join(lines)
