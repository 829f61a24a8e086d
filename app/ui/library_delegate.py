"""Draws a row of the library: its name, what it is doing, a thin bar while it runs.

A row that failed says why, on as many lines as that takes, with Retry beside it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QMouseEvent, QPainter, QPalette, QTextLayout, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.desk import Row
from app.library import RowState
from app.ui.library_model import ROW_ROLE
from app.ui.wording import state_line

_PAD: Final = 10
_GAP: Final = 3
_BAR_PX: Final = 4
_MAX_LINES: Final = 4
"""Of a reason; the whole of it is in the tool tip and beside the transcript."""
AnyIndex = QModelIndex | QPersistentModelIndex
_ROLE = QPalette.ColorRole


class LibraryDelegate(QStyledItemDelegate):
    """Two lines and a bar for each row.

    Signals: `retry_requested(recording_id)` when the Retry link of a failed row was clicked.
    """

    retry_requested = Signal(int)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._pressed_row: int | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        """Return the height of two lines and the bar, or of a name and the whole reason it failed for."""
        line = option.fontMetrics.height()
        height = 2 * _PAD + 2 * line + _GAP + _BAR_PX + _GAP
        row = index.data(ROW_ROLE)
        if isinstance(row, Row) and row.recording.state is RowState.FAILED and option.widget is not None:
            view = option.widget.viewport() if isinstance(option.widget, QAbstractItemView) else option.widget
            rect = QRect(0, 0, view.width(), height)
            height += (len(self._reason(option, row, rect)) - 1) * line
        return QSize(160, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        """Draw one row."""
        row = index.data(ROW_ROLE)
        if not isinstance(row, Row):
            return
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        self._paint_ground(painter, option)
        inner = _inner(option.rect)
        line = option.fontMetrics.height()
        name = QRect(inner.left(), inner.top(), inner.width(), line)
        state = name.translated(0, line + _GAP)
        text = _ROLE.HighlightedText if is_selected else _ROLE.Text
        painter.setPen(option.palette.color(text))
        elided = option.fontMetrics.elidedText(row.recording.name, Qt.TextElideMode.ElideMiddle, name.width())
        painter.drawText(name, _LINE, elided)
        self._paint_state(painter, option, row, state)
        if row.recording.state is RowState.RUNNING:
            bar = QRect(state.left(), state.bottom() + _GAP + 1, state.width(), _BAR_PX)
            _paint_bar(painter, option.palette, bar, row.fraction, is_selected=is_selected)
        painter.restore()

    def editorEvent(
        self,
        event: QEvent,
        model: QObject,  # noqa: ARG002 - Qt's signature
        option: QStyleOptionViewItem,
        index: AnyIndex,
    ) -> bool:
        """Take a click on Retry: pressed and released on the same row's link."""
        row = index.data(ROW_ROLE)
        if not isinstance(event, QMouseEvent) or not isinstance(row, Row) or not _can_retry(row):
            return False
        is_on_link = self.retry_rect(option.rect, option.fontMetrics).contains(event.position().toPoint())
        if event.type() == QEvent.Type.MouseButtonPress and is_on_link:
            self._pressed_row = row.recording.id
            return True
        if event.type() == QEvent.Type.MouseButtonRelease and self._pressed_row == row.recording.id:
            self._pressed_row = None
            if is_on_link:
                self.retry_requested.emit(row.recording.id)
            return True
        return False

    def retry_rect(self, rect: QRect, metrics: QFontMetrics) -> QRect:
        """Return where Retry is written in a row that fills `rect`."""
        inner = _inner(rect)
        width = metrics.horizontalAdvance(self.tr("Retry"))
        top = inner.top() + metrics.height() + _GAP
        return QRect(inner.right() - width, top, width + 1, metrics.height())

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        style = option.widget.style() if option.widget else QApplication.style()
        style.drawPrimitive(QStyle.PrimitiveElement.PE_PanelItemViewItem, option, painter, option.widget)
        if option.state & QStyle.StateFlag.State_HasFocus:
            pen = option.palette.color(_ROLE.Accent)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(option.rect.adjusted(0, 0, -1, -1))

    def _paint_state(self, painter: QPainter, option: QStyleOptionViewItem, row: Row, rect: QRect) -> None:
        is_selected = bool(option.state & QStyle.StateFlag.State_Selected)
        has_failed = row.recording.state is RowState.FAILED
        muted = option.palette.color(_ROLE.PlaceholderText)
        if is_selected:
            muted = option.palette.color(_ROLE.HighlightedText)
            muted.setAlpha(210)
        elif has_failed:
            muted = option.palette.color(_ROLE.BrightText)
        painter.setPen(muted)
        room = QRect(rect)
        if _can_retry(row):
            link = self.retry_rect(option.rect, option.fontMetrics)
            room.setRight(link.left() - _PAD)
            painter.save()
            painter.setPen(option.palette.color(_ROLE.HighlightedText if is_selected else _ROLE.Link))
            font = painter.font()
            font.setUnderline(True)
            painter.setFont(font)
            painter.drawText(link, _LINE, self.tr("Retry"))
            painter.restore()
        if has_failed:
            for text in self._reason(option, row, option.rect):
                painter.drawText(room, _LINE, text)
                room.translate(0, option.fontMetrics.height())
            return
        line = option.fontMetrics.elidedText(state_line(row), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, _LINE, line)

    def _reason(self, option: QStyleOptionViewItem, row: Row, rect: QRect) -> list[str]:
        """Return the lines of a failed row that fills `rect`, beside its link."""
        left = _inner(rect).left()
        width = self.retry_rect(rect, option.fontMetrics).left() - _PAD - left
        return _wrapped(state_line(row), option.font, width)


_LINE: Final = int(
    Qt.AlignmentFlag.AlignLeft
    | Qt.AlignmentFlag.AlignVCenter
    | Qt.TextFlag.TextSingleLine
    | Qt.TextFlag.TextDontClip
)


def _wrapped(text: str, font: QFont, width: int) -> list[str]:
    """Break `text` into lines of a width; what is behind the last one is elided."""
    layout = QTextLayout(text, font)
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    layout.beginLayout()
    starts = []
    while (line := layout.createLine()).isValid():
        line.setLineWidth(max(1, width))
        starts.append(line.textStart())
    layout.endLayout()
    # Qt counts UTF-16 units.
    units = text.encode("utf-16-le")
    parts = [
        units[2 * first : 2 * last].decode("utf-16-le").rstrip()
        for first, last in pairwise([*starts, len(units) // 2])
    ]
    if len(parts) > _MAX_LINES:
        rest = units[2 * starts[_MAX_LINES - 1] :].decode("utf-16-le")
        elided = QFontMetrics(font).elidedText(rest, Qt.TextElideMode.ElideRight, width)
        parts = [*parts[: _MAX_LINES - 1], elided]
    return parts or [""]


def _inner(rect: QRect) -> QRect:
    return rect.adjusted(_PAD + 2, _PAD, -_PAD - 2, -_PAD)


def _can_retry(row: Row) -> bool:
    return row.recording.state in (RowState.FAILED, RowState.CANCELLED)


def _paint_bar(
    painter: QPainter, palette: QPalette, rect: QRect, fraction: float | None, *, is_selected: bool
) -> None:
    """Draw the bar; without a fraction only its trough."""
    trough = palette.color(_ROLE.HighlightedText if is_selected else _ROLE.Mid)
    trough.setAlpha(90 if is_selected else 160)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(trough)
    painter.drawRoundedRect(rect, _BAR_PX / 2, _BAR_PX / 2)
    if fraction:
        full = QRect(rect)
        full.setWidth(max(_BAR_PX, round(rect.width() * fraction)))
        painter.setBrush(palette.color(_ROLE.HighlightedText if is_selected else _ROLE.Accent))
        painter.drawRoundedRect(full, _BAR_PX / 2, _BAR_PX / 2)
