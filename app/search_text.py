"""How text is folded for searching, so that a match can be shown where it stands; pure."""

from __future__ import annotations

import unicodedata
from typing import Final

MIN_INDEXED: Final = 3
"""Characters of the shortest term that a trigram index finds; shorter ones are looked for one by one."""

_BEFORE: Final = 30
_SNIPPET: Final = 120


def fold(text: str) -> str:
    """Return `text` without differences of case, width and composition."""
    return "".join(_fold_character(c) for c in unicodedata.normalize("NFC", text))


def terms(query: str) -> list[str]:
    """Return the folded words of a query, each of which must be found."""
    return fold(query).split()


def excerpt(text: str, wanted: list[str]) -> tuple[str, tuple[tuple[int, int], ...]]:
    """Return the part of `text` around the first match, and where the matches stand in it."""
    text = unicodedata.normalize("NFC", text.strip())
    matches = _matches(text, wanted)
    first = matches[0][0] if matches else 0
    begin = max(0, first - _BEFORE) if len(text) > _SNIPPET else 0
    snippet = text[begin : begin + _SNIPPET]
    lead = "…" if begin else ""
    trail = "…" if begin + _SNIPPET < len(text) else ""
    shift = len(lead) - begin
    shown = tuple((a + shift, b + shift) for a, b in matches if b <= begin + _SNIPPET)
    return lead + snippet + trail, shown


def _matches(text: str, wanted: list[str]) -> list[tuple[int, int]]:
    """Ranges of `text` that fold to a term, in order, without overlaps."""
    origin: list[int] = []
    pieces: list[str] = []
    for index, character in enumerate(text):
        piece = _fold_character(character)
        pieces.append(piece)
        origin.extend([index] * len(piece))
    folded = "".join(pieces)
    found: set[tuple[int, int]] = set()
    for term in wanted:
        at = folded.find(term)
        while at >= 0:
            found.add((origin[at], origin[at + len(term) - 1] + 1))
            at = folded.find(term, at + len(term))
    return _without_overlaps(sorted(found))


def _without_overlaps(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for begin, end in ranges:
        if kept and begin < kept[-1][1]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]))
        else:
            kept.append((begin, end))
    return kept


def _fold_character(character: str) -> str:
    return unicodedata.normalize("NFKC", character).casefold()
