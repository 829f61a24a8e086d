"""Where the command line writes: results to stdout, the rest to stderr, a bar only on a terminal."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final, TextIO

from app.texts import failure_line
from engine.export import columns
from engine.protocol.failures import Failure

_BAR_COLUMNS: Final = 24
_REDRAW_S: Final = 0.1


class Console:
    """The two streams, and the one line of progress below what was written."""

    def __init__(self, out: TextIO, err: TextIO, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._out = out
        self._err = err
        self._clock = clock
        self._has_bar = err.isatty()
        self._is_drawn = False
        self._drawn_at_s = float("-inf")

    def now(self) -> float:
        """Seconds of the clock that the bar is drawn by."""
        return self._clock()

    @property
    def is_watched(self) -> bool:
        """Whether results and remarks are read by a person on one terminal."""
        return self._has_bar and self._out.isatty()

    def result(self, text: str) -> None:
        """Write part of the result to stdout, at once."""
        self.clear()
        self._out.write(text)
        self._out.flush()

    def note(self, text: str) -> None:
        """Write a line to stderr, if somebody sits there."""
        if self._has_bar:
            self._line(text)

    def complain(self, failure: Failure) -> None:
        """Write what went wrong, and the remedy, to stderr."""
        self._line(f"jamak: {failure_line(failure)}")

    def progress(self, title: str, fraction: float | None, remark: str = "") -> None:
        """Draw or redraw the bar, at most ten times a second."""
        now = self._clock()
        if not self._has_bar or now - self._drawn_at_s < _REDRAW_S:
            return
        self._drawn_at_s = now
        share = f"[{_bar(fraction)}] {int(fraction * 100):3} %  " if fraction is not None else ""
        tail = f"  {share}{remark}".rstrip()
        room = _width(self._err) - 1 - columns(tail)
        self._err.write("\r\x1b[K" + _shortened(title, max(room, 8)) + tail)
        self._err.flush()
        self._is_drawn = True

    def tail(self, text: str) -> None:
        """Show the end of `text` in the line of progress: what is being said, and may still change."""
        if not self._has_bar:
            return
        room = _width(self._err) - 1
        shown = text
        while columns(shown) > room:
            shown = shown[1:]
        self._err.write("\r\x1b[K" + shown)
        self._err.flush()
        self._is_drawn = True

    def tell(self, text: str) -> None:
        """Write a line to stderr, whoever reads it."""
        self._line(text)

    def clear(self) -> None:
        """Take the bar away."""
        if self._is_drawn:
            self._err.write("\r\x1b[K")
            self._err.flush()
            self._is_drawn = False
            self._drawn_at_s = float("-inf")

    def _line(self, text: str) -> None:
        self.clear()
        self._err.write(text + "\n")
        self._err.flush()


def _bar(fraction: float) -> str:
    full = int(fraction * _BAR_COLUMNS)
    return "#" * full + "-" * (_BAR_COLUMNS - full)


def _shortened(text: str, room: int) -> str:
    if columns(text) <= room:
        return text
    while text and columns(text) > room - 1:
        text = text[:-1]
    return text + "…"


def _width(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
