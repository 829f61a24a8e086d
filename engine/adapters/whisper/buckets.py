"""The few sizes in which passes of fixed size are made, and where each row goes in one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.adapters.whisper.groups import NewTokens

POSITIONS: Final = (64, 128, 256)
"""How many remembered tokens a step looks at; else as many as a row can hold."""
BEAMS: Final = (1, 5)
"""Rows that hear one window."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """The size of a step: so many windows, so many rows for each, so many remembered tokens."""

    num_windows: int
    num_beams: int
    num_positions: int

    @property
    def num_rows(self) -> int:
        return self.num_windows * self.num_beams


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest step."""

    num_windows: int
    max_tokens: int


def choose_bucket(rows: Sequence[NewTokens], limits: Limits) -> Bucket | None:
    """Return the smallest size that all `rows`, with one new token each, fit; None if there is none.

    Windows are counted from the cache's first, since a step takes them as they lie there.
    """
    beams = [sum(other.window == row.window for other in rows) for row in rows]
    fitting_beams = [size for size in BEAMS if size >= max(beams)]
    if not fitting_beams:
        return None
    wanted_positions = max(row.past for row in rows) + 1
    positions = [size for size in POSITIONS if wanted_positions <= size < limits.max_tokens]
    return Bucket(
        num_windows=round_up(max(row.window for row in rows) + 1, limits.num_windows),
        num_beams=fitting_beams[0],
        num_positions=positions[0] if positions else limits.max_tokens,
    )


def round_up(number: int, largest: int) -> int:
    """Return the next power of two, or `largest` where that is less."""
    return min(largest, 1 << (number - 1).bit_length())


def place_rows(rows: Sequence[NewTokens], bucket: Bucket) -> list[int]:
    """Return where each row goes in the step: with the others of its window, in their order."""
    num_placed: dict[int, int] = {}
    places = []
    for row in rows:
        beam = num_placed.get(row.window, 0)
        num_placed[row.window] = beam + 1
        places.append(row.window * bucket.num_beams + beam)
    return places


def split_batch(num_windows: int, largest: int) -> list[tuple[int, int]]:
    """Return (windows, size) for each part of a batch: as few as possible, each in the next size."""
    whole, rest = divmod(num_windows, largest)
    parts = [(largest, largest)] * whole
    return [*parts, (rest, round_up(rest, largest))] if rest else parts
