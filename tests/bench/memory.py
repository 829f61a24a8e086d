"""Memory and processor time of the engine's processes while a session runs (Linux)."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
from ours import descendants

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
NOTE_EVERY_S = 5.0


class MemoryLog:
    """Resident memory of every process below this one, and of this one, over time."""

    def __init__(self) -> None:
        self._noted_at_s = -NOTE_EVERY_S
        self._sizes: dict[str, list[tuple[float, int]]] = {}
        self._first: tuple[float, float] | None = None
        self._last = (0.0, 0.0)

    def note(self, now_s: float) -> None:
        """Look at every process, not more often than is of use."""
        if now_s - self._noted_at_s < NOTE_EVERY_S:
            return
        self._noted_at_s = now_s
        cpu_s = 0.0
        for pid in descendants():
            try:
                size = int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES
                times = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
                name = f"{_role(pid)}-{pid}"
            except (OSError, IndexError):
                continue
            self._sizes.setdefault(name, []).append((now_s, size))
            cpu_s += (int(times[11]) + int(times[12])) / TICKS_PER_S
        self._first = self._first or (time.monotonic(), cpu_s)
        self._last = (time.monotonic(), cpu_s)

    def slopes_mb_per_hour(self, *, after_s: float) -> dict[str, float]:
        """Return the slope of each process's memory by least squares, from a time on."""
        slopes = {}
        for name, sizes in self._sizes.items():
            points = [(at_s, size) for at_s, size in sizes if at_s >= after_s]
            if len(points) > 2:
                times, values = np.array(points).T
                slopes[name] = float(np.polyfit(times / 3600, values / 2**20, 1)[0])
        return slopes

    def sizes_mb(self, *, every_s: float) -> dict[str, list[int]]:
        """Return each process's memory at the first look in every so many seconds."""
        sizes = {}
        for name, looks in self._sizes.items():
            first: dict[int, int] = {}
            for at_s, size in looks:
                first.setdefault(int(at_s / every_s), round(size / 2**20))
            sizes[name] = list(first.values())
        return sizes

    def cpu_share(self) -> float:
        """Return how many cores the engine kept busy."""
        if self._first is None or self._last[0] <= self._first[0]:
            return 0.0
        return (self._last[1] - self._first[1]) / (self._last[0] - self._first[0])


def _role(pid: int) -> str:
    words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    return words[words.index("--role") + 1] if "--role" in words else "other"
