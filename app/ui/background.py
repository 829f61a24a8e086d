"""Runs what may take a moment (a search, a walk through folders) off the window's thread."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, Signal, Slot

from engine.protocol.failures import Failure, FailureError

R = TypeVar("R")


class Background(QObject):
    """A helper thread of the window's. Work is done in order, one piece at a time.

    Signals: `failed(Failure)` when work raised a FailureError; nothing follows from it then.

    Work and what follows know the widget that wants it. They are kept here until the result is delivered,
    and the helper thread borrows them by number: the last to know a widget would otherwise now and then be
    that thread, the widget would end there, and Qt's event loop with it.
    """

    failed = Signal(object)
    # Carries an outcome to the thread this object lives on.
    _done = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._is_closed = False
        self._numbers = itertools.count()
        self._pieces: dict[int, _Piece] = {}
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="background")
        self._done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def run(self, work: Callable[[], R], then: Callable[[R], None]) -> None:
        """Do `work` on the helper thread and hand its result to `then` on the window's thread."""
        if self._is_closed:
            return
        number = next(self._numbers)
        self._pieces[number] = _Piece(work, then)
        self._pool.submit(self._work, number)

    def close(self) -> None:
        """Wait for the piece at work and forget the others; nothing is delivered any more."""
        self._is_closed = True
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._pieces.clear()

    def _work(self, number: int) -> None:
        outcome: _Result | Failure | None = None
        try:
            outcome = _Result(self._pieces[number].work())
        except FailureError as error:
            outcome = error.failure
        except Exception:
            # Nobody waits for the work's end: it is told like any other crash.
            sys.excepthook(*sys.exc_info())
        # Behind the handlers, since an error knows the work's frames.
        self._done.emit(number, outcome)

    @Slot(int, object)
    def _deliver(self, number: int, outcome: _Result | Failure | None) -> None:
        if self._is_closed:
            return
        piece = self._pieces.pop(number)
        match outcome:
            case _Result(value):
                piece.then(value)
            case Failure():
                self.failed.emit(outcome)


@dataclass(frozen=True, slots=True)
class _Piece:
    work: Callable[[], Any]
    then: Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class _Result:
    value: Any
