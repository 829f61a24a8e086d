"""Which places of a recording are not what was said there, put together from many small pieces; pure."""

from __future__ import annotations

from typing import NamedTuple

from app.capture.notices import Mark, MarkKind


class _Open(NamedTuple):
    kind: MarkKind
    start: int
    end: int


class MarkBook:
    """Joins pieces that touch or overlap; a mark is handed out once nothing can join it any more.

    Marks of one kind are apart; those of different kinds may overlap, where there are two sources.
    """

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._open: list[_Open] = []
        self._floor = 0
        """The end of what was closed: nothing is marked before."""
        self._closed: list[Mark] = []

    def add(self, kind: MarkKind, start: int, end: int) -> None:
        """Mark samples `[start, end)`; what lies before a closed mark's end is left out."""
        start = max(start, self._floor)
        if end < start or (end == start and kind is not MarkKind.PAUSE):
            return
        for other in [
            one for one in self._open if one.kind is kind and one.start <= end and start <= one.end
        ]:
            self._open.remove(other)
            start, end = min(start, other.start), max(end, other.end)
        self._open.append(_Open(kind, start, end))

    def reach(self, sample: int) -> None:
        """Know that nothing before `sample` will be marked: a mark that ended before is complete."""
        for mark in [mark for mark in self._open if mark.end < sample]:
            self._open.remove(mark)
            self._close(mark)

    def close(self) -> None:
        """Nothing joins the last marks."""
        for mark in self._open:
            self._close(mark)
        self._open = []

    def take(self) -> list[Mark]:
        """Hand out the complete marks, each once."""
        taken, self._closed = self._closed, []
        return taken

    def _close(self, mark: _Open) -> None:
        self._floor = max(self._floor, mark.end)
        start, end = mark.start / self._rate_hz, mark.end / self._rate_hz
        self._closed.append(Mark(kind=mark.kind, start=start, end=end))
