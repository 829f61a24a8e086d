"""Sentences at the foot of the window that need no answer to go on: what happened, and what can be done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.ui import icons

MAX_SHOWN: Final = 3


class NoticeKind(StrEnum):
    """How urgent a notice is; decides its icon."""

    INFO = "info"
    WARNING = "warning"


@dataclass(frozen=True)
class Choice:
    """A button of a notice: pressing it does `action` and closes the notice."""

    text: str
    action: Callable[[], None]


class Notice(QFrame):
    """One sentence with its buttons.

    Signals: `closed` when a button was pressed, it was dismissed, or its time is over.
    """

    closed = Signal()

    def __init__(self, text: str, kind: NoticeKind, choices: tuple[Choice, ...]) -> None:
        super().__init__()
        self.setObjectName("notice")
        self.setAccessibleName(text)
        self._kind = kind
        self._picture = QLabel()
        sentence = QLabel(text)
        sentence.setObjectName("notice_text")
        sentence.setTextFormat(Qt.TextFormat.PlainText)
        sentence.setWordWrap(True)
        sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(10)
        row.addWidget(self._picture, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(sentence, 1)
        for index, choice in enumerate(choices):
            row.addWidget(self._button(choice, index))
        self._dismiss = QToolButton()
        self._dismiss.setObjectName("notice_dismiss")
        self._dismiss.setAccessibleName(self.tr("Dismiss"))
        self._dismiss.setToolTip(self.tr("Dismiss"))
        self._dismiss.setAutoRaise(True)
        self._dismiss.clicked.connect(self.closed)
        row.addWidget(self._dismiss, 0, Qt.AlignmentFlag.AlignTop)
        self.redraw()

    def redraw(self) -> None:
        """Follow the palette."""
        self._picture.setPixmap(icons.icon(self._kind.value).pixmap(18, 18))
        self._dismiss.setIcon(icons.icon("close"))

    def _button(self, choice: Choice, index: int) -> QPushButton:
        button = QPushButton(choice.text)
        button.setObjectName(f"notice_choice_{index}")
        button.setAccessibleName(choice.text)

        def press() -> None:
            self.closed.emit()
            choice.action()

        button.clicked.connect(press)
        return button


class NoticeBar(QWidget):
    """The notices that are on screen, newest below; the oldest make room beyond `MAX_SHOWN`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("notices")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(8, 8, 8, 8)
        self._column.setSpacing(6)
        self._shown: dict[str, Notice] = {}
        self.hide()

    def tell(
        self,
        text: str,
        *choices: Choice,
        kind: NoticeKind = NoticeKind.INFO,
        key: str | None = None,
        lasts_s: float | None = None,
    ) -> None:
        """Show `text` instead of the notice with the same `key`; without `lasts_s` until it is dismissed."""
        name = key or text
        self.withdraw(name)
        while len(self._shown) >= MAX_SHOWN:
            self.withdraw(next(iter(self._shown)))
        notice = Notice(text, kind, choices)
        self._shown[name] = notice
        notice.closed.connect(lambda: self._close(name, notice))
        self._column.addWidget(notice)
        self.show()
        if lasts_s is not None:
            timer = QTimer(notice)
            timer.setSingleShot(True)
            timer.timeout.connect(notice.closed)
            timer.start(round(lasts_s * 1000))
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def withdraw(self, key: str) -> None:
        """Take the notice called `key` away, if it is there."""
        if notice := self._shown.get(key):
            self._close(key, notice)

    def texts(self) -> list[str]:
        """Return the sentences on screen, oldest first."""
        return [notice.accessibleName() for notice in self._shown.values()]

    def redraw(self) -> None:
        """Follow the palette."""
        for notice in self._shown.values():
            notice.redraw()

    def _close(self, key: str, notice: Notice) -> None:
        if self._shown.get(key) is not notice:
            return
        del self._shown[key]
        notice.hide()
        self._column.removeWidget(notice)
        notice.deleteLater()
        self.setVisible(bool(self._shown))
