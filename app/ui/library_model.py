"""The rows of the library for Qt's views: what the desk knows, redrawn as it changes, moved by dragging."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from app.desk import ChangeKind, Desk, DeskChange, Row
from app.library import RowState
from app.ui.wording import spoken, state_line

ROWS_MIME: Final = "application/x-jamak-rows"
ROW_ROLE: Final = Qt.ItemDataRole.UserRole + 1
"""The `Row` of an index."""
AnyIndex = QModelIndex | QPersistentModelIndex


class LibraryModel(QAbstractListModel):
    """One line for every recording, in the desk's order.

    Signals: `move_requested(ids, index)` when rows were dropped in front of `index`.
    """

    move_requested = Signal(object, int)

    def __init__(self, desk: Desk, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desk = desk
        self._rows = desk.rows()

    def apply(self, change: DeskChange) -> None:
        """Take over one change of the desk."""
        match change.kind:
            case ChangeKind.ADDED | ChangeKind.REMOVED | ChangeKind.ORDER:
                self._rearrange()
            case ChangeKind.ROW | ChangeKind.PROGRESS | ChangeKind.SEGMENT:
                self._refresh(change.recording_id)
            case _:
                pass

    def index_of(self, recording_id: int | None) -> QModelIndex:
        """Return where a recording is; an invalid index where it is not."""
        for place, row in enumerate(self._rows):
            if row.recording.id == recording_id:
                return self.index(place)
        return QModelIndex()

    def row_at(self, index: AnyIndex) -> Row | None:
        """Return the row of an index."""
        return self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None

    @property
    def has_failed(self) -> bool:
        """Whether a recording is in the list that could not be transcribed."""
        return any(row.recording.state is RowState.FAILED for row in self._rows)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        """Return the number of recordings."""
        return 0 if parent.isValid() else len(self._rows)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """Return name, tool tip, spoken text, or the `Row` itself."""
        row = self.row_at(index)
        if row is None:
            return None
        match role:
            case Qt.ItemDataRole.DisplayRole:
                return row.recording.name
            case Qt.ItemDataRole.ToolTipRole:
                return f"{row.recording.path}\n{state_line(row)}"
            case Qt.ItemDataRole.AccessibleTextRole:
                return spoken(row)
            case _:
                return row if role == ROW_ROLE else None

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        """Rows can be dragged, and dropped between others but not onto them."""
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        return flags | (Qt.ItemFlag.ItemIsDragEnabled if index.isValid() else Qt.ItemFlag.ItemIsDropEnabled)

    def supportedDropActions(self) -> Qt.DropAction:
        """Rows are moved, never copied."""
        return Qt.DropAction.MoveAction

    def mimeTypes(self) -> list[str]:
        """Only our own rows are dropped here; files are the window's affair."""
        return [ROWS_MIME]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        """Carry the dragged rows' ids, in list order."""
        places = sorted(index.row() for index in indexes)
        mime = QMimeData()
        mime.setData(ROWS_MIME, json.dumps([self._rows[place].recording.id for place in places]).encode())
        return mime

    def dropMimeData(
        self,
        data: QMimeData,
        action: Qt.DropAction,
        row: int,
        column: int,  # noqa: ARG002 - Qt's signature
        parent: AnyIndex,  # noqa: ARG002
    ) -> bool:
        """Ask for the move; False, so that the view does not remove the dragged rows itself."""
        if data.hasFormat(ROWS_MIME) and action == Qt.DropAction.MoveAction:
            ids = json.loads(data.data(ROWS_MIME).toStdString())
            self.move_requested.emit(ids, row if row >= 0 else len(self._rows))
        return False

    def _rearrange(self) -> None:
        """Take the desk's order; selection and current row stay with their recordings."""
        rows = self._desk.rows()
        before = [row.recording.id for row in self._rows]
        after = [row.recording.id for row in rows]
        if after[: len(before)] == before:
            self._insert(len(before), rows[len(before) :])
            return
        self._drop(set(before) - set(after))
        for place, row in enumerate(rows):
            if row.recording.id not in before:
                self._insert(min(place, len(self._rows)), [row])
        self._reorder(rows)

    def _reorder(self, rows: list[Row]) -> None:
        self.layoutAboutToBeChanged.emit()
        persistent = self.persistentIndexList()
        moved = [self._rows[index.row()].recording.id for index in persistent]
        places = {row.recording.id: place for place, row in enumerate(rows)}
        self._rows = rows
        self.changePersistentIndexList(persistent, [self.index(places[one]) for one in moved])
        self.layoutChanged.emit()

    def _insert(self, place: int, rows: list[Row]) -> None:
        if rows:
            self.beginInsertRows(QModelIndex(), place, place + len(rows) - 1)
            self._rows = [*self._rows[:place], *rows, *self._rows[place:]]
            self.endInsertRows()

    def _drop(self, removed: set[int]) -> None:
        for place in range(len(self._rows) - 1, -1, -1):
            if self._rows[place].recording.id in removed:
                self.beginRemoveRows(QModelIndex(), place, place)
                self._rows = [*self._rows[:place], *self._rows[place + 1 :]]
                self.endRemoveRows()

    def _refresh(self, recording_id: int | None) -> None:
        index = self.index_of(recording_id)
        if index.isValid() and recording_id is not None and (row := self._desk.row(recording_id)):
            self._rows[index.row()] = row
            self.dataChanged.emit(index, index)
