"""Lets the first chunks of a long file run among few others, so that its first text comes soon. Pure.

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
NUM_FIRST: Final = 4


class HeadStart:
    """Hands over `NUM_FIRST` chunks of a long file, and the others once one of them is answered."""

    def __init__(self) -> None:
        self._held: deque[Chunk] = deque()
        self._num_left = NUM_FIRST
        self._is_over = False

    @property
    def num_held_bytes(self) -> int:
        return sum(len(chunk.pcm) for chunk in self._held)

    def opened(self, duration_s: float | None) -> None:
        """Note how long the file is; None: nobody knows."""
        self._is_over = self._is_over or duration_s is None or duration_s < LONG_S

    def answered(self) -> None:
        """Note that a chunk is done: from now on nothing is held."""
        self._is_over = True

    def through(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """Take in the next chunks, and return those that may go now, in order."""
        self._held.extend(chunks)
        count = len(self._held) if self._is_over else min(self._num_left, len(self._held))
        self._num_left -= count
        return [self._held.popleft() for _ in range(count)]
