"""The menu of what can be recorded: every device of this moment, kept up while it is open."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from app.capture.devices import AudioSystem, Device, DeviceKind
from app.settings import RecordFrom, Settings
from app.ui.background import Background

log = logging.getLogger(__name__)


class SourceMenu(QMenu):
    """Microphones, computer sound, or both.

    Signals: `chosen(dict)` with the fields of `Settings` that a choice changes.
    """

    chosen = Signal(object)
    _changed = Signal()

    def __init__(
        self,
        audio: AudioSystem,
        background: Background,
        now: Callable[[], Settings],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("sources")
        self.setTitle(self.tr("Record &from"))
        self._audio = audio
        self._background = background
        self._now = now
        self._devices: list[Device] = []
        self._stop_watching: Callable[[], None] | None = None
        self._changed.connect(self._list, Qt.ConnectionType.QueuedConnection)
        self.aboutToShow.connect(self._on_open)
        self.aboutToHide.connect(self._on_close)
        self.show_devices([])

    def show_devices(self, devices: list[Device]) -> None:
        """Offer these devices; the chosen one also when it is not there now."""
        self._devices = devices
        self.clear()
        settings = self._now()
        group = QActionGroup(self)
        self.addSection(self.tr("Microphone"))
        self._add_kind(group, DeviceKind.MICROPHONE, settings)
        self.addSection(self.tr("Computer sound"))
        self._add_kind(group, DeviceKind.COMPUTER, settings)
        self.addSeparator()
        both = self._add(group, self.tr("Microphone and computer sound"), {"record_from": RecordFrom.BOTH})
        both.setChecked(settings.record_from is RecordFrom.BOTH)

    def _add_kind(self, group: QActionGroup, kind: DeviceKind, settings: Settings) -> None:
        source, field = _FIELDS[kind]
        is_used = settings.record_from is source
        wanted = getattr(settings, field)
        is_microphone = kind is DeviceKind.MICROPHONE
        default = self.tr("System default") if is_microphone else self.tr("What is being played")
        known = [device for device in self._devices if device.kind is kind]
        named = next((device.name for device in known if device.is_default), "")
        entry = self._add(
            group, f"{default} ({named})" if named else default, {"record_from": source, field: None}
        )
        entry.setChecked(is_used and wanted is None)
        for device in known:
            one = self._add(group, device.name, {"record_from": source, field: device.id})
            one.setChecked(is_used and wanted == device.id)
        if is_used and wanted is not None and all(device.id != wanted for device in known):
            gone = self._add(group, self.tr("%1 (not connected)").replace("%1", wanted), {})
            gone.setChecked(True)
            gone.setEnabled(False)

    def _add(self, group: QActionGroup, text: str, fields: dict[str, object]) -> QAction:
        action = self.addAction(text.replace("&", "&&"))
        action.setCheckable(True)
        group.addAction(action)
        action.triggered.connect(lambda: self.chosen.emit(fields))
        return action

    def _on_open(self) -> None:
        self.show_devices(self._devices)
        if self._stop_watching is None:
            self._stop_watching = self._audio.watch(self._changed.emit)
        self._list()

    def _on_close(self) -> None:
        if self._stop_watching is not None:
            self._stop_watching()
            self._stop_watching = None

    def _list(self) -> None:
        self._background.run(self._audio.devices, self._on_listed)

    def _on_listed(self, devices: list[Device]) -> None:
        if devices != self._devices:
            self.show_devices(devices)


_FIELDS: Final = {
    DeviceKind.MICROPHONE: (RecordFrom.MICROPHONE, "microphone"),
    DeviceKind.COMPUTER: (RecordFrom.COMPUTER, "computer_sound"),
}
