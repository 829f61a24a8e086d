"""Lets the first chunk of a long file run alone, so that its first text comes soon. Pure.

All that runs waits while a newcomer is encoded, and a step of many rows takes longer than one of few:
with all slots filled at once, the first segment of ten minutes would come when half of them are done.
A short file has nothing to fill the slots with later, and is not held up.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from engine.messages import Chunk

LONG_S: Final = 480.0
"""More windows than a batch has rows, so that what waits now is not missed at the end."""
OPENING_S: Final = 10.0
"""Of the first chunk: a sentence or two, which also show the language. Slots lie idle meanwhile, so not more.
(base told 63 recordings of seven languages right by their first 10 s, none with less than 0.8)"""


def is_long(duration_s: float | None) -> bool:
    """Say whether a file has enough to fill the slots with; None: nobody knows how long it is."""
    return duration_s is not None and duration_s >= LONG_S


class HeadStart:
    """Hands over the first chunk of a long file, and the others once it is answered."""

    def __init__(self) -> None:
        self._held: deque[Chunk] = deque()
        self._is_begun = False
        self._is_over = False

    @property
    def num_held_bytes(self) -> int:
        return sum(len(chunk.pcm) for chunk in self._held)

    def opened(self, duration_s: float | None) -> None:
        """Note how long the file is; None: nobody knows."""
        self._is_over = self._is_over or not is_long(duration_s)

    def answered(self) -> None:
        """Note that a chunk is done: from now on nothing is held."""
        self._is_over = True

    def through(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Take in the next chunks, and return those that may go now, in order."""
        self._held.extend(chunks)
        num_first = 0 if self._is_begun else min(1, len(self._held))
        self._is_begun = self._is_begun or num_first > 0
        count = len(self._held) if self._is_over else num_first
        return [self._held.popleft() for _ in range(count)]
