"""A dialog whose fields take effect at once: Enter ends what is typed in one, and does not close it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QDialog, QPushButton


class FormDialog(QDialog):
    """Enter presses only the button that has the focus; Esc closes."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keep Enter from a default button elsewhere in the dialog."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_enter or isinstance(self.focusWidget(), QPushButton):
            super().keyPressEvent(event)
