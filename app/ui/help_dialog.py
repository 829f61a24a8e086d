"""What every key does, and what this program is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractItemView,
    QDialog,
    QDialogButtonBox,
    QHeaderView,
    QMessageBox,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.ui.icons import app_icon
from app.ui.wording import plain
from engine.facts import version_of


class ShortcutsDialog(QDialog):
    """A table of every command that has a key, and of those that belong to transcript and player."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shortcuts_dialog")
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.resize(520, 560)
        rows = [
            (plain(action.text()), _keys(action)) for action in actions if action.shortcuts()
        ] + self._others()
        self.table = QTableWidget(len(rows), 2)
        self.table.setObjectName("shortcuts_table")
        self.table.setAccessibleName(self.tr("Keyboard shortcuts"))
        self.table.setHorizontalHeaderLabels([self.tr("Command"), self.tr("Keys")])
        self.table.verticalHeader().hide()
        self.table.setShowGrid(False)
        self.table.setAlternatingRowColors(True)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setTabKeyNavigation(False)
        self.table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft)
        for place, (text, keys) in enumerate(rows):
            self.table.setItem(place, 0, QTableWidgetItem(text))
            self.table.setItem(place, 1, QTableWidgetItem(keys))
        close = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        close.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self.table)
        column.addWidget(close)

    def _others(self) -> list[tuple[str, str]]:
        native = QKeySequence.SequenceFormat.NativeText
        return [
            (text, " / ".join(QKeySequence(one).toString(native) for one in keys))
            for text, keys in (
                (self.tr("Play or pause (while not typing)"), ("Space",)),
                (self.tr("Back or forward one second"), ("Left", "Right")),
                (self.tr("Correct the text of a segment"), ("F2",)),
                (self.tr("Play from a segment"), ("Return",)),
                (self.tr("Next or previous match"), ("F3", "Shift+F3")),
                (self.tr("Close the search"), ("Esc",)),
                (self.tr("Caption window: read back"), ("Up", "PgUp")),
                (self.tr("Caption window: jump to newest"), ("End",)),
                (self.tr("Caption window: move, resize"), ("Ctrl+Left", "Ctrl+Shift+Left")),
                (self.tr("Caption window: close"), ("Esc",)),
            )
        ]


def show_about(parent: QWidget) -> None:
    """Say what this program is and under which terms it and its parts come."""
    box = QMessageBox(parent)
    box.setObjectName("about")
    box.setWindowTitle(QCoreApplication.translate("About", "About Jamak"))
    box.setIconPixmap(app_icon().pixmap(64, 64))
    box.setText(f"Jamak {version_of('jamak')}")
    box.setInformativeText(
        QCoreApplication.translate(
            "About",
            "Speech to text on your own machine. Nothing you open leaves it, unless you choose a server.\n\n"
            "MIT licence. Built on Qt, PyTorch, FFmpeg, ONNX Runtime and the Whisper models.",
        )
    )
    box.exec()


def _keys(action: QAction) -> str:
    native = QKeySequence.SequenceFormat.NativeText
    return " / ".join(dict.fromkeys(keys.toString(native) for keys in action.shortcuts()))
