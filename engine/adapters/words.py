"""Timed pieces of text become words: bytes into characters, characters into words with their punctuation.

As in the reference (openai/whisper, timing.py) marks join the word they stand at and take next to no
time of their own. Otherwise the script decides, not the language: words end at spaces, except in
scripts that have none, where each piece of whole characters is a word ("Tokyo 東京" keeps both kinds).
"""

from __future__ import annotations

import codecs
import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from engine.protocol.transcript import TimeSource, Word, after_move, least_sure

OPENING_MARKS: Final = frozenset("([{“‘「『（［〈《【¿¡")
MIN_WORD_S: Final = 0.02
"""One step of the model's attention."""
MARK_S: Final = 0.25
"""A word before a pause sounds this much longer than it is attended to: without it, the ends of sentences
were 0.28 s early at the median over ten minutes of read speech, with it 0.05 s off."""

_SPACELESS: Final = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x0FFF),  # Tibetan
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x3400, 0x4DBF),  # Han, extension A
    (0x4E00, 0x9FFF),  # Han
    (0xF900, 0xFAFF),  # Han, compatibility
    (0x20000, 0x3FFFF),  # Han, further extensions
)


class TimedPiece(NamedTuple):
    """One id's bytes, when it was said, and how likely it was."""

    text: bytes
    start_s: float
    end_s: float
    logprob: float
    source: TimeSource = TimeSource.MODEL


@dataclass(slots=True)
class _Group:
    """Whole characters that belong together, and when those among them that sound were said."""

    text: str
    start_s: float
    end_s: float
    logprobs: list[float]
    source: TimeSource

    @property
    def num_pieces(self) -> int:
        return len(self.logprobs)

    def clip(self, start_s: float, end_s: float) -> None:
        """Cut off what lies outside of a segment, whose times are as good; what lies there whole stays."""
        if self.start_s < end_s and self.end_s > start_s:
            self.start_s, self.end_s = max(self.start_s, start_s), min(self.end_s, end_s)

    def absorb(self, other: _Group) -> None:
        """Append `other`; of a mark's time, which fills the pause behind the word, only the beginning."""
        if not _sounds(self.text):
            self.start_s, self.end_s = other.start_s, other.end_s
            self.source = other.source
        else:
            end_s = other.end_s if _sounds(other.text) else min(other.end_s, self.end_s + MARK_S)
            self.end_s = max(self.end_s, end_s)
            if _sounds(other.text):
                self.source = least_sure((self.source, other.source))
        self.text += other.text
        self.logprobs += other.logprobs


def group_words(pieces: Sequence[TimedPiece], start_s: float, end_s: float) -> tuple[Word, ...]:
    """Return the words of a segment in order, inside [start_s, end_s), none of zero length.

    Their texts joined are the pieces' text. Times outside the segment are moved into it, and are no
    longer those of a model then.
    """
    groups = _merge_words(_merge_characters(pieces))
    for group in groups:
        group.clip(start_s, end_s)
    spans = spread([(group.start_s, group.end_s) for group in groups], start_s, end_s)
    return tuple(
        Word(
            text=group.text,
            start=span[0],
            end=span[1],
            probability=math.exp(sum(group.logprobs) / len(group.logprobs)),
            time_source=after_move(group.source, (group.start_s, group.end_s), span),
        )
        for group, span in zip(groups, spans, strict=True)
    )


def word_sizes(pieces: Sequence[bytes]) -> list[int]:
    """Return how many of `pieces`, none of them empty, each word is made of; see `group_words`."""
    groups = _merge_words(_merge_characters([TimedPiece(piece, 0.0, 0.0, 0.0) for piece in pieces]))
    return [group.num_pieces for group in groups]


def spread(spans: Sequence[tuple[float, float]], start_s: float, end_s: float) -> list[tuple[float, float]]:
    """Return the spans in order and apart inside [start_s, end_s), `MIN_WORD_S` or longer if that fits."""
    if not spans:
        return []
    least_s = min(MIN_WORD_S, (end_s - start_s) / len(spans))
    starts: list[float] = []
    for index, (start, _) in enumerate(spans):
        earliest_s = starts[-1] + least_s if starts else start_s
        latest_s = end_s - (len(spans) - index) * least_s
        starts.append(max(earliest_s, min(start, latest_s)))
    limits = [*starts[1:], end_s]
    return [
        # The sum may be a rounding error beyond the limit.
        (start, min(limit, max(start + least_s, end)))
        for start, (_, end), limit in zip(starts, spans, limits, strict=True)
    ]


def is_cut(text: bytes) -> bool:
    """True if `text` ends inside a character, which more bytes could complete."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(text)
    return bool(decoder.getstate()[0])


def _merge_characters(pieces: Sequence[TimedPiece]) -> list[_Group]:
    """Join pieces until they are whole characters; bytes that never complete one read as U+FFFD."""
    groups: list[_Group] = []
    waiting = b""
    for index, piece in enumerate(pieces):
        if waiting:
            groups[-1].end_s = max(groups[-1].end_s, piece.end_s)
            groups[-1].logprobs.append(piece.logprob)
            groups[-1].source = least_sure((groups[-1].source, piece.source))
        else:
            groups.append(_Group("", piece.start_s, piece.end_s, [piece.logprob], piece.source))
        waiting += piece.text
        if index == len(pieces) - 1 or not is_cut(waiting):
            groups[-1].text = waiting.decode(errors="replace")
            waiting = b""
    return [group for group in groups if group.text]


def _merge_words(groups: Sequence[_Group]) -> list[_Group]:
    words: list[_Group] = []
    for group in groups:
        if words and _continues(words[-1].text, group.text):
            words[-1].absorb(group)
        else:
            words.append(group)
    if len(words) > 1 and not _sounds(words[-1].text):
        words[-2].absorb(words.pop())
    return words


def _continues(word: str, text: str) -> bool:
    """True if `text` belongs to the word before it."""
    if not _sounds(word) or unicodedata.category(text[0])[0] == "M":
        return True
    if text[0].isspace():
        return False
    if not _sounds(text):
        return text[0] not in OPENING_MARKS or not is_spaceless(_last_sound(word))
    return not is_spaceless(text[0]) and not is_spaceless(_last_sound(word))


def _sounds(text: str) -> bool:
    """True if there is more in `text` than spaces, punctuation and symbols."""
    return any(_is_sound(char) for char in text)


def _last_sound(word: str) -> str:
    return next(char for char in reversed(word) if _is_sound(char))


def _is_sound(char: str) -> bool:
    return unicodedata.category(char)[0] not in "PSZC"


def is_spaceless(char: str) -> bool:
    """True in scripts that write words without spaces between them."""
    return any(first <= ord(char) <= last for first, last in _SPACELESS)
