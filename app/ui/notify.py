"""Tells the person that long work has ended while the window was not in front; harmless where it cannot."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, Protocol

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget

from app.changes import ChangeKind, DeskChange
from app.desk import Desk
from app.library import RowState
from app.ui.icons import app_icon

LONG_S: Final = 20.0
"""Work that took less is noticed anyway."""
_SHOWN_MS: Final = 10_000


class Messenger(Protocol):
    """Shows a message outside of the window."""

    def __call__(self, title: str, text: str) -> None: ...


class TrayMessenger:
    """Shows messages by the system's tray, and marks the window as wanting attention."""

    def __init__(self, window: QWidget) -> None:
        self._window = window
        self._tray: QSystemTrayIcon | None = None

    def __call__(self, title: str, text: str) -> None:
        """Show a message for some seconds."""
        QApplication.alert(self._window)
        if not QSystemTrayIcon.isSystemTrayAvailable():
            return
        if self._tray is None:
            self._tray = QSystemTrayIcon(app_icon(), self._window)
            self._tray.messageClicked.connect(self._window.activateWindow)
        self._tray.show()
        self._tray.showMessage(title, text, app_icon(), _SHOWN_MS)
        QTimer.singleShot(_SHOWN_MS, self._tray.hide)


class EndNotice(QObject):
    """Watches the desk and sends one message when a long stretch of work is over and `is_wanted()`."""

    def __init__(
        self,
        desk: Desk,
        send: Messenger,
        *,
        is_wanted: Callable[[], bool],
        clock: Callable[[], float] = time.monotonic,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._desk = desk
        self._send = send
        self._is_wanted = is_wanted
        self._clock = clock
        self._began_s: float | None = None
        self._ended: dict[int, RowState] = {}

    def apply(self, change: DeskChange) -> None:
        """Take over one change of the desk."""
        if change.kind is ChangeKind.ROW and change.recording_id is not None:
            row = self._desk.row(change.recording_id)
            if row is not None and row.recording.state in (RowState.DONE, RowState.FAILED):
                self._ended[row.recording.id] = row.recording.state
        if self._desk.num_running and self._began_s is None:
            self._began_s = self._clock()
            self._ended.clear()
        elif not self._desk.num_open and self._began_s is not None:
            took_s, self._began_s = self._clock() - self._began_s, None
            if took_s >= LONG_S and self._ended and self._is_wanted():
                self._send(self.tr("Jamak has finished"), self._text())

    def _text(self) -> str:
        num_failed = sum(state is RowState.FAILED for state in self._ended.values())
        num_done = len(self._ended) - num_failed
        parts = []
        if num_done:
            parts.append(self.tr("%n recording(s) transcribed.", "", num_done))
        if num_failed:
            parts.append(self.tr("%n could not be transcribed.", "", num_failed))
        return " ".join(parts)
