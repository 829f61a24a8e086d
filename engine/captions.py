"""Cuts a transcript into captions that can be read: short lines, long enough, one at a time; pure."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import Final

import msgspec

from engine.protocol.transcript import Segment, Transcript

_SENTENCE_ENDS: Final = frozenset(".!?…。！？؟۔।")
_CLAUSE_ENDS: Final = frozenset(",;:、，；：،؛—")
NEVER_FIRST: Final = frozenset(
    "。、，．！？；：）］｝」』】〉》〕”’…‥ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ,.!?;:)]}%"
)
"""Characters that begin no line (kinsoku, JIS X 4051, and their Latin kin)."""
_NEVER_LAST: Final = frozenset("（［｛「『【〈《〔“‘([{")
_SHORTEST_MS: Final = 100
"""What a caption keeps when many begin at once."""


class SubtitleRules(msgspec.Struct, frozen=True, kw_only=True):
    """How captions are cut. Defaults as in broadcasters' guides: 42 columns, 16 full-width characters."""

    max_line_width: int = 42
    """Columns of a line; a full-width character takes two."""
    max_wide_line_width: int = 16
    """Full-width characters of a line where most are (Chinese, Japanese, Korean)."""
    max_lines: int = 2
    min_duration_s: float = 1.0
    max_duration_s: float = 7.0
    min_gap_s: float = 0.08
    max_pause_s: float = 2.0
    """Between words of one caption."""


class Cue(msgspec.Struct, frozen=True, kw_only=True):
    """One caption: `start < end` in whole milliseconds, no empty line, never overlapping the next."""

    start: float
    end: float
    lines: tuple[str, ...]


class _Unit(msgspec.Struct, frozen=True):
    """The smallest piece that a line may end behind: a word, or one character where there are no spaces."""

    text: str
    """Without spaces around."""
    space: str
    """What separates it from the unit before, on the same line."""
    start_ms: int
    end_ms: int


class _Draft(msgspec.Struct, frozen=True):
    """The units of one caption."""

    units: tuple[_Unit, ...]
    limit: int
    """Columns of its lines."""

    @property
    def start_ms(self) -> int:
        return self.units[0].start_ms

    @property
    def end_ms(self) -> int:
        return self.units[-1].end_ms


def cues(transcript: Transcript, rules: SubtitleRules | None = None) -> list[Cue]:
    """Cut a transcript into captions, in time order. Segments without text give none."""
    rules = rules or SubtitleRules()
    drafts: list[_Draft] = []
    for segment in transcript.segments:
        limit = _limit(segment.text, rules)
        units = list(_units(segment, limit))
        for run in _runs(units, rules):
            drafts.extend(_Draft(group, limit) for group in _groups(run, limit, rules))
    return _timed(_merged(drafts, rules), rules)


def columns(text: str) -> int:
    """Return how wide `text` is: full-width characters take two columns, combining ones none."""
    return sum(map(_character_columns, text))


def _character_columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _limit(text: str, rules: SubtitleRules) -> int:
    """Columns of a line of `text`."""
    visible = [c for c in text if not c.isspace()]
    num_wide = sum(_character_columns(c) == 2 for c in visible)
    return rules.max_wide_line_width * 2 if num_wide * 2 > len(visible) else rules.max_line_width


def _units(segment: Segment, limit: int) -> Iterator[_Unit]:
    """The units of a segment with their times."""
    clock = _Clock(segment)
    at = 0
    is_after_space = False
    text = segment.text
    while at < len(text):
        if text[at].isspace() or unicodedata.category(text[at]) == "Cc":
            is_after_space = True
            at += 1
            continue
        end = _unit_end(text, at, limit)
        space = " " if is_after_space else ""
        yield _Unit(text[at:end], space, clock.start_ms(at), clock.end_ms(end))
        is_after_space = False
        at = end


def _unit_end(text: str, at: int, limit: int) -> int:
    """Return where the unit that begins at `at` ends: before a space, a place to break, or the width."""
    end = at + 1
    width = _character_columns(text[at])
    while end < len(text):
        following = text[end]
        if following.isspace() or unicodedata.category(following) == "Cc":
            break
        if may_break(text[end - 1], following):
            break
        width += _character_columns(following)
        if width > limit:
            break
        end += 1
    return end


def may_break(before: str, after: str) -> bool:
    """Whether a line may end between two neighbours: next to an ideograph or kana, by the kinsoku rules."""
    if after in NEVER_FIRST or before in _NEVER_LAST or _character_columns(after) == 0:
        return False
    return _is_unspaced(before) or _is_unspaced(after)


def _is_unspaced(character: str) -> bool:
    """Whether its script is written without spaces. Hangul is wide too, but has them."""
    if unicodedata.east_asian_width(character) not in "WF":
        return False
    return not ("\uac00" <= character <= "\ud7af" or "\u1100" <= character <= "\u11ff")


class _Clock:
    """Time by character offset in a segment: from its words where they spell its text, else evenly."""

    def __init__(self, segment: Segment) -> None:
        self._offsets: list[int] = []
        self._times_ms: list[int] = []
        begin, end = segment.start, max(segment.start, segment.end)
        words = segment.words if "".join(word.text for word in segment.words) == segment.text else ()
        offset = 0
        for word in words:
            # A word's leading space is not spoken.
            self._add(offset + len(word.text) - len(word.text.lstrip()), word.start)
            offset += len(word.text)
            self._add(offset, word.end)
        if not words:
            # Spaces at the edges take no time.
            self._add(len(segment.text) - len(segment.text.lstrip()), begin)
            self._add(max(len(segment.text.rstrip()), self._offsets[0] + 1), end)

    def start_ms(self, offset: int) -> int:
        """When the character at `offset` begins; at a boundary of words the later one counts."""
        return self._at(offset, bisect_right(self._offsets, offset))

    def end_ms(self, offset: int) -> int:
        """When the character before `offset` ends; at a boundary of words the earlier one counts."""
        return self._at(offset, bisect_left(self._offsets, offset))

    def _add(self, offset: int, time_s: float) -> None:
        time_ms = max(0, round(time_s * 1000))
        self._offsets.append(offset)
        self._times_ms.append(max(time_ms, self._times_ms[-1] if self._times_ms else 0))

    def _at(self, offset: int, index: int) -> int:
        """Interpolate between the anchors `index - 1` and `index`; outside them their times hold."""
        index = min(max(index, 1), len(self._offsets) - 1)
        left, right = self._offsets[index - 1], self._offsets[index]
        begin, end = self._times_ms[index - 1], self._times_ms[index]
        share = (offset - left) / max(right - left, 1)
        return begin + round((end - begin) * min(max(share, 0.0), 1.0))


def _runs(units: list[_Unit], rules: SubtitleRules) -> Iterator[list[_Unit]]:
    """Divide units where the speaker is silent for too long to leave a caption standing."""
    begin = 0
    for index in range(1, len(units) + 1):
        is_last = index == len(units)
        if is_last or units[index].start_ms - units[index - 1].end_ms > rules.max_pause_s * 1000:
            yield units[begin:index]
            begin = index


def _groups(units: list[_Unit], limit: int, rules: SubtitleRules) -> Iterator[tuple[_Unit, ...]]:
    """Divide a segment's units into captions, ending at the end of a sentence or clause where possible."""
    begin = 0
    while begin < len(units):
        end = begin + 1
        while end < len(units) and _fits(units[begin : end + 1], limit, rules):
            end += 1
        if end < len(units):
            end = _best_end(units, begin, end)
        yield tuple(units[begin:end])
        begin = end


def _fits(units: list[_Unit], limit: int, rules: SubtitleRules) -> bool:
    is_short = units[-1].end_ms - units[0].start_ms <= rules.max_duration_s * 1000
    return is_short and len(_wrapped(units, limit)) <= rules.max_lines


def _best_end(units: list[_Unit], begin: int, end: int) -> int:
    """Return the last good place to stop in `units[begin:end]`, not within its first two fifths, or `end`."""
    earliest = begin + (end - begin) * 2 // 5
    for marks in (_SENTENCE_ENDS, _CLAUSE_ENDS):
        for candidate in range(end, max(earliest, begin + 1) - 1, -1):
            if units[candidate - 1].text[-1] in marks:
                return candidate
    return end


def _wrapped(units: list[_Unit] | tuple[_Unit, ...], limit: int) -> list[str]:
    """Fill lines from the front."""
    lines: list[str] = []
    width = 0
    for unit in units:
        piece = unit.space + unit.text
        if lines and width + columns(piece) <= limit:
            lines[-1] += piece
            width += columns(piece)
        else:
            lines.append(unit.text)
            width = columns(unit.text)
    return lines


def _balanced(draft: _Draft) -> tuple[str, ...]:
    """Wrap with as few lines as possible, and those as even as possible."""
    num_lines = len(_wrapped(draft.units, draft.limit))
    total = columns("".join(unit.space + unit.text for unit in draft.units))
    for width in range(total // num_lines, draft.limit):
        lines = _wrapped(draft.units, width)
        if len(lines) == num_lines and all(columns(line) <= draft.limit for line in lines):
            return tuple(lines)
    return tuple(_wrapped(draft.units, draft.limit))


def _merged(drafts: list[_Draft], rules: SubtitleRules) -> list[_Draft]:
    """Join a caption with the next where it could not stay long enough on its own."""
    kept: list[_Draft] = []
    for draft in drafts:
        if kept and draft.start_ms - kept[-1].start_ms < rules.min_duration_s * 1000:
            joined = _joined(kept[-1], draft)
            if _fits(list(joined.units), joined.limit, rules):
                kept[-1] = joined
                continue
        kept.append(draft)
    return kept


def _joined(first: _Draft, second: _Draft) -> _Draft:
    head = second.units[0]
    is_spaced = not (_is_unspaced(first.units[-1].text[-1]) and _is_unspaced(head.text[0]))
    spaced = msgspec.structs.replace(head, space=" " if is_spaced else head.space)
    return _Draft((*first.units, spaced, *second.units[1:]), min(first.limit, second.limit))


def _timed(drafts: list[_Draft], rules: SubtitleRules) -> list[Cue]:
    """Give every caption its time: long enough, not too long, with a gap, and never two at once."""
    min_ms, max_ms, gap_ms = (
        round(s * 1000) for s in (rules.min_duration_s, rules.max_duration_s, rules.min_gap_s)
    )
    starts: list[int] = []
    for draft in drafts:
        starts.append(max(draft.start_ms, starts[-1] + _SHORTEST_MS) if starts else draft.start_ms)
    result: list[Cue] = []
    for index, draft in enumerate(drafts):
        start = starts[index]
        end = min(max(draft.end_ms, start + min_ms), start + max_ms)
        if index + 1 < len(drafts):
            following = starts[index + 1]
            end = min(end, max(following - gap_ms, start + _SHORTEST_MS))
        result.append(Cue(start=start / 1000, end=end / 1000, lines=_balanced(draft)))
    return result
