"""How often a dead engine is started again before somebody has to ask for it; pure."""

from __future__ import annotations

from collections import deque
from typing import Final

MAX_RESTARTS: Final = 3
WITHIN_S: Final = 60.0


class Restarts:
    """Counts restarts by a clock of the caller's."""

    def __init__(self, *, most: int = MAX_RESTARTS, within_s: float = WITHIN_S) -> None:
        self._most = most
        self._within_s = within_s
        self._times: deque[float] = deque()

    def allow(self, now_s: float) -> bool:
        """Whether the engine may be started once more now; counts it if so."""
        while self._times and now_s - self._times[0] >= self._within_s:
            self._times.popleft()
        if len(self._times) >= self._most:
            return False
        self._times.append(now_s)
        return True

    def forgive(self) -> None:
        """Begin to count anew: somebody asked for the engine."""
        self._times.clear()
