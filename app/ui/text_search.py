"""Finds a query in the rows of a transcript and keeps the place of the current match; no Qt."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import Final, NamedTuple

_BETWEEN_ROWS: Final = "\0"
"""In no transcript, and not white space: no match goes across it."""


class Match(NamedTuple):
    """One place where the query stands: characters `[start, end)` of the text of `row`."""

    row: int
    start: int
    end: int


class TextSearch:
    """All matches of one query, in reading order, with one of them current.

    Case does not matter; any white space matches any other, so a query may cross a line break.
    """

    def __init__(self) -> None:
        self._pattern: re.Pattern[str] | None = None
        self._matches: list[Match] = []
        self._current: int | None = None
        self.query = ""

    @property
    def matches(self) -> list[Match]:
        """Every match, in reading order."""
        return self._matches

    @property
    def current(self) -> Match | None:
        """The match that next and previous count from."""
        return None if self._current is None else self._matches[self._current]

    @property
    def position(self) -> int:
        """One-based number of the current match; 0 without one."""
        return 0 if self._current is None else self._current + 1

    def start(self, query: str, texts: Iterable[str], *, from_row: int = 0) -> None:
        """Look for `query` in `texts`; the first match at or behind `from_row` becomes current."""
        self.query = query
        self._pattern = _pattern(query)
        self._matches = _find(self._pattern, list(texts)) if self._pattern else []
        at = bisect_left(self._matches, Match(from_row, 0, 0))
        self._current = at % len(self._matches) if self._matches else None

    def row_changed(self, row: int, text: str) -> None:
        """Look again in one row, because its text is new or has changed; the place is kept."""
        current = self.current
        old = self.in_row(row)
        new = self._in_row(row, text)
        if old == new:
            return
        first = bisect_left(self._matches, Match(row, 0, 0))
        del self._matches[first : first + len(old)]
        for match in new:
            insort(self._matches, match)
        if not self._matches:
            self._current = None
        elif current is not None:
            self._current = min(bisect_left(self._matches, current), len(self._matches) - 1)
        else:
            self._current = 0

    def in_row(self, row: int) -> list[Match]:
        """Return the matches within `row`."""
        first = bisect_left(self._matches, Match(row, 0, 0))
        last = bisect_left(self._matches, Match(row + 1, 0, 0))
        return self._matches[first:last]

    def step(self, by: int) -> Match | None:
        """Move the current match by `by`, around the ends, and return it."""
        if self._current is not None:
            self._current = (self._current + by) % len(self._matches)
        return self.current

    def _in_row(self, row: int, text: str) -> list[Match]:
        if self._pattern is None:
            return []
        return [Match(row, *found.span()) for found in self._pattern.finditer(_folded(text))]


def _find(pattern: re.Pattern[str], texts: list[str]) -> list[Match]:
    """Find `pattern` in all rows at once: one search of a megabyte is quicker than many of a line."""
    whole = _folded(_BETWEEN_ROWS.join(texts))
    matches = []
    row, begins, ends = -1, 0, -1
    for found in pattern.finditer(whole):
        start, end = found.span()
        while start > ends:
            row += 1
            begins = ends + 1
            ends = begins + len(texts[row])
        matches.append(Match(row, start - begins, end - begins))
    return matches


def _pattern(query: str) -> re.Pattern[str] | None:
    # Keyboards may compose a letter from parts (macOS does for Korean); transcripts are composed.
    words = _folded(unicodedata.normalize("NFC", query)).split()
    if not words:
        return None
    return re.compile(r"\s+".join(map(re.escape, words)))


def _folded(text: str) -> str:
    """Return `text` in small letters, every one in its old place."""
    folded = text.lower()
    if len(folded) != len(text):
        # A few letters (the Turkish dotted capital I) become two: they are left as they are.
        folded = "".join(small if len(small := letter.lower()) == 1 else letter for letter in text)
    return folded.replace("ς", "σ")
