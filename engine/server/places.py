"""How many transcriptions are taken at a time, and when those that are one too many should come again."""

from __future__ import annotations

import contextlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from engine.server.errors import busy

_NUM_REMEMBERED: Final = 16
_LONGEST_WAIT_S: Final = 60


class Places:
    """Belongs to the event loop's thread."""

    def __init__(self, num_places: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._num_places = num_places
        self._clock = clock
        self._lasted_s: deque[float] = deque(maxlen=_NUM_REMEMBERED)
        self.num_taken = 0

    @contextlib.contextmanager
    def one(self) -> Iterator[None]:
        """Hold a place until the end of the block. Raises ApiError where there is none."""
        if self.num_taken >= self._num_places:
            raise busy(self._wait_s())
        self.num_taken += 1
        begun_s = self._clock()
        try:
            yield
        finally:
            self.num_taken -= 1
            self._lasted_s.append(self._clock() - begun_s)

    def _wait_s(self) -> int:
        """Return when a place should be free: what they lasted lately, shared by all of them."""
        if not self._lasted_s:
            return 1
        mean_s = sum(self._lasted_s) / len(self._lasted_s)
        return min(_LONGEST_WAIT_S, max(1, math.ceil(mean_s / self._num_places)))
