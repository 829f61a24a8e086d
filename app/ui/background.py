"""Runs what may take a moment (a search, a walk through folders) off the window's thread."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from engine.protocol.failures import FailureError

R = TypeVar("R")


class Background(QObject):
    """A helper thread of the window's. Work is done in order, one piece at a time.

    Signals: `failed(Failure)` when work raised a FailureError; nothing follows from it then.
    """

    failed = Signal(object)
    # Carries a result and what to do with it to the thread this object lives on.
    _done = Signal(object, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_closed = False
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Callable[[], R], then: Callable[[R], None]) -> None:
        """Do `work` on the helper thread and hand its result to `then` on the window's thread."""
        if self._is_closed:
            return
        self._pool.submit(self._work, work, then).add_done_callback(_report)

    def close(self) -> None:
        """Wait for the piece at work and forget the others; nothing is delivered any more."""
        self._is_closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _work(self, work: Callable[[], R], then: Callable[[R], None]) -> None:
        try:
            result = work()
        except FailureError as error:
            self.failed.emit(error.failure)
        else:
            self._done.emit(result, then)

    @Slot(object, object)
    def _deliver(self, result: Any, then: Callable[[Any], None]) -> None:
        if not self._is_closed:
            then(result)


def _report(future: Future[None]) -> None:
    """Have what nobody expected told like any other crash: nobody asks for the work's outcome."""
    if not future.cancelled() and (error := future.exception()) is not None:
        sys.excepthook(type(error), error, error.__traceback__)
