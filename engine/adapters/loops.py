"""Finds text that says the same over and over: the most reported fault of recognisers. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.adapters.words import is_cut

LOOP_MIN_REPEATS: Final = 5
LOOP_MIN_IDS: Final = 20
"""A short word may be said often ("no no no"): a loop is also this long, all repeats together."""
LOOP_MAX_UNIT_IDS: Final = 50
LOOP_KEPT_REPEATS: Final = 2
"""Of a loop that nothing breaks; enough to see what it was."""
MAX_CHARACTER_IDS: Final = 4


@dataclass(frozen=True, slots=True)
class Loop:
    """The end of an id list says the same `unit_ids` ids `repeats` times."""

    unit_ids: int
    repeats: int

    @property
    def surplus(self) -> int:
        """How many ids at the end are more than is kept of a loop."""
        return self.unit_ids * (self.repeats - LOOP_KEPT_REPEATS)


def find_loop(ids: Sequence[int]) -> Loop | None:
    """Return the loop that `ids`, text ids only, end in; None if they do not.

    Linear in the number of ids times `LOOP_MAX_UNIT_IDS` at worst, near constant on ordinary text.
    """
    for unit in range(1, min(LOOP_MAX_UNIT_IDS, len(ids) // LOOP_MIN_REPEATS) + 1):
        same = 0
        while unit + same < len(ids) and ids[-1 - same] == ids[-1 - same - unit]:
            same += 1
        repeats = same // unit + 1
        if repeats >= LOOP_MIN_REPEATS and repeats * unit >= LOOP_MIN_IDS:
            return Loop(unit, repeats)
    return None


def num_whole(pieces: Sequence[bytes]) -> int:
    """Return how many of `pieces`, the bytes of ids, can be kept so that no character is cut at the end.

    A loop that was cut by its ids may end anywhere, also inside a character of several ids.
    """
    count = len(pieces)
    while count and is_cut(b"".join(pieces[max(0, count - MAX_CHARACTER_IDS) : count])):
        count -= 1
    return count
