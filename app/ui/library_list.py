"""The list of recordings at the left: choose, move, retry, cancel and remove, by mouse and by keyboard."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QWidget

from app.desk import Desk, Row
from app.ui.library_delegate import LibraryDelegate
from app.ui.library_model import ROWS_MIME, AnyIndex, LibraryModel


class LibraryList(QListView):
    """The view over a `LibraryModel`.

    Signals: `chosen(recording_id or None)` when another row became the current one;
    `selection_shifted` when the selected rows or their state changed; `opened(recording_id)` on Enter;
    `menu_requested(global position)`; `play_pause_requested` on Space; `retry_requested(recording_id)`;
    `move_requested(ids, index)`.
    """

    chosen = Signal(object)
    selection_shifted = Signal()
    opened = Signal(int)
    menu_requested = Signal(QPoint)
    play_pause_requested = Signal()
    retry_requested = Signal(int)
    move_requested = Signal(object, int)

    def __init__(self, desk: Desk, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("library")
        self.setAccessibleName(self.tr("Recordings"))
        self.rows = LibraryModel(desk, self)
        self.setModel(self.rows)
        self._delegate = LibraryDelegate(self)
        self.setItemDelegate(self._delegate)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        self.setDefaultDropAction(Qt.DropAction.MoveAction)
        self.setDropIndicatorShown(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(
            lambda at: self.menu_requested.emit(self.viewport().mapToGlobal(at))
        )
        self.activated.connect(self._on_activated)
        self._delegate.retry_requested.connect(self.retry_requested)
        self.rows.move_requested.connect(self.move_requested)
        self.rows.dataChanged.connect(lambda *_: self.selection_shifted.emit())
        for change in (self.rows.dataChanged, self.rows.rowsInserted, self.rows.rowsRemoved):
            change.connect(lambda *_: self._fit_heights())
        self._fit_heights()

    @property
    def current_id(self) -> int | None:
        """The recording whose transcript is shown."""
        row = self.rows.row_at(self.currentIndex())
        return row.recording.id if row else None

    def selected_rows(self) -> list[Row]:
        """Return the selected rows in list order."""
        places = sorted(index.row() for index in self.selectedIndexes())
        return [row for place in places if (row := self.rows.row_at(self.rows.index(place)))]

    def choose(self, recording_id: int) -> None:
        """Make a recording the current and only selected one."""
        index = self.rows.index_of(recording_id)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        """Tell whose transcript to show."""
        super().currentChanged(current, previous)
        row = self.rows.row_at(current)
        self.chosen.emit(row.recording.id if row else None)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        """Tell that actions may be possible or impossible now."""
        super().selectionChanged(selected, deselected)
        self.selection_shifted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space plays and pauses, as everywhere in the window where no text is typed."""
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            self.play_pause_requested.emit()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take our own rows; anything else goes on to the window."""
        if event.mimeData().hasFormat(ROWS_MIME):
            super().dragEnterEvent(event)
        else:
            event.ignore()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Show where our own rows would land."""
        if event.mimeData().hasFormat(ROWS_MIME):
            super().dragMoveEvent(event)
        else:
            event.ignore()

    def _fit_heights(self) -> None:
        """Let rows differ in height while one says why it failed; asking each takes time in long lists."""
        if self.uniformItemSizes() is self.rows.has_failed:
            self.setUniformItemSizes(not self.rows.has_failed)
            self.scheduleDelayedItemsLayout()

    def _on_activated(self, index: QModelIndex) -> None:
        if row := self.rows.row_at(index):
            self.opened.emit(row.recording.id)
