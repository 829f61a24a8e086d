"""The left side of the window: search over everything, the list, and how the queue stands."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QPalette
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QToolButton, QVBoxLayout, QWidget

from app.desk import Desk
from app.library import Library
from app.ui.background import Background
from app.ui.library_list import LibraryList
from app.ui.library_search import SearchField, SearchResults
from app.ui.wording import plain


class SidePanel(QWidget):
    """Search field above; the list, or the places found, in the middle; the queue's state below.

    Signals: `hit_chosen(SearchHit)`.
    """

    hit_chosen = Signal(object)

    def __init__(
        self, desk: Desk, library: Library, background: Background, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("side_panel")
        self.setMinimumWidth(200)
        self._desk = desk
        self.search = SearchField()
        self.list = LibraryList(desk)
        self.results = SearchResults(library, background)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.list)
        self._pages.addWidget(self.results)
        self._summary = QLabel()
        self._summary.setObjectName("queue_summary")
        self._summary.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self._pause = QToolButton()
        self._pause.setObjectName("queue_pause")
        self._pause.setAutoRaise(True)
        top = QHBoxLayout()
        top.setContentsMargins(8, 4, 8, 8)
        top.addWidget(self.search)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(12, 4, 8, 4)
        bottom.addWidget(self._summary, 1)
        bottom.addWidget(self._pause)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(top)
        column.addWidget(self._pages, 1)
        column.addLayout(bottom)
        self.search.textChanged.connect(self._on_query)
        self.search.down_pressed.connect(self._enter_results)
        self.results.hit_chosen.connect(self.hit_chosen)

    def set_pause_action(self, action: QAction) -> None:
        """Show the command that holds the queue beside its state."""
        self._pause.setDefaultAction(action)

    def show_queue(self, *, is_held: bool) -> None:
        """Say how many rows run and wait."""
        num_running = self._desk.num_running
        num_waiting = self._desk.num_open - num_running
        parts = []
        if num_running:
            parts.append(self.tr("%n running", "", num_running))
        if num_waiting:
            parts.append(self.tr("%n waiting", "", num_waiting))
        if is_held:
            parts.append(self.tr("paused"))
        num_rows = self.list.rows.rowCount()
        self._summary.setText(" · ".join(parts) or self.tr("%n recording(s)", "", num_rows))
        self._pause.setAccessibleName(plain(self._pause.text()))

    def open_search(self) -> None:
        """Get ready for typing what to look for."""
        self.search.setFocus()
        self.search.selectAll()

    def _on_query(self, text: str) -> None:
        has_query = bool(text.strip())
        self._pages.setCurrentWidget(self.results if has_query else self.list)
        self.results.search(text)

    def _enter_results(self) -> None:
        page = self.results if self.search.text().strip() else self.list
        page.setFocus()
