"""The audio of a live session that may still be decoded; silence that was never fed takes no room."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]


class LiveAudio:
    """Samples `[first, end)` of the recording, float32 mono 16 kHz."""

    def __init__(self, first: int) -> None:
        self.end = first
        self._blocks: deque[tuple[int, int, Samples | None]] = deque()
        """(first, end, samples); None where it is silent."""

    def append(self, samples: Samples) -> None:
        """Take what follows."""
        self._blocks.append((self.end, self.end + len(samples), samples))
        self.end += len(samples)

    def append_silence(self, num_samples: int) -> None:
        """Let nothing be heard for so long."""
        self._blocks.append((self.end, self.end + num_samples, None))
        self.end += num_samples

    def forget(self, before: int) -> None:
        """Let go of whole blocks in front of a position."""
        while self._blocks and self._blocks[0][1] <= before:
            self._blocks.popleft()

    def cut(self, begin: int, end: int) -> Samples:
        """Return `[begin, end)`; what was forgotten is silent."""
        cut = np.zeros(max(0, end - begin), np.float32)
        for first, last, samples in self._blocks:
            low, high = max(first, begin), min(last, end)
            if samples is not None and low < high:
                cut[low - begin : high - begin] = samples[low - first : high - first]
        return cut
