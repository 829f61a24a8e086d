"""Breaks captions into lines while they come; a line of confirmed text is never broken anew; pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from engine.captions import NEVER_FIRST, columns, may_break

Measure = Callable[[str], float]
"""How wide a text is, in the unit of the width that lines may have."""

MAX_LINES: Final = 1000
"""Kept for scrolling back."""
_PARAGRAPH: Final = "\n"
_HANGING: Final = "".join(NEVER_FIRST)
_ZERO_WIDTH_JOINER: Final = "\u200d"


class Line(NamedTuple):
    """One line as it is shown: confirmed text, and behind it what may still change."""

    confirmed: str
    tail: str = ""


class Room(NamedTuple):
    """What a line must fit in. Punctuation may hang out of it by `hang`, as Japanese typesetters let it."""

    measure: Measure
    width: float
    hang: float = 0.0

    def holds(self, text: str) -> bool:
        """Whether `text` fits on one line."""
        if self.measure(text) <= self.width:
            return True
        body = text.rstrip(_HANGING)
        return self.measure(body) <= self.width and self.measure(text) <= self.width + self.hang


class CaptionLines:
    """The lines of one live session, numbered from its beginning.

    While the room stays the same, `add` only ever makes the last confirmed line longer or begins
    new ones: what a person reads does not jump.
    """

    def __init__(self, room: Room) -> None:
        self._room = room
        self._laid: list[_Laid] = []
        self._tail = ""
        self._shown: tuple[Line, ...] | None = None
        self.num_dropped = 0
        """Lines that are too old to be kept: the number of the first one in `lines`."""

    @property
    def lines(self) -> Sequence[Line]:
        """Every kept line, oldest first; the tail begins behind the last confirmed character."""
        if self._shown is None:
            self._shown = self._with_tail()
        return self._shown

    @property
    def end(self) -> int:
        """The number behind the last line's."""
        return self.num_dropped + len(self.lines)

    def add(self, delta: str) -> None:
        """Append confirmed text."""
        last = self._laid.pop() if self._laid else _Laid("")
        self._laid += _flow(last, delta, self._room)
        self._shown = None
        excess = len(self._laid) - MAX_LINES
        if excess > 0:
            del self._laid[:excess]
            self.num_dropped += excess

    def set_tail(self, text: str) -> None:
        """Replace what may still change."""
        self._tail = text
        self._shown = None

    def end_paragraph(self) -> None:
        """Let what comes next begin on a line of its own."""
        if self._laid and self._laid[-1].text:
            self._laid[-1] = _Laid(self._laid[-1].text, _PARAGRAPH)
            self._shown = None

    def lay_out_again(self, room: Room) -> None:
        """Break all lines anew, for another width or font."""
        text = "".join(line.text + line.glue for line in self._laid)
        self._room = room
        self._laid = []
        for paragraph in text.split(_PARAGRAPH):
            self.end_paragraph()
            self.add(paragraph)

    def _with_tail(self) -> tuple[Line, ...]:
        confirmed = [line for line in self._laid if line.text]
        if not self._tail.strip():
            return tuple(Line(line.text) for line in confirmed)
        last = confirmed.pop() if confirmed else _Laid("")
        first, *rest = _flow(last, self._tail, self._room)
        shown = [Line(line.text) for line in confirmed]
        if first.text:
            shown.append(Line(last.text, first.text[len(last.text) :]))
        shown += [Line("", line.text) for line in rest if line.text]
        return tuple(shown)


class _Laid(NamedTuple):
    """A broken line, and what stands between it and what follows: nothing, a space or a paragraph's end."""

    text: str
    glue: str = ""


def _flow(open_line: _Laid, text: str, room: Room) -> list[_Laid]:
    """Fill lines from `open_line` on, which keeps its text; the last of the result is the open one."""
    lines: list[_Laid] = []
    line, glue = open_line
    for unit in _units(text):
        glue = glue or unit.glue
        if not unit.text:
            continue
        if line and glue == _PARAGRAPH:
            lines.append(_Laid(line, glue))
            line = ""
        joined = line + glue + unit.text if line else unit.text
        if room.holds(joined):
            line, glue = joined, ""
            continue
        if line and (glue or may_break(line[-1], unit.text[0])):
            lines.append(_Laid(line, glue))
            line = ""
        *full, line = _broken(line, unit.text, room)
        lines += [_Laid(one) for one in full]
        glue = ""
    return [*lines, _Laid(line, glue)]


class _Unit(NamedTuple):
    """What no line ends within: a word, or one character where there are no spaces."""

    text: str
    """Empty for spaces at the very end."""
    glue: str
    """A space, if there is one before."""


def _units(text: str) -> Iterator[_Unit]:
    glue, begin = "", 0
    for at, character in enumerate(text):
        if character.isspace():
            if at > begin:
                yield _Unit(text[begin:at], glue)
            glue, begin = " ", at + 1
        elif at > begin and may_break(text[at - 1], character):
            yield _Unit(text[begin:at], glue)
            glue, begin = "", at
    if begin < len(text) or glue:
        yield _Unit(text[begin:], glue)


def _broken(line: str, unit: str, room: Room) -> list[str]:
    """Put a unit that does not fit behind `line`, breaking where no mark is parted from its letter."""
    lines = [line]
    for cluster in _clusters(unit):
        if lines[-1] and not room.holds(lines[-1] + cluster):
            lines.append(cluster)
        else:
            lines[-1] += cluster
    return lines


def _clusters(text: str) -> Iterator[str]:
    """Yield letters with the marks that belong to them."""
    begin = 0
    for at in range(1, len(text)):
        if not _is_joined(text[at - 1], text[at]):
            yield text[begin:at]
            begin = at
    yield text[begin:]


def _is_joined(before: str, after: str) -> bool:
    """Whether two neighbours are one letter to a reader: marks, joined emoji, vowels of old Hangul."""
    is_mark = columns(after) == 0 or unicodedata.category(after) == "Mc"
    is_part = "\u1160" <= after <= "\u11ff" or "\U0001f3fb" <= after <= "\U0001f3ff"
    return is_mark or is_part or before == _ZERO_WIDTH_JOINER
