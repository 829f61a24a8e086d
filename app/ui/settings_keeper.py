"""The settings in use: who changes one says so here, everybody else hears of it, and the file follows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import msgspec
from PySide6.QtCore import QObject, QTimer, Signal

from app.settings import Settings, save
from engine.protocol.failures import FailureError

_SAVE_AFTER_MS: Final = 400


class SettingsKeeper(QObject):
    """The one home of the settings while the window runs.

    Signals: `changed(before, now)` with both `Settings`; `save_failed(failure)`.
    """

    changed = Signal(object, object)
    save_failed = Signal(object)

    def __init__(self, settings: Settings, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._now = settings
        self._path = path
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_SAVE_AFTER_MS)
        self._timer.timeout.connect(self.flush)

    @property
    def now(self) -> Settings:
        """The settings of this moment."""
        return self._now

    def change(self, **fields: object) -> None:
        """Replace these fields, tell `changed`, and save soon."""
        self.replace(msgspec.structs.replace(self._now, **fields))

    def replace(self, settings: Settings) -> None:
        """Use `settings` from now on."""
        before = self._now
        if settings == before:
            return
        self._now = settings
        self._timer.start()
        self.changed.emit(before, settings)

    def flush(self) -> None:
        """Save now what has not been saved."""
        self._timer.stop()
        try:
            save(self._now, self._path)
        except FailureError as error:
            self.save_failed.emit(error.failure)
