"""Takes what the person does with a transcript's rows: reading, choosing, playing, correcting."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import (
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QResizeEvent,
    QUndoStack,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QFrame, QStyle, QToolTip, QWidget

from app.ui.clock import clock_text
from app.ui.edits import CorrectText
from app.ui.lazy_list import LazyListView
from app.ui.row_painter import RowPainter, RowState
from app.ui.row_style import RowColours, RowStyle, row_style
from app.ui.segment_editor import SegmentDelegate, SegmentEditor
from app.ui.text_search import TextSearch
from app.ui.transcript_model import TranscriptModel, TranscriptRole, text_units
from app.ui.wording import time_source_text

_KEY: Final = Qt.Key
_CONTROL: Final = Qt.KeyboardModifier.ControlModifier
_ENTER: Final = (_KEY.Key_Return, _KEY.Key_Enter)
_MOVES: Final = (
    _KEY.Key_Up,
    _KEY.Key_Down,
    _KEY.Key_PageUp,
    _KEY.Key_PageDown,
    _KEY.Key_Home,
    _KEY.Key_End,
)
_ZOOM_IN: Final = QKeySequence.StandardKey.ZoomIn
_ZOOMS: Final = (70, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300)
_NUDGE_S: Final = 1.0
_HOUR_S: Final = 3600.0


class TranscriptList(LazyListView):
    """The rows of a `TranscriptModel`.

    Signals: `seek_requested(float seconds)`: hear it from here; `nudge_requested(float seconds)`: go
    that much forward (or back); `play_pause_requested()`; `zoom_changed(int percent)`.
    """

    seek_requested = Signal(float)
    nudge_requested = Signal(float)
    play_pause_requested = Signal()
    zoom_changed = Signal(int)

    def __init__(self, model: TranscriptModel, search: TextSearch, parent: QWidget | None = None) -> None:
        # Qt asks for the editor's place while the view is still being made.
        self._editor: SegmentEditor | None = None
        super().__init__(parent)
        self._transcript = model
        self._zoom_percent = 100
        self._rows = RowPainter(model, search, self._style_now(), RowColours.of(self.palette()))
        self._edited = QPersistentModelIndex()
        self._pressed_time: int | None = None
        self.playing_row: int | None = None
        self.undo_stack = QUndoStack(self)
        self._delegate = SegmentDelegate(self._rows.style, self)
        self._delegate.editor_opened.connect(self._on_editor_opened)
        self._delegate.closeEditor.connect(self._on_editor_closed)
        self.setItemDelegate(self._delegate)
        self.setObjectName("transcript_list")
        self.setAccessibleName(self.tr("Transcript"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setModel(model)
        model.edit_wanted.connect(self._on_edit_wanted)

    @property
    def zoom_percent(self) -> int:
        """The size of the text, per cent of the font's own."""
        return self._zoom_percent

    @property
    def is_editing(self) -> bool:
        """Whether a segment is being corrected."""
        return self._editor is not None

    def set_zoom(self, percent: int) -> None:
        """Show text at `percent` of its size, 70 to 300, and keep the place."""
        percent = max(_ZOOMS[0], min(percent, _ZOOMS[-1]))
        if percent != self._zoom_percent:
            self._zoom_percent = percent
            self._restyle()
            self.zoom_changed.emit(percent)

    def zoom_by(self, steps: int) -> None:
        """Go up or down the ladder of sizes."""
        nearest = min(range(len(_ZOOMS)), key=lambda i: abs(_ZOOMS[i] - self._zoom_percent))
        self.set_zoom(_ZOOMS[max(0, min(nearest + steps, len(_ZOOMS) - 1))])

    def set_playing_row(self, row: int | None) -> None:
        """Highlight the row that is being heard."""
        for changed in {self.playing_row, row} - {None}:
            if changed is not None and changed < self.num_rows:
                self.viewport().update(self.row_rect(changed))
        self.playing_row = row

    def play_from_row(self, row: int) -> None:
        """Ask to hear a segment; the tail has no time yet."""
        start = self.model().index(row, 0).data(TranscriptRole.START)
        if start is not None:
            self.seek_requested.emit(start)

    def edit_row(self, row: int) -> None:
        """Open the editor over a segment."""
        index = self.model().index(row, 0)
        if index.flags() & Qt.ItemFlag.ItemIsEditable:
            self.setCurrentIndex(index)
            self.scrollTo(index)
            self.edit(index)

    def chosen_rows(self) -> list[int]:
        """Return the selected rows in order, or the current one when none is."""
        rows = sorted(index.row() for index in self.selectedIndexes())
        current = self.currentIndex().row()
        return rows or ([current] if current >= 0 else [])

    def chosen_text(self, *, with_times: bool = False) -> str:
        """Return the text of the chosen rows, a line each."""
        return "\n".join(self._line(row, with_times=with_times) for row in self.chosen_rows())

    def guess_rows(self) -> list[int]:
        width = self._rows.style.text_width(self._rows.row_width)
        return self._rows.style.guess_heights(self._transcript.units, width)

    def guess_row(self, row: int) -> int:
        width = self._rows.style.text_width(self._rows.row_width)
        return self._rows.style.guess_heights([text_units(self._transcript.text(row))], width)[0]

    def measure_row(self, row: int) -> int:
        if self._editor is not None and row == self._edited.row():
            return self._editor.text_height + 2 * self._rows.style.pad_y
        return self._rows.height(row)

    def paint_row(self, painter: QPainter, row: int, rect: QRect) -> None:
        state = RowState(
            is_selected=self.selectionModel().isRowSelected(row, QModelIndex()),
            is_playing=row == self.playing_row,
            is_current=row == self.currentIndex().row() and (self.hasFocus() or self.is_editing),
            is_edited=row == self._edited.row(),
        )
        self._rows.paint(painter, row, rect, state)

    def reset(self) -> None:
        self.playing_row = None
        self._editor, self._edited = None, QPersistentModelIndex()
        self._make_style()
        super().reset()

    def rowsInserted(self, parent: QModelIndex, start: int, end: int) -> None:  # type: ignore[override]
        if self.playing_row is not None and start <= self.playing_row:
            self.playing_row += end - start + 1
        if self._needs_hours() != self._rows.with_hours:
            self._make_style()
            super().rowsInserted(parent, start, end)
            self.lay_out_again()
            return
        super().rowsInserted(parent, start, end)

    def resizeEvent(self, event: QResizeEvent) -> None:
        if event.size().width() != event.oldSize().width():
            self._measure_width()
            self._rows.forget_layouts()
            self.heights.reset(self.guess_rows())
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._restyle()
        elif event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._rows.colours = RowColours.of(self.palette())
            self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, modifiers = event.key(), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        row = self.currentIndex().row()
        if event.matches(QKeySequence.StandardKey.ZoomIn) or (
            key == _KEY.Key_Equal and modifiers == _CONTROL
        ):
            self.zoom_by(1)
        elif event.matches(QKeySequence.StandardKey.ZoomOut):
            self.zoom_by(-1)
        elif key == _KEY.Key_0 and modifiers == _CONTROL:
            self.set_zoom(100)
        elif key == _KEY.Key_Space and modifiers in (Qt.KeyboardModifier.NoModifier, _CONTROL):
            self.play_pause_requested.emit()
        elif modifiers == Qt.KeyboardModifier.NoModifier and key in (_KEY.Key_Left, _KEY.Key_Right):
            self.nudge_requested.emit(_NUDGE_S if key == _KEY.Key_Right else -_NUDGE_S)
        elif modifiers == Qt.KeyboardModifier.NoModifier and key in _ENTER and row >= 0:
            self.play_from_row(row)
        elif modifiers == Qt.KeyboardModifier.NoModifier and key == _KEY.Key_F2 and row >= 0:
            self.edit_row(row)
        else:
            super().keyPressEvent(event)
            if key in _MOVES:
                self.scrolled_by_hand.emit()

    def keyboardSearch(self, search: str) -> None:
        """Do nothing: letters typed at a list would jump to rows that begin with them."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & _CONTROL:
            self.zoom_by(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        super().mousePressEvent(event)
        is_left = event.button() == Qt.MouseButton.LeftButton
        self._pressed_time = self._time_at(event.position().toPoint()) if is_left else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        over_time = self._time_at(event.position().toPoint()) is not None
        if over_time:
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        else:
            self.viewport().unsetCursor()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        row, self._pressed_time = self._pressed_time, None
        if row is not None and row == self._time_at(event.position().toPoint()):
            self.play_from_row(row)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        row = self.row_at(point.y())
        if event.button() == Qt.MouseButton.LeftButton and row is not None and self._time_at(point) is None:
            self.edit_row(row)
            if self._editor is not None:
                self._editor.put_cursor(self._editor.mapFrom(self.viewport(), point))

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            QToolTip.showText(event.globalPos(), self.tip_at(event.pos()), self.viewport())
            return True
        return super().viewportEvent(event)

    def updateEditorGeometries(self) -> None:
        if self._editor is not None and self._edited.isValid():
            self._editor.setGeometry(self._rows.text_rect(self.row_rect(self._edited.row())))

    def _time_at(self, point: QPoint) -> int | None:
        row = self.row_at(point.y())
        if row is None or self._transcript.is_tail(row):
            return None
        return row if self._rows.gutter_rect(self.row_rect(row)).contains(point) else None

    def tip_at(self, point: QPoint) -> str:
        row = self.row_at(point.y())
        if row is None:
            return ""
        rect = self.row_rect(row)
        is_doubtful = bool(self.model().index(row, 0).data(TranscriptRole.IS_SUSPECT))
        if is_doubtful and self._rows.mark_rect(rect).contains(point):
            return self.tr("The recogniser was not sure of this. Listen to it.")
        if self._time_at(point) is None:
            return ""
        source = self.model().index(row, 0).data(TranscriptRole.TIME_SOURCE)
        return f"{self.tr('Play from here')}\n{time_source_text(source)}"

    def _line(self, row: int, *, with_times: bool) -> str:
        text = self._transcript.text(row)
        if not with_times or self._transcript.is_tail(row):
            return text
        return f"{clock_text(self._transcript.starts[row], with_hours=self._rows.with_hours)}\t{text}"

    def _needs_hours(self) -> bool:
        starts = self._transcript.starts
        return bool(starts) and starts[-1] >= _HOUR_S

    def _make_style(self) -> None:
        self._rows.with_hours = self._needs_hours()
        self._rows.style = self._delegate.row_style = self._style_now()
        self._rows.forget_layouts()
        self._measure_width()

    def _style_now(self) -> RowStyle:
        return row_style(self.font(), zoom_percent=self._zoom_percent, with_hours=self._needs_hours())

    def _measure_width(self) -> None:
        # As if the scroll bar were there: its coming must not break the lines anew.
        bar = self.style().pixelMetric(QStyle.PixelMetric.PM_ScrollBarExtent, None, self)
        self._rows.row_width = self.width() - bar
        self._rows.direction = self.layoutDirection()

    def _restyle(self) -> None:
        if self._editor is not None:
            self.setFocus()
        self._make_style()
        self.lay_out_again()

    def _on_edit_wanted(self, row: int, text: str) -> None:
        self.undo_stack.push(CorrectText(self._transcript, row, text))

    def _on_editor_opened(self, editor: SegmentEditor, row: int) -> None:
        self._editor, self._edited = editor, QPersistentModelIndex(self._transcript.index(row))
        editor.play_pause_requested.connect(self.play_pause_requested)
        editor.height_changed.connect(self._on_editor_height_changed)

    def _on_editor_height_changed(self) -> None:
        if self._editor is not None:
            self.row_changed(self._edited.row())

    def _on_editor_closed(self) -> None:
        edited, self._editor, self._edited = self._edited, None, QPersistentModelIndex()
        if edited.isValid():
            self.row_changed(edited.row())
