"""Which places of a recording are not what was said there, put together from many small pieces; pure."""

from __future__ import annotations

from typing import NamedTuple

from app.capture.notices import Mark, MarkKind


class _Open(NamedTuple):
    kind: MarkKind
    start: int
    end: int


class MarkBook:
    """Joins pieces that touch; a mark is handed out once nothing can join it any more."""

    def __init__(self, rate_hz: int) -> None:
        self._rate_hz = rate_hz
        self._open: _Open | None = None
        self._closed: list[Mark] = []

    def add(self, kind: MarkKind, start: int, end: int) -> None:
        """Mark samples `[start, end)`, at or behind everything marked before."""
        if self._open is not None and self._open.kind is kind and self._open.end == start:
            self._open = self._open._replace(end=end)
            return
        self.close()
        self._open = _Open(kind, start, end)

    def reach(self, sample: int) -> None:
        """Know that the recording goes up to `sample`: a mark that ended before is complete."""
        if self._open is not None and self._open.end < sample:
            self.close()

    def close(self) -> None:
        """Nothing joins the last mark."""
        if self._open is not None:
            kind, start, end = self._open
            self._closed.append(Mark(kind=kind, start=start / self._rate_hz, end=end / self._rate_hz))
            self._open = None

    def take(self) -> list[Mark]:
        """Hand out the complete marks, each once."""
        taken, self._closed = self._closed, []
        return taken
