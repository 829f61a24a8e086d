"""The part of the settings about a server elsewhere: where it is, its key, and which of its models to use."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QObject, QSignalBlocker, Signal, SignalInstance
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QWidget,
)

from app.engine_key import find_key, is_from_environment, keep_key
from app.settings import Settings
from app.texts import failure_line
from app.ui.model_shelf import ModelShelf
from app.ui.settings_keeper import SettingsKeeper
from app.ui.wording import plain
from engine.protocol.elsewhere import is_elsewhere, parse_elsewhere
from engine.protocol.failures import Failure, FailureError

_HERE: Final = ""
"""Data of the entry that stands for this computer."""


class EngineBox(QGroupBox):
    """A server's address and key, a button that asks it for its models, and the choice among them.

    The key goes to the keyring and the engine, never into the settings, and is not shown again. The
    keyring is asked on threads of their own, and not waited for: one that is locked asks back.
    """

    def __init__(self, keeper: SettingsKeeper, shelf: ModelShelf, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keeper = keeper
        self._shelf = shelf
        self._keyring = _Keyring(self)
        self._keyring.found.connect(shelf.ask_server)
        self._keyring.refused.connect(self._tell_failure)
        self.setObjectName("settings_engine")
        self.setTitle(self.tr("A server instead of this computer"))
        self._address = QLineEdit(keeper.now.engine_server)
        self._address.setObjectName("settings_engine_server")
        self._address.setPlaceholderText("http://host:8000/v1")
        self._key = QLineEdit()
        self._key.setObjectName("settings_engine_key")
        self._key.setEchoMode(QLineEdit.EchoMode.Password)
        self._key.setPlaceholderText(self._about_key())
        self._connect_button = QPushButton(self.tr("Connec&t"))
        self._connect_button.setObjectName("settings_engine_connect")
        self._connect_button.setAccessibleName(self.tr("Ask the server for its models"))
        self._connect_button.setAutoDefault(False)
        self._model = QComboBox()
        self._model.setObjectName("settings_engine_model")
        self._remark = _Note("settings_engine_remark")
        self._warning = _Note("settings_engine_warning")
        self._lay_out()
        self._address.returnPressed.connect(self._connect_server)
        self._key.returnPressed.connect(self._connect_server)
        self._connect_button.clicked.connect(self._connect_server)
        self._model.activated.connect(self._on_model)
        shelf.server_listed.connect(self._on_listed)
        shelf.server_failed.connect(self._tell_failure)
        keeper.changed.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        form = QFormLayout(self)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        place = QWidget()
        row = QHBoxLayout(place)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._address, 1)
        row.addWidget(self._connect_button)
        for text, field, named in (
            (self.tr("Add&ress"), place, self._address),
            (self.tr("&Key"), self._key, self._key),
            (self.tr("Transcribe &by"), self._model, self._model),
        ):
            named.setAccessibleName(plain(text))
            form.addRow(text, field)
            label = form.labelForField(field)
            if isinstance(label, QLabel):
                label.setBuddy(named)
        form.addRow("", self._remark)
        form.addRow("", self._warning)

    def _about_key(self) -> str:
        if is_from_environment():
            return self.tr("JAMAK_ENGINE_KEY is used")
        return self.tr("Kept in the system's keyring; empty: as before")

    def _show(self) -> None:
        """Show the choice of this moment, and what it means."""
        now = self._keeper.now
        with QSignalBlocker(self._model):
            self._model.clear()
            self._model.addItem(self.tr("This computer"), _HERE)
            for model in self._shelf.elsewhere:
                self._model.addItem(model.name, model.key)
            if is_elsewhere(now.model) and self._model.findData(now.model) < 0:
                self._model.addItem(self._shelf.name_of(now.model), now.model)
            chosen = now.model if is_elsewhere(now.model) else _HERE
            self._model.setCurrentIndex(self._model.findData(chosen))
        self._model.setEnabled(self._model.count() > 1)
        self._warning.setText(self._about_privacy(now))

    def _about_privacy(self, now: Settings) -> str:
        if not is_elsewhere(now.model):
            return ""
        server = parse_elsewhere(now.model)
        if server.is_on_this_machine:
            return ""
        text = self.tr(
            "What you add or record is sent to %1 and transcribed there: the sound leaves this computer."
        ).replace("%1", server.host)
        if server.server.startswith("http://"):
            text += " " + self.tr("The connection is not encrypted.")
        return text

    def _connect_server(self) -> None:
        """Keep what was typed, and ask the server for its models."""
        address = self._address.text().strip()
        if not address:
            self._forget_server()
            return
        try:
            server = parse_elsewhere(address).server
        except FailureError as error:
            self._tell_failure(error.failure)
            return
        self._address.setText(server)
        self._tell(self.tr("Connecting…"))
        typed = self._key.text().strip()
        self._key.clear()
        if typed:
            self._shelf.ask_server(server, typed)
            self._keyring.keep(server, typed)
        else:
            self._keyring.find(server)

    def _forget_server(self) -> None:
        self._tell("")
        self._shelf.set_server("", ())
        self._keeper.change(engine_server="", engine_models=(), **self._leaving())

    def _leaving(self) -> dict[str, object]:
        """Return what to change so that this computer transcribes again."""
        if not is_elsewhere(self._keeper.now.model):
            return {}
        here = [model.key for model in self._shelf.installed if not is_elsewhere(model.key)]
        return self._shelf.choosing(here[0] if here else Settings().model, self._keeper.now)

    def _on_listed(self, server: str, names: tuple[str, ...]) -> None:
        self._tell(self.tr("Connected. Models: %1").replace("%1", ", ".join(names) or "–"))
        self._shelf.set_server(server, names)
        gone = self._keeper.now.engine_server != server and is_elsewhere(self._keeper.now.model)
        self._keeper.change(engine_server=server, engine_models=names, **(self._leaving() if gone else {}))
        self._show()

    def _on_model(self, place: int) -> None:
        key = self._model.itemData(place)
        changes = self._leaving() if key == _HERE else self._shelf.choosing(key, self._keeper.now)
        self._keeper.change(**changes)

    def _tell_failure(self, failure: Failure) -> None:
        self._tell(failure_line(failure))

    def _tell(self, text: str) -> None:
        self._remark.setText(text)


class _Keyring(QObject):
    """Asks the system's keyring, which may ask the person first: on threads that know no widget.

    The last to know a widget must never be another thread: it would end there. (`app/ui/background.py`)
    """

    found = Signal(str, str)
    """server, key"""
    refused = Signal(object)
    """Failure"""

    def keep(self, server: str, key: str) -> None:
        """Keep a key; `refused` where it cannot be."""
        self._begin(lambda: self._keep(server, key))

    def find(self, server: str) -> None:
        """Look for a server's key; `found` tells it, "" where there is none."""
        self._begin(lambda: self._tell(self.found, server, find_key(server)))

    def _begin(self, work: Callable[[], None]) -> None:
        threading.Thread(target=work, daemon=True, name="keyring").start()

    def _keep(self, server: str, key: str) -> None:
        try:
            keep_key(server, key)
        except FailureError as error:
            self._tell(self.refused, error.failure)

    def _tell(self, signal: SignalInstance, *told: object) -> None:
        # The dialog may have been closed meanwhile.
        with contextlib.suppress(RuntimeError):
            signal.emit(*told)


class _Note(QLabel):
    """Wrapped text that takes the height it needs: a form would give it a line."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setWordWrap(True)
        self.hide()

    def setText(self, text: str) -> None:
        """Show a text, or nothing at all."""
        super().setText(text)
        self.setVisible(bool(text))
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take the height that the new width asks for."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setMinimumHeight(self.heightForWidth(self.width()) if self.text() else 0)
