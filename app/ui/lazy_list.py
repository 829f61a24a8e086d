"""Shows very long lists of rows of unequal height: only what is on screen is ever laid out."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QModelIndex, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.ui.row_heights import RowHeights
from app.ui.transcript_model import AnyIndex

_ACTION: Final = QAbstractItemView.CursorAction
_HINT: Final = QAbstractItemView.ScrollHint
_MAX_SETTLING: Final = 8
_MARGIN: Final = 8
"""Room above the first row and below the last one, pixels; it scrolls away with them."""


class LazyListView(QListView):
    """A list whose rows are measured when they come into view and guessed before.

    It is a QListView for what screen readers and keyboards know of one, and replaces all of its
    layout, which asks every row for its size. What is on screen hangs on an *anchor*, a row and its
    place in the viewport: when a guess above it turns out wrong, the scroll bar moves, never the text.
    While `sticks_to_end` is set the end of the last row is the anchor, whatever is added or resized.

    Signals: `scrolled_by_hand()` when the person, not the program, scrolls.
    Derived classes give `guess_row`, `guess_rows`, `measure_row` and `paint_row`.
    """

    scrolled_by_hand = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.heights = RowHeights()
        self._anchor = (0, 0)
        self._is_settling = False
        self.sticks_to_end = False
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().actionTriggered.connect(self.scrolled_by_hand)

    def guess_rows(self) -> list[int]:
        """Return a height for every row of the model, without laying out any."""
        raise NotImplementedError

    def guess_row(self, row: int) -> int:
        """Return a height for one row, without laying it out."""
        raise NotImplementedError

    def measure_row(self, row: int) -> int:
        """Lay `row` out and return its height."""
        raise NotImplementedError

    def paint_row(self, painter: QPainter, row: int, rect: QRect) -> None:
        """Draw `row` within `rect`, in the viewport's coordinates."""
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        """How many rows the list holds."""
        return len(self.heights)

    @property
    def is_at_end(self) -> bool:
        """Whether the end of the last row is on screen."""
        bar = self.verticalScrollBar()
        # The slider's position is ahead of the value while an action of the person is carried out.
        return bar.sliderPosition() >= bar.maximum() - self.fontMetrics().height()

    def row_rect(self, row: int) -> QRect:
        """Return where `row` is, in the viewport's coordinates; a guess when it is off screen."""
        top = self._top(row) - self.verticalScrollBar().value()
        return QRect(0, top, self.viewport().width(), self.heights.height(row))

    def row_at(self, y: int) -> int | None:
        """Return the row at `y` of the viewport, None below the last one."""
        y += self.verticalScrollBar().value() - _MARGIN
        return self.heights.row_at(y) if 0 <= y < self.heights.total else None

    def is_row_visible(self, row: int) -> bool:
        """Say whether all of `row` is on screen."""
        rect = self.row_rect(row)
        return rect.top() >= 0 and rect.bottom() < self.viewport().height()

    def put_row(self, row: int, y: int) -> None:
        """Scroll so that `row` begins at `y` of the viewport, as far as the ends allow."""
        self.sticks_to_end = False
        self._anchor = (row, y)
        self._settle()

    def stick_to_end(self) -> None:
        """Scroll to the end and stay there while rows come, until somebody scrolls."""
        self.sticks_to_end = True
        self._settle()

    def lay_out_again(self) -> None:
        """Guess all rows anew, after a change of width, font or model, and keep the place."""
        self.heights.reset(self.guess_rows())
        self._settle()

    def row_changed(self, row: int) -> None:
        """Measure `row` anew, because what it shows has changed."""
        self.heights.forget(row, self.guess_row(row))
        self._settle()

    def reset(self) -> None:
        super().reset()
        self._anchor = (0, 0)
        self.lay_out_again()

    def rowsInserted(self, parent: AnyIndex, start: int, end: int) -> None:
        for row in range(start, end + 1):
            self.heights.insert(row, self.guess_row(row))
        row, y = self._anchor
        if start < row:
            self._anchor = (row + end - start + 1, y)
        QAbstractItemView.rowsInserted(self, parent, start, end)
        self._settle()

    def rowsAboutToBeRemoved(self, parent: AnyIndex, start: int, end: int) -> None:
        QAbstractItemView.rowsAboutToBeRemoved(self, parent, start, end)
        self.heights.truncate(start)
        row, y = self._anchor
        self._anchor = (min(row, max(0, start - 1)), y)
        self._settle()

    def dataChanged(self, first: AnyIndex, last: AnyIndex, roles: list[int] = []) -> None:  # type: ignore[override]  # noqa: B006
        QAbstractItemView.dataChanged(self, first, last, roles)
        for row in range(first.row(), last.row() + 1):
            self.heights.forget(row, self.guess_row(row))
        self._settle()

    def currentChanged(self, current: AnyIndex, previous: AnyIndex) -> None:
        QAbstractItemView.currentChanged(self, current, previous)
        self.viewport().update()
        # QListView would look the row up in the layout that is not there, and tell readers nothing.
        if QAccessible.isActive() and current.isValid() and self.hasFocus():
            event = QAccessibleEvent(self, QAccessible.Event.Focus)
            event.setChild(current.row())
            QAccessible.updateAccessibility(event)

    def selectionChanged(self, selected: QItemSelection, deselected: QItemSelection) -> None:
        # As in currentChanged: QListView's own would look for rows in its empty layout.
        QAbstractItemView.selectionChanged(self, selected, deselected)

    # QListView's own versions of the next two would ask every row for its size.
    def doItemsLayout(self) -> None:
        QAbstractItemView.doItemsLayout(self)

    def updateGeometries(self) -> None:
        QAbstractItemView.updateGeometries(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        QAbstractItemView.resizeEvent(self, event)
        self._settle()

    def scrollContentsBy(self, _dx: int, dy: int) -> None:
        if self._is_settling:
            return
        self.sticks_to_end = self.sticks_to_end and self.is_at_end
        row, y = self._anchor
        if abs(dy) < self.viewport().height():
            self._anchor = (row, y + dy)
        elif self.num_rows:
            value = self.verticalScrollBar().value()
            row = self.heights.row_at(value - _MARGIN)
            self._anchor = (row, self._top(row) - value)
        self._settle()

    def visualRect(self, index: AnyIndex) -> QRect:
        if not index.isValid() or index.row() >= self.num_rows:
            return QRect()
        return self.row_rect(index.row())

    def indexAt(self, point: QPoint) -> QModelIndex:
        row = self.row_at(point.y())
        return QModelIndex() if row is None else self.model().index(row, 0)

    def scrollTo(self, index: AnyIndex, hint: QAbstractItemView.ScrollHint = _HINT.EnsureVisible) -> None:
        row = index.row()
        if not index.isValid() or row >= self.num_rows:
            return
        self._measure(row)
        rect, height = self.row_rect(row), self.viewport().height()
        if hint == _HINT.PositionAtCenter:
            self.put_row(row, max(0, (height - rect.height()) // 2))
        elif hint == _HINT.PositionAtTop or rect.top() < 0:
            self.put_row(row, 0)
        elif hint == _HINT.PositionAtBottom or rect.bottom() >= height:
            self.put_row(row, max(0, height - rect.height()))

    def moveCursor(
        self, action: QAbstractItemView.CursorAction, _modifiers: Qt.KeyboardModifier
    ) -> QModelIndex:
        if not self.num_rows:
            return QModelIndex()
        current = self.currentIndex().row()
        match action:
            case _ACTION.MoveHome:
                row = 0
            case _ACTION.MoveEnd:
                row = self.num_rows - 1
            case _ACTION.MovePageUp | _ACTION.MovePageDown:
                row = self._row_a_page_away(max(0, current), down=action == _ACTION.MovePageDown)
            case _ACTION.MoveUp | _ACTION.MovePrevious:
                row = current - 1
            case _ACTION.MoveDown | _ACTION.MoveNext:
                row = current + 1
            case _:
                row = current
        return self.model().index(max(0, min(row, self.num_rows - 1)), 0)

    def horizontalOffset(self) -> int:
        return 0

    def verticalOffset(self) -> int:
        return self.verticalScrollBar().value()

    def isIndexHidden(self, _index: AnyIndex) -> bool:
        return False

    def setSelection(self, rect: QRect, flags: QItemSelectionModel.SelectionFlag) -> None:
        rect = rect.normalized()
        offset = self.verticalScrollBar().value() - _MARGIN
        if rect.bottom() + offset < 0 or rect.top() + offset >= self.heights.total:
            self.selectionModel().select(QItemSelection(), flags)
            return
        first, last = (self._nearest_row(y) for y in (rect.top(), rect.bottom()))
        rows = QItemSelection(self.model().index(first, 0), self.model().index(last, 0))
        self.selectionModel().select(rows, flags)

    def visualRegionForSelection(self, selection: QItemSelection) -> QRegion:
        region = QRegion()
        screen = self.viewport().rect()
        for at in range(selection.size()):
            span = selection.at(at)
            top = self.row_rect(span.top()).top()
            bottom = self.row_rect(span.bottom()).bottom()
            region += QRect(0, top, screen.width(), bottom - top + 1).intersected(screen)
        return region

    def wheelEvent(self, event: QWheelEvent) -> None:
        QAbstractItemView.wheelEvent(self, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        row = self._nearest_row(event.rect().top()) if self.num_rows else 0
        while row < self.num_rows:
            rect = self.row_rect(row)
            if rect.top() > event.rect().bottom():
                break
            self.paint_row(painter, row, rect)
            row += 1

    def _settle(self) -> None:
        """Measure the rows on screen around the anchor and let the scroll bar say the same."""
        if self._is_settling:
            return
        self._is_settling = True
        try:
            value = self._measure_around_anchor() if self.num_rows else 0
            bar, height = self.verticalScrollBar(), self.viewport().height()
            bar.setPageStep(height)
            bar.setSingleStep(max(1, self.fontMetrics().lineSpacing()))
            bar.setRange(0, max(0, self._extent - height))
            bar.setValue(value)
        finally:
            self._is_settling = False
        if self.num_rows:
            row = self.heights.row_at(value - _MARGIN)
            self._anchor = (row, self._top(row) - value)
        self.updateEditorGeometries()
        self.viewport().update()

    def _measure_around_anchor(self) -> int:
        """Measure what is on screen and return the offset of its top, within the ends."""
        height = self.viewport().height()
        if self.sticks_to_end:
            self._measure(self.num_rows - 1)
            self._anchor = (self.num_rows - 1, height - _MARGIN - self.heights.height(self.num_rows - 1))
        row, y = min(self._anchor[0], self.num_rows - 1), self._anchor[1]
        value = 0
        for _ in range(_MAX_SETTLING):
            above, top = row, y
            while above > 0 and top > 0:
                above -= 1
                self._measure(above)
                top -= self.heights.height(above)
            below, bottom = row, y
            while below < self.num_rows and bottom < height:
                self._measure(below)
                bottom += self.heights.height(below)
                below += 1
            wanted = self._top(row) - y
            value = max(0, min(wanted, self._extent - height))
            if value == wanted:
                break
            y += wanted - value
        return value

    @property
    def _extent(self) -> int:
        return self.heights.total + 2 * _MARGIN

    def _top(self, row: int) -> int:
        return self.heights.top(row) + _MARGIN

    def _measure(self, row: int) -> None:
        if not self.heights.is_measured(row):
            self.heights.measure(row, self.measure_row(row))

    def _row_a_page_away(self, row: int, *, down: bool) -> int:
        top = self.heights.top(row)
        page = self.viewport().height()
        return self.heights.row_at(max(0, top + page if down else top - page))

    def _nearest_row(self, y: int) -> int:
        offset = y + self.verticalScrollBar().value() - _MARGIN
        return self.heights.row_at(max(0, min(offset, self.heights.total - 1)))
