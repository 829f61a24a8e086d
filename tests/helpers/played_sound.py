"""A microphone that hears a given sound in real time (or faster), then silence; needs no sound card."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np

from app.capture.devices import Device, OnBlock
from app.capture.ring import Samples

BLOCK = 512


class PlayedSound:
    """An `AudioSystem` with one device. Whoever opens it again hears on from where it was left."""

    def __init__(self, samples: Samples, rate_hz: int = 16_000, *, speed: float = 1.0) -> None:
        self.device = Device(id="played", name="Played sound", rate_hz=rate_hz, is_default=True)
        self._samples = samples
        self._speed = speed
        self._num_played = 0

    @property
    def is_over(self) -> bool:
        """Everything was heard."""
        return self._num_played >= len(self._samples)

    def devices(self) -> list[Device]:
        return [self.device]

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def open(self, device: Device, on_block: OnBlock) -> _Player:
        return _Player(self._next_block, on_block, BLOCK / device.rate_hz / self._speed)

    def _next_block(self) -> Samples:
        block = np.zeros(BLOCK, np.float32)
        piece = self._samples[self._num_played : self._num_played + BLOCK]
        block[: len(piece)] = piece
        self._num_played += BLOCK
        return block


class _Player(threading.Thread):
    def __init__(self, next_block: Callable[[], Samples], on_block: OnBlock, every_s: float) -> None:
        super().__init__(daemon=True)
        self._next_block = next_block
        self._on_block = on_block
        self._every_s = every_s
        self._is_over = threading.Event()
        self.start()

    @property
    def is_active(self) -> bool:
        return self.is_alive()

    @property
    def num_overflows(self) -> int:
        return 0

    def is_elsewhere(self) -> bool:
        return False

    def close(self) -> None:
        self._is_over.set()
        self.join()

    def run(self) -> None:
        next_s = time.monotonic()
        while not self._is_over.wait(max(0.0, next_s - time.monotonic())):
            self._on_block(self._next_block())
            next_s += self._every_s
