"""The bounded buffer between an audio callback, which waits for nobody, and the thread that writes."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]


class Read(NamedTuple):
    """What was in the ring, oldest first, and how many samples were lost right behind it."""

    samples: Samples
    num_lost: int


class Ring:
    """Mono samples from one writing thread to one reading thread, without a lock.

    Each side moves only its own counter, after the samples it stands for are in place. What does not
    fit is lost whole, counted, and told to the reader at the place where it is missing.
    """

    def __init__(self, capacity_samples: int) -> None:
        self._buffer = np.zeros(capacity_samples, np.float32)
        self._num_written = 0
        self._num_read = 0
        self._losses: deque[tuple[int, int]] = deque()
        self._num_lost = 0

    @property
    def num_lost(self) -> int:
        """Samples that found no room, ever."""
        return self._num_lost

    def write(self, samples: Samples) -> None:
        """Take in `samples`; never waits. For the writing thread."""
        capacity = self._buffer.size
        if len(samples) > capacity - (self._num_written - self._num_read):
            self._losses.append((self._num_written, len(samples)))
            self._num_lost += len(samples)
            return
        start = self._num_written % capacity
        num_first = min(len(samples), capacity - start)
        self._buffer[start : start + num_first] = samples[:num_first]
        self._buffer[: len(samples) - num_first] = samples[num_first:]
        self._num_written += len(samples)

    def read(self) -> Read:
        """Take out everything up to the first loss; nothing at all when empty. For the reading thread."""
        end = self._num_written
        num_lost = 0
        if self._losses and self._losses[0][0] <= end:
            end = self._losses[0][0]
            while self._losses and self._losses[0][0] == end:
                num_lost += self._losses.popleft()[1]
        capacity = self._buffer.size
        start = self._num_read % capacity
        num = end - self._num_read
        num_first = min(num, capacity - start)
        samples = np.concatenate((self._buffer[start : start + num_first], self._buffer[: num - num_first]))
        self._num_read = end
        return Read(samples, num_lost)
