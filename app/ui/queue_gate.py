"""Holds the queue while there is no model, or while the person wants it held."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.desk import Desk
from app.ui.model_shelf import ModelShelf
from app.ui.settings_keeper import SettingsKeeper
from engine.protocol.failures import FailureError


class QueueGate(QObject):
    """Decides whether the desk may begin rows.

    The queue is held from the start until the list of models is there: what waits would otherwise
    fail for want of a model that is about to be offered. Signals: `shifted` when anything of it
    changed; `blocked(failure)` when the queue could not go on.
    """

    shifted = Signal()
    blocked = Signal(object)

    def __init__(
        self, desk: Desk, shelf: ModelShelf, keeper: SettingsKeeper, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._desk = desk
        self._shelf = shelf
        self._keeper = keeper
        shelf.listed.connect(self._apply)
        self._apply()

    @property
    def is_held_by_user(self) -> bool:
        """Whether the person wants the queue held; kept over restarts."""
        return self._keeper.now.queue_is_paused

    @property
    def needs_model(self) -> bool:
        """Whether it is known that no model is on this computer."""
        return self._shelf.is_listed and not self._shelf.installed

    def toggle(self) -> None:
        """Hold the queue, or let it go on."""
        self._keeper.change(queue_is_paused=not self.is_held_by_user)
        self._apply()

    def _apply(self) -> None:
        is_held = self.is_held_by_user or not self._shelf.installed
        if is_held and not self._desk.is_paused:
            self._desk.pause()
        elif not is_held and self._desk.is_paused:
            try:
                self._desk.resume()
            except FailureError as error:
                self._keeper.change(queue_is_paused=True)
                self.blocked.emit(error.failure)
        self.shifted.emit()
