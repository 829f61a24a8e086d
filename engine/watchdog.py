"""Notices a loop that stands still, by a clock of its own that a sleeping computer does not move."""

from __future__ import annotations

import faulthandler
import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from engine.ipc import Outbox
from engine.messages import WorkerHangs

log = logging.getLogger(__name__)

TICK_S: Final = 1.0
EXIT_HUNG: Final = 4


class Standstill:
    """Decides when a turn counter has stood still for too long. Pure: time comes in as ticks."""

    def __init__(self) -> None:
        self._turn = -1
        self._still_s = 0.0
        self._is_told = False

    def tick(self, turn: int | None, limit_s: float) -> float | None:
        """Count one tick at `turn` (None: the loop waits for work, so nothing is wrong).

        Returns the seconds of standstill when `limit_s` is reached: once, until the loop moves again.
        """
        if turn is None or turn != self._turn:
            self._turn, self._still_s, self._is_told = -1 if turn is None else turn, 0.0, False
            return None
        self._still_s += TICK_S
        if self._is_told or self._still_s < limit_s:
            return None
        self._is_told = True
        return self._still_s


class Watchdog:
    """A thread that calls `tell(seconds)` once for every hang of the loop that calls `turn`.

    It counts its own ticks rather than asking a clock, so a suspended or stopped process is not a
    hang. While `idle`, the loop may take as long as it likes.
    """

    def __init__(self, limit_s: float, tell: Callable[[float], None]) -> None:
        self._limit_s = limit_s
        self._tell = tell
        self._turn = 0
        self._is_idle = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="watchdog")

    def start(self) -> None:
        """Begin to watch; the loop counts as busy."""
        self._thread.start()

    def turn(self) -> None:
        """Say that the loop moves. Called by the loop, once a turn."""
        self._turn += 1

    @contextmanager
    def idle(self) -> Iterator[None]:
        """Around waiting for work."""
        self._is_idle = True
        try:
            yield
        finally:
            self._turn += 1
            self._is_idle = False

    @contextmanager
    def patience(self, limit_s: float) -> Iterator[None]:
        """Around something that may take longer than a turn: loading a model."""
        usual_s, self._limit_s = self._limit_s, limit_s
        try:
            yield
        finally:
            self._turn += 1
            self._limit_s = usual_s

    def close(self) -> None:
        """End the thread; a hang is not told any more."""
        self._closing.set()
        if self._thread.is_alive():
            self._thread.join(2 * TICK_S)

    def _watch(self) -> None:
        standstill = Standstill()
        while not self._closing.wait(TICK_S):
            seconds = standstill.tick(None if self._is_idle else self._turn, self._limit_s)
            if seconds is not None:
                self._tell(seconds)


def end_process(seconds: float) -> None:
    """End this process, with the stacks of all threads as its last words: nobody else could end it."""
    log.error("the loop stands still for %.0f s; the process ends", seconds)
    faulthandler.dump_traceback()
    os._exit(EXIT_HUNG)


def tell_manager(worker: str, manager_address: str) -> Callable[[float], None]:
    """Return a `tell` that puts `WorkerHangs` into the manager's inbox."""

    def tell(seconds: float) -> None:
        outbox = Outbox(manager_address)
        outbox.put(WorkerHangs(worker=worker, seconds=seconds))
        outbox.close()

    return tell
