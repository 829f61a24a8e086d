"""Lays out the rows of a decoder pass, in groups whose attention is one matrix product each.

A pass goes through the rows by the windows they hear, and among those that hear the same by row. A row
that comes more than once is in the second round again, behind the first of all: so its later token sees
the one before, and each is summed as if it were alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Final

from torch import Tensor

from engine.adapters.text_groups import MaskKind, TextGroup, make_group

_POSITION_STEP: Final = 16
"""Remembered positions are padded to a multiple of this: then a row's sums come out the same however
long its neighbours are (float32 products of one query; seen with MKL on AVX-512, and tested)."""


@dataclass(frozen=True, slots=True)
class NewTokens:
    """What one row brings to a pass: `count` tokens behind `past` remembered ones."""

    row: int
    window: int
    """Of audio, that the row hears."""
    past: int
    count: int
    num_frames: int
    """Of the window."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the new tokens of each row lie in a pass."""

    order: tuple[int, ...]
    """The caller's indices of the rows, in the order of the pass."""
    starts: tuple[int, ...]
    """By the caller's index: where the row's tokens begin. `counts`: how many they are."""
    counts: tuple[int, ...]

    def find(self, asked: Sequence[Iterable[int]]) -> list[int]:
        """Turn positions within each row's tokens, negative ones from the end, into those in the pass."""
        return [
            self.starts[index] + (position if position >= 0 else self.counts[index] + position)
            for index, positions in enumerate(asked)
            for position in positions
        ]

    def find_all(self) -> list[int]:
        """Return the positions of all tokens, in the caller's order of rows."""
        return self.find([range(count) for count in self.counts])


def lay_out(rows: Sequence[NewTokens]) -> Layout:
    """Lay the new tokens of `rows` one behind the other."""
    times: Counter[int] = Counter()
    rounds: list[int] = []
    for row in rows:
        rounds.append(times[row.row])
        times[row.row] += 1
    places = [(turn, row.window, row.row) for turn, row in zip(rounds, rows, strict=True)]
    order = tuple(sorted(range(len(rows)), key=places.__getitem__))
    starts = [0] * len(rows)
    for before, index in pairwise(order):
        starts[index] = starts[before] + rows[before].count
    return Layout(order, tuple(starts), tuple(row.count for row in rows))


@dataclass(frozen=True, slots=True)
class AudioGroup:
    """Windows of one length that equally many new tokens hear, laid one behind the other."""

    windows: tuple[int, ...]
    """In the order of the pass; one that rows of two rounds hear is there twice."""
    num_tokens: int
    """Of each window."""
    tokens: slice
    """Where the group's tokens are in the pass."""
    num_frames: int
    """Of each window."""


def group_windows(rows: Sequence[NewTokens]) -> list[AudioGroup]:
    """Group the windows of `rows`, which are in the order of the pass.

    All rows that hear a window are one product with it: beams read it once.
    """
    windows = [
        (members[0].window, sum(row.count for row in members), members[0].num_frames)
        for members in _hear_together(rows)
    ]
    groups: list[AudioGroup] = []
    start = 0
    for (count, num_frames), alike in groupby(windows, key=itemgetter(1, 2)):
        members = tuple(window for window, _, _ in alike)
        tokens = slice(start, start + len(members) * count)
        groups.append(AudioGroup(members, count, tokens, num_frames))
        start = tokens.stop
    return groups


def _hear_together(rows: Sequence[NewTokens]) -> list[list[NewTokens]]:
    """Put rows together that hear the same window in the same round, in which no row is twice."""
    parts: list[list[NewTokens]] = []
    for row in rows:
        before = parts[-1][-1] if parts else None
        if before is not None and row.window == before.window and row.row > before.row:
            parts[-1].append(row)
        else:
            parts.append([row])
    return parts


@dataclass(frozen=True, slots=True)
class Groups:
    """All of a pass: its rows grouped for what they remember, and for what they hear."""

    text: tuple[TextGroup, ...]
    audio: tuple[AudioGroup, ...]


def group_all(rows: Sequence[NewTokens], max_tokens: int, like: Tensor) -> Groups:
    """Group `rows`, which are in the order of the pass, without changing it.

    A row holds at most `max_tokens`; masks are for scores of `like`'s dtype and device.
    """
    return Groups(tuple(group_rows(rows, max_tokens, like)), tuple(group_windows(rows)))


def group_rows(rows: Sequence[NewTokens], max_tokens: int, like: Tensor) -> list[TextGroup]:
    """Group `rows`, which are in the order of the pass, without changing it.

    A row holds at most `max_tokens`; masks are for scores of `like`'s dtype and device.
    """
    groups: list[TextGroup] = []
    first = start = 0
    for index in range(1, len(rows) + 1):
        if index < len(rows) and _can_join(rows[index - 1], rows[index]):
            continue
        members = rows[first:index]
        groups.append(_group(members, start, max_tokens, like))
        start += sum(member.count for member in members)
        first = index
    return groups


def _can_join(left: NewTokens, right: NewTokens) -> bool:
    """Say whether two neighbours can share a product.

    Several tokens at once are summed in an order that depends on the number of positions, so such
    rows share only with rows that look at equally many.
    """
    is_alike = left.past == right.past or left.count == 1
    return right.row == left.row + 1 and right.count == left.count and is_alike


def _group(rows: Sequence[NewTokens], start: int, max_tokens: int, like: Tensor) -> TextGroup:
    count = rows[0].count
    num_positions = max(row.past for row in rows) + count
    if count == 1:
        num_positions = min(max_tokens, num_positions + -num_positions % _POSITION_STEP)
    pasts = [row.past for row in rows]
    kind = MaskKind(like.dtype, like.device)
    return make_group(rows[0].row, pasts, count, num_positions, start, kind)
