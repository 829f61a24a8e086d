"""How many windows may be encoded in one turn, learnt from how long it takes here. Pure."""

from __future__ import annotations

from typing import Final

LONGEST_STALL_S: Final = 2.0
"""Encoding a window takes as long as many steps: what runs shall not wait for newcomers longer than this."""
MAX_NEWCOMERS: Final = 16
_GUESS_S: Final = 0.5
"""Of one window, before any was encoded: a small model on a small processor."""


class EncodingPace:
    """One window at a time where it takes long, many together where that is quick."""

    def __init__(self) -> None:
        self._window_s = _GUESS_S

    @property
    def max_newcomers(self) -> int:
        if self._window_s * MAX_NEWCOMERS <= LONGEST_STALL_S:
            return MAX_NEWCOMERS
        return max(1, int(LONGEST_STALL_S / self._window_s))

    def note(self, num_windows: int, seconds: float) -> None:
        """Learn from windows that were encoded together."""
        self._window_s = seconds / num_windows
