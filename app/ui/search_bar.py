"""The bar that asks what to find in a transcript and says how often it is there."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QInputMethodEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from app.ui.icons import Icons

_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class QueryField(QLineEdit):
    """A line of text that tells what it shows, letters still being composed among it.

    Korean, Japanese and Chinese are composed before they are committed; a search that waits for
    that would always be one syllable late. Signals: `query_changed(str)`.
    """

    query_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._composing = ""
        self.textChanged.connect(self._tell)

    @property
    def query(self) -> str:
        """The text with what is being composed at the cursor."""
        text, at = self.text(), self.cursorPosition()
        return text[:at] + self._composing + text[at:]

    def inputMethodEvent(self, event: QInputMethodEvent) -> None:
        self._composing = event.preeditString()
        super().inputMethodEvent(event)
        self._tell()

    def _tell(self) -> None:
        self.query_changed.emit(self.query)


class SearchBar(QWidget):
    """Query, count, previous, next, close.

    Signals: `query_changed(str)`, `step_requested(int by)` with 1 or -1, `closed()`.
    """

    query_changed = Signal(str)
    step_requested = Signal(int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._icons = Icons()
        self.field = QueryField(self)
        self.field.setObjectName("search_field")
        self.field.setPlaceholderText(self.tr("Find in this transcript"))
        self.field.setAccessibleName(self.tr("Find in this transcript"))
        self.field.setClearButtonEnabled(True)
        self.field.query_changed.connect(self.query_changed)
        self.count = QLabel(self)
        self.count.setObjectName("search_count")
        self.count.setMinimumWidth(self.fontMetrics().horizontalAdvance("0000 / 0000"))
        self._previous = self._button("search_previous", self.tr("Previous match (Shift+F3)"), "up")
        self._next = self._button("search_next", self.tr("Next match (F3)"), "down")
        self._close = self._button("search_close", self.tr("Close (Esc)"), "close")
        self._previous.clicked.connect(lambda: self.step_requested.emit(-1))
        self._next.clicked.connect(lambda: self.step_requested.emit(1))
        self._close.clicked.connect(self.close_bar)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(6)
        row.addWidget(self.field, 1)
        for widget in (self.count, self._previous, self._next, self._close):
            row.addWidget(widget)
        self.show_count(0, 0)
        self.hide()

    @property
    def query(self) -> str:
        """What is searched for, empty while the bar is closed."""
        return "" if self.isHidden() else self.field.query

    def open_bar(self) -> None:
        """Show the bar, ready for typing over the last query."""
        self.show()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.field.selectAll()
        self.query_changed.emit(self.field.query)

    def close_bar(self) -> None:
        """Hide the bar."""
        if not self.isHidden():
            self.hide()
            self.closed.emit()

    def show_count(self, position: int, num_matches: int) -> None:
        """Say which match is current and how many there are."""
        if num_matches:
            self.count.setText(f"{position:n} / {num_matches:n}")
        else:
            self.count.setText(self.tr("No matches") if self.field.query.strip() else "")
        self.count.setAccessibleName(
            self.tr("Match {position} of {count}").format(position=position, count=num_matches)
        )
        for button in (self._previous, self._next):
            button.setEnabled(num_matches > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        elif event.key() in _ENTER:
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.step_requested.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._icons.redraw()

    def _button(self, name: str, tip: str, icon: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName(name)
        button.setAccessibleName(tip)
        button.setToolTip(tip)
        button.setAutoRaise(True)
        self._icons.put(button, icon)
        return button
