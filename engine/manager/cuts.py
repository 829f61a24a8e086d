"""Where text that comes in tokens may be cut: between characters, and words where there are spaces; pure."""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from engine.adapters.words import TimedPiece, group_words

_WITHIN_WORDS: Final = frozenset("'’-‐‑/.,:@_")
"""Marks that may go on as part of the word before them ("don't", "3.5"): known only by what follows."""


def legal_cuts(texts: Sequence[bytes]) -> list[bool]:
    """Return for each position, from before the first text to behind the last, if it is a legal cut.

    `texts` are the bytes of tokens. A cut never parts the bytes of a character, a grapheme cluster, or
    a word of a script with spaces. It may part a word from the mark behind it. Behind the last token
    nothing is known yet, so there only the character must be whole.
    """
    ends, is_whole = _character_ends(texts)
    joined = b"".join(texts).decode(errors="replace")
    words = group_words([TimedPiece(text, 0.0, 1.0, 0.0) for text in texts if text], 0.0, 1.0)
    borders = {0, *accumulate(len(word.text) for word in words)}
    return [
        whole and (end in borders or end == len(joined) or _ends_word(joined, end))
        for end, whole in zip(ends, is_whole, strict=True)
    ]


def _character_ends(texts: Sequence[bytes]) -> tuple[list[int], list[bool]]:
    """Return how many characters are complete at each position, and whether no byte waits for others."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    ends, is_whole = [0], [True]
    for text in texts:
        ends.append(ends[-1] + len(decoder.decode(text)))
        is_whole.append(not decoder.getstate()[0])
    return ends, is_whole


def _ends_word(text: str, end: int) -> bool:
    """Say whether a space follows, or punctuation that ends the word before it."""
    mark = text[end]
    if mark.isspace():
        return True
    if unicodedata.category(mark)[0] != "P":
        return False
    return mark not in _WITHIN_WORDS or end + 1 == len(text) or text[end + 1].isspace()
