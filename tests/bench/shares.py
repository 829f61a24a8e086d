"""Memory that processes really cost: pages that several share count once, in parts. (Linux)"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, Self

LOOK_EVERY_S: Final = 0.5
"""Adding up a gigabyte's pages takes the kernel some 5 ms, and stops the process meanwhile."""


def proportional_bytes(pids: Iterable[int]) -> int:
    """Return the summed proportional set size; processes that have ended count nothing."""
    return sum(map(_proportional_bytes, pids))


class PeakMemory:
    """The largest summed proportional set size of some processes while it watches, on all runs together."""

    def __init__(self, pids: Callable[[], Iterable[int]]) -> None:
        """`pids` is asked anew each time: workers come and go."""
        self._pids = pids
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        self.bytes = 0

    def __enter__(self) -> Self:
        self._is_over.clear()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="peak-memory")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._thread
        self._is_over.set()
        self._thread.join()

    def _watch(self) -> None:
        while True:
            self.bytes = max(self.bytes, proportional_bytes(self._pids()))
            if self._is_over.wait(LOOK_EVERY_S):
                self.bytes = max(self.bytes, proportional_bytes(self._pids()))
                return


def _proportional_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)
