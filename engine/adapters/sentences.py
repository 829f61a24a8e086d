"""Finds where sentences end in text that comes in tokens, and how long text takes to say; pure."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Final

LONG_S: Final = 12.0
"""A sentence that takes longer to say is cut at a clause, or else at a word."""
_CLAUSE_S: Final = 4.0
"""No part that is cut off at a clause is shorter."""

# A full stop ends a sentence before a space, other marks of Latin scripts likewise; those of scripts
# without spaces always do. Marks that close a quotation belong to what they close.
_END: Final = re.compile(r"(?:[.!?…؟۔।]+[\"'”’»)\]]*(?=\s)|[。！？｡．]+[\"'”’»)\]」』）】]*)\n*|\n+")
_CLAUSE: Final = re.compile(r"(?:[,;:،؛—–]+[\"'”’»)\]]*(?=\s)|[、，；：]+[\"'”’»)\]」』）】]*)")
_ABBREVIATION: Final = re.compile(
    r"(?:^|[\s(\"'“‘])(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|vs|etc|No|Nr|Abs|bzw|ca|Mme|Mlle|Sra|Dra)\.$"
)
"""What a full stop follows without ending a sentence: initials and titles."""

_LETTER_S: Final = 0.07
"""Read English has 14 letters and spaces a second; Korean 6 to 7 syllables, Mandarin 4 to 5."""
_CHARACTER_S: Final = (
    (0x1100, 0x11FF, 0.06),  # Hangul letters
    (0x3040, 0x30FF, 0.12),  # Kana
    (0x3400, 0x4DBF, 0.22),  # Han
    (0x4E00, 0x9FFF, 0.22),
    (0xAC00, 0xD7AF, 0.15),  # Hangul syllables
    (0xF900, 0xFAFF, 0.22),
    (0x20000, 0x3FFFF, 0.22),
)
_DIGIT_S: Final = 0.25


def sentences(pieces: Sequence[bytes]) -> list[range]:
    """Return the tokens of each sentence; together they are all tokens, in order.

    `pieces` are the tokens' bytes. A sentence too long to be read at once is several.
    """
    if not pieces:
        return []
    text = b"".join(pieces).decode(errors="surrogateescape")
    character_ends = list(accumulate(len(character.encode(errors="surrogateescape")) for character in text))
    whole = set(character_ends)
    # A token that ends inside a character is no place to cut.
    places = [(end, index) for index, end in enumerate(accumulate(map(len, pieces)), 1) if end in whole]
    ends = [end for end, _ in places]
    cuts = {places[bisect_left(ends, character_ends[cut - 1])][1] for cut in _cuts(text)}
    # Marks or spaces alone are the end of what was said before.
    bounds = sorted({0, len(pieces)} | {cut for cut in cuts if _sounds(b"".join(pieces[cut:]))})
    return [range(first, last) for first, last in pairwise(bounds)]


def spoken_s(text: str) -> float:
    """Return about how long `text` takes to say, in seconds; marks take no time, spaces a letter's."""
    return sum(map(_character_s, text))


def _cuts(text: str) -> Iterator[int]:
    """Yield the offsets behind which a part of `text` begins anew, in order."""
    start = 0
    for match in _END.finditer(text):
        if _ends_sentence(text, match):
            yield from _clauses(text, start, match.end())
            yield match.end()
            start = match.end()
    yield from _clauses(text, start, len(text))


def _ends_sentence(text: str, match: re.Match[str]) -> bool:
    if text[match.end() :].lstrip()[:1].islower():
        return False
    if match.group().rstrip("\"'”’»)]\n") != ".":
        return True
    return not _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start() + 1])


def _clauses(text: str, start: int, end: int) -> Iterator[int]:
    """Yield where to cut text[start:end] so that no part is too long to be read at once."""
    while spoken_s(text[start:end]) > LONG_S:
        candidates = [match.end() for match in _CLAUSE.finditer(text, start, end)]
        cut = _last_within(text, start, end, candidates, at_least_s=_CLAUSE_S)
        if cut is None:
            spaces = [match.start() for match in re.finditer(r"\s", text[start:end])]
            cut = _last_within(text, start, end, [start + place for place in spaces], at_least_s=_CLAUSE_S)
        if cut is None:
            characters = range(start + 1, end)
            cut = _last_within(text, start, end, characters, at_least_s=0.0)
        if cut is None:
            return
        yield cut
        start = cut


def _last_within(
    text: str, start: int, end: int, candidates: Sequence[int], *, at_least_s: float
) -> int | None:
    """Return the last of `candidates` that leaves a part of legal length before it, and one behind it."""
    found = None
    for place in candidates:
        length_s = spoken_s(text[start:place])
        if length_s > LONG_S:
            break
        if length_s >= at_least_s and any(map(str.isalnum, text[place:end])):
            found = place
    return found


def _character_s(character: str) -> float:
    if character.isascii():
        if character.isdigit():
            return _DIGIT_S
        return _LETTER_S if character.isalpha() or character == " " else 0.0
    code = ord(character)
    for first, last, seconds in _CHARACTER_S:
        if first <= code <= last:
            return seconds
    return _LETTER_S if unicodedata.category(character)[0] in "LN" else 0.0


def _sounds(text: bytes) -> bool:
    return any(map(str.isalnum, text.decode(errors="replace")))
