"""A folder to be typed or chosen; empty is the usual one, which shows in grey."""

from __future__ import annotations

from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLineEdit, QPushButton, QWidget


class FolderField(QWidget):
    """A line, with a button that empties it, and a dialog to choose in; `text` names that dialog."""

    def __init__(self, name: str, folder: str, *, usual: str, button: str, text: str) -> None:
        super().__init__()
        self._text = text
        self.line = QLineEdit(folder)
        self.line.setObjectName(f"settings_{name}_folder")
        self.line.setPlaceholderText(usual)
        self.line.setClearButtonEnabled(True)
        choose = QPushButton(button)
        choose.setObjectName(f"settings_{name}_choose")
        choose.setAccessibleName(text)
        choose.setAutoDefault(False)
        choose.clicked.connect(self._on_choose)
        pair = QHBoxLayout(self)
        pair.setContentsMargins(0, 0, 0, 0)
        pair.addWidget(self.line, 1)
        pair.addWidget(choose)

    @property
    def folder(self) -> str:
        """What stands there; empty is the usual one."""
        return self.line.text().strip()

    def _on_choose(self) -> None:
        begin_at = self.folder or self.line.placeholderText()
        if folder := QFileDialog.getExistingDirectory(self, self._text, begin_at):
            self.line.setText(folder)
