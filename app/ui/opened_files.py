"""Hears of files that macOS wants opened: there they come as events, not as arguments."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Signal
from PySide6.QtGui import QFileOpenEvent


class OpenedFiles(QObject):
    """Watches the application's events for as long as it lives.

    Signals:
        files_received(list[str]): paths to be opened, one at a time as the system tells them.
    """

    files_received = Signal(list)

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the wish to open a file; everything else passes."""
        if isinstance(event, QFileOpenEvent) and event.file():
            self.files_received.emit([event.file()])
            return True
        return super().eventFilter(watched, event)
