"""Merges what two chunks heard of the stretch they share, so that no word is lost or said twice; pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final

import msgspec

from engine.protocol.transcript import Segment, TimeSource, Word, least_sure

_SLACK_S: Final = 0.5
"""Measured times of words are off by less than this."""
_ESTIMATE_SLACK: Final = 0.25
"""Estimated ones by less than this part of their segment: some words are spoken faster than others."""
_SHORTEST_LONE_MATCH: Final = 3
"""Characters of a single word that is believed to be the same one; "a" is everywhere."""

# Scripts without spaces are compared character by character (with the punctuation that follows).
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
)
_UNIT: Final = re.compile(rf"\s*[{_UNSPACED}][^\w\s]*|\s*[^\s{_UNSPACED}]+|\s+")


@dataclass(frozen=True, slots=True)
class Stitched:
    """The segments of both chunks, each said once, and the time at which the second takes over."""

    first: tuple[Segment, ...]
    second: tuple[Segment, ...]
    cut_s: float


def stitch(
    first: Sequence[Segment], second: Sequence[Segment], *, overlap_start_s: float, overlap_end_s: float
) -> Stitched:
    """Cut the end of `first` and the start of `second` where they say the same.

    Where they agree on nothing, the middle of the overlap decides (the quietest point around: the
    forced cut was put there). Text is only ever left out, never changed. All times are the recording's.
    """
    ending = _units(first)
    beginning = _units(second)
    num_before = sum(unit.middle_s + unit.slack_s < overlap_start_s for unit in ending)
    num_shared = sum(unit.middle_s - unit.slack_s <= overlap_end_s for unit in beginning)
    agreed = _agreement([u.key for u in ending[num_before:]], [u.key for u in beginning[:num_shared]])
    middle_s = (overlap_start_s + overlap_end_s) / 2
    if agreed is not None:
        num_kept, num_dropped = num_before + agreed[0], agreed[1]
    else:
        num_kept = sum(unit.middle_s < middle_s for unit in ending)
        num_dropped = sum(unit.middle_s < middle_s for unit in beginning)
    cut_s = beginning[num_dropped].start_s if num_dropped < len(beginning) else overlap_end_s
    return Stitched(
        first=_rebuild(first, ending[:num_kept]),
        second=_rebuild(second, beginning[num_dropped:]),
        cut_s=min(max(cut_s, overlap_start_s), overlap_end_s),
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """The smallest part of a text that may be kept or left out: a word, or a character."""

    segment: int
    text: str
    start_s: float
    end_s: float
    slack_s: float
    word: Word | None

    @property
    def middle_s(self) -> float:
        return (self.start_s + self.end_s) / 2

    @property
    def key(self) -> str:
        """What must be equal for two units to be the same word: letters and digits, without case."""
        plain = unicodedata.normalize("NFKC", self.text).casefold()
        return "".join(c for c in plain if c.isalnum() or unicodedata.combining(c))


def _units(segments: Sequence[Segment]) -> list[_Unit]:
    units: list[_Unit] = []
    for index, segment in enumerate(segments):
        if "".join(word.text for word in segment.words) == segment.text:
            units += [_Unit(index, w.text, w.start, w.end, _SLACK_S, w) for w in segment.words]
            continue
        slack_s = _SLACK_S + _ESTIMATE_SLACK * (segment.end - segment.start)
        position = 0
        per_character_s = (segment.end - segment.start) / max(1, len(segment.text))
        for text in _UNIT.findall(segment.text):
            start_s = segment.start + position * per_character_s
            position += len(text)
            end_s = segment.start + position * per_character_s
            units.append(_Unit(index, text, start_s, end_s, slack_s, None))
    return units


def _agreement(ending: list[str], beginning: list[str]) -> tuple[int, int] | None:
    """Return how many units to keep of `ending` and to drop of `beginning`, or None if nothing agrees.

    The cut lies within the longest run of equal words: what stands at the very edge of a chunk was
    heard with half its sound.
    """
    match = SequenceMatcher(None, ending, beginning, autojunk=False).find_longest_match()
    letters = sum(map(len, ending[match.a : match.a + match.size]))
    if not letters or (match.size == 1 and letters < _SHORTEST_LONE_MATCH):
        return None
    num_from_first = (match.size + 1) // 2
    return match.a + num_from_first, match.b + num_from_first


def _rebuild(segments: Sequence[Segment], kept: list[_Unit]) -> tuple[Segment, ...]:
    """Return `segments` with only the units in `kept`; ids do not survive a cut through a segment."""
    rebuilt = []
    for index, segment in enumerate(segments):
        units = [unit for unit in kept if unit.segment == index]
        text = "".join(unit.text for unit in units)
        if text == segment.text:
            rebuilt.append(segment)
        elif text.strip():
            words = tuple(unit.word for unit in units if unit.word is not None)
            ends = [words[0].time_source, words[-1].time_source] if words else [TimeSource.INTERPOLATED]
            rebuilt.append(
                msgspec.structs.replace(
                    segment,
                    start=units[0].start_s,
                    end=units[-1].end_s,
                    text=text,
                    words=words,
                    tokens=(),
                    token_logprobs=(),
                    time_source=least_sure(ends),
                )
            )
    return tuple(rebuilt)
