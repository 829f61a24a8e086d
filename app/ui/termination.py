"""Hears the system's wish that the program ends (Ctrl-C in its terminal, logging out) inside Qt's loop."""

from __future__ import annotations

import contextlib
import signal
import socket

from PySide6.QtCore import QObject, QSocketNotifier, Signal


class Termination(QObject):
    """Turns SIGINT and SIGTERM into a signal of Qt.

    Python runs its own handlers only when it is given a turn, and Qt's loop gives none; the byte
    that Python writes for every signal wakes the loop. Signals: `asked`.
    """

    asked = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ours, self._pythons = socket.socketpair()
        self._ours.setblocking(False)
        self._pythons.setblocking(False)
        self._old_descriptor = signal.set_wakeup_fd(self._pythons.fileno(), warn_on_full_buffer=False)
        self._old_handlers = {
            number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)
        }
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_byte)

    def close(self) -> None:
        """Give the signals back to whoever had them."""
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._old_descriptor)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._ours.close()
        self._pythons.close()

    def _on_byte(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._ours.recv(64)
        self.asked.emit()
