"""The part of the settings about our own server: the switch, and what other programs need to reach it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QGroupBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QSpinBox,
    QWidget,
)

from app.server_key import own_key
from app.ui.server_switch import ServerPhase, ServerSwitch
from app.ui.settings_keeper import SettingsKeeper
from app.ui.wording import plain


class ServerBox(QGroupBox):
    """A switch, the port, and address and key to be copied; the key is made when the switch is first on."""

    def __init__(self, keeper: SettingsKeeper, switch: ServerSwitch, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keeper = keeper
        self._switch = switch
        self._key = ""
        self.setObjectName("settings_server")
        self.setTitle(self.tr("For other programs"))
        self._form = QFormLayout(self)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._serves = QCheckBox(
            self.tr("Let pro&grams on this computer transcribe with Jamak (OpenAI's API)")
        )
        self._serves.setObjectName("settings_serves")
        self._serves.setAccessibleName(plain(self._serves.text()))
        self._serves.setChecked(keeper.now.serves)
        self._port = QSpinBox()
        self._port.setObjectName("settings_server_port")
        self._port.setRange(1024, 65_535)
        self._port.setGroupSeparatorShown(False)
        self._port.setKeyboardTracking(False)
        self._port.setValue(keeper.now.server_port)
        self._port.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._address = _shown("settings_server_address")
        self._port.setMinimumHeight(self._address.sizeHint().height())
        self._hidden_key = _shown("settings_server_key")
        self._hidden_key.setEchoMode(QLineEdit.EchoMode.Password)
        self._remark = QLabel()
        self._remark.setObjectName("settings_server_remark")
        self._remark.setWordWrap(True)
        self._form.addRow("", self._serves)
        self._add(self.tr("&Port"), self._port, self._port)
        self._add(
            self.tr("Base address"),
            self._with_copy(self._address, self.tr("Copy the address"), lambda: self._switch.url),
            self._address,
        )
        self._add(
            self.tr("API key"),
            self._with_copy(self._hidden_key, self.tr("Copy the key"), lambda: self._key),
            self._hidden_key,
        )
        self._form.addRow("", self._remark)
        self._serves.toggled.connect(lambda is_on: keeper.change(serves=is_on))
        self._port.valueChanged.connect(lambda port: keeper.change(server_port=port))
        switch.shifted.connect(self._show)
        self._show()

    def _add(self, text: str, field: QWidget, named: QWidget) -> None:
        named.setAccessibleName(plain(text))
        self._form.addRow(text, field)
        label = self._form.labelForField(field)
        if isinstance(label, QLabel):
            label.setBuddy(named)

    def _with_copy(self, field: QLineEdit, name: str, content: Callable[[], str]) -> QWidget:
        button = QPushButton(self.tr("Copy"))
        button.setObjectName(f"{field.objectName()}_copy")
        button.setAccessibleName(name)
        button.setToolTip(name)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: QGuiApplication.clipboard().setText(content()))
        pair = QWidget()
        row = QHBoxLayout(pair)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(field, 1)
        row.addWidget(button)
        return pair

    def _show(self) -> None:
        """Show what the switch says of the server."""
        is_on = self._switch.phase is ServerPhase.ON
        self._key = self._read_key() if is_on else ""
        self._address.setText(self._switch.url)
        self._hidden_key.setText(self._key)
        for field in (self._address, self._hidden_key):
            button = self.findChild(QPushButton, f"{field.objectName()}_copy")
            if button is not None:
                button.setEnabled(is_on)
        self._remark.setText(self._about())
        self._remark.setVisible(bool(self._remark.text()))

    def _about(self) -> str:
        match self._switch.phase:
            case ServerPhase.STARTING:
                return self.tr("Starting…")
            case ServerPhase.FAILED:
                told = self.tr("The server has ended.")
                return f"{told} {self._switch.trouble}".strip()
            case ServerPhase.ON | ServerPhase.OFF:
                return ""

    def _read_key(self) -> str:
        try:
            return own_key()[0]
        except OSError:
            # The server has read it a moment ago, so it is somebody's doing: there is nothing to copy.
            return ""


def _shown(name: str) -> QLineEdit:
    field = QLineEdit()
    field.setObjectName(name)
    field.setReadOnly(True)
    return field
