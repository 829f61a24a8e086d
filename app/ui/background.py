"""Runs what may take a moment (a search, a walk through folders) off the window's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

R = TypeVar("R")


class _Courier(QObject):
    """Carries a result to the thread it was made on."""

    done = Signal(object)

    def __init__(self, then: Callable[[Any], None]) -> None:
        super().__init__()
        self._then = then
        self.done.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    @Slot(object)
    def _deliver(self, result: Any) -> None:
        self._then(result)


class _Task(QRunnable):
    def __init__(self, work: Callable[[], Any], courier: _Courier) -> None:
        super().__init__()
        self._work = work
        self._courier = courier

    def run(self) -> None:
        self._courier.done.emit(self._work())


class Background(QObject):
    """A helper thread of the window's. Work is done in order, one piece at a time."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._couriers: set[_Courier] = set()

    def run(self, work: Callable[[], R], then: Callable[[R], None]) -> None:
        """Do `work` on the helper thread and hand its result to `then` on the window's thread."""

        def deliver(result: R) -> None:
            self._couriers.discard(courier)
            then(result)

        courier = _Courier(deliver)
        self._couriers.add(courier)
        self._pool.start(_Task(work, courier))

    def close(self) -> None:
        """Wait for the piece at work and forget the others."""
        self._pool.clear()
        self._pool.waitForDone()
        self._couriers.clear()
