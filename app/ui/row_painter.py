"""Draws the rows of a transcript and keeps the lines of those drawn last."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QBrush, QPainter, QPen, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyle

from app.ui.clock import clock_text
from app.ui.icons import pixmap
from app.ui.row_style import RowColours, RowStyle, lay_out, row_height
from app.ui.text_search import TextSearch
from app.ui.transcript_model import TranscriptModel, TranscriptRole

_MAX_LAYOUTS: Final = 300
_ABOUT: Final = "~"
"""Before a time that no model has measured."""


@dataclass(frozen=True)
class RowState:
    """How a row stands among the others at this moment."""

    is_selected: bool = False
    is_playing: bool = False
    is_current: bool = False
    is_edited: bool = False
    """An editor lies over the text."""


class RowPainter:
    """Knows where the parts of a row are and draws them, in the rectangle the list gives."""

    def __init__(
        self, model: TranscriptModel, search: TextSearch, style: RowStyle, colours: RowColours
    ) -> None:
        self._model = model
        self._search = search
        self._layouts: OrderedDict[tuple[int, bool], tuple[str, QTextLayout]] = OrderedDict()
        self.style = style
        self.colours = colours
        self.row_width = 0
        self.with_hours = False
        self.direction = Qt.LayoutDirection.LeftToRight

    def forget_layouts(self) -> None:
        """Break all lines anew when they are next drawn, after a change of width or font."""
        self._layouts.clear()

    def height(self, row: int) -> int:
        """Lay `row` out and return how tall it is."""
        return row_height(self._layout(row), self.style)

    def paint(self, painter: QPainter, row: int, rect: QRect, state: RowState) -> None:
        """Draw `row` within `rect`."""
        self._paint_ground(painter, rect, state)
        layout = self._layout(row)
        is_tail = self._model.is_tail(row)
        if not is_tail:
            self._paint_gutter(painter, row, rect, state, layout.lineAt(0).ascent())
        if not state.is_edited:
            painter.setPen(self.colours.muted if is_tail else self.colours.text)
            layout.draw(painter, QPointF(self.text_rect(rect).topLeft()), self._highlights(row))

    def text_rect(self, rect: QRect) -> QRect:
        """Return where the text of a row at `rect` stands."""
        style = self.style
        width = style.text_width(self.row_width)
        height = rect.height() - 2 * style.pad_y
        return self._mirrored(rect, QRect(style.text_left, style.pad_y, width, height))

    def gutter_rect(self, rect: QRect) -> QRect:
        """Return the part of a row at `rect` that is clicked to hear it."""
        return self._mirrored(rect, QRect(0, 0, self.style.gutter_width, rect.height()))

    def mark_rect(self, rect: QRect) -> QRect:
        """Return where the mark of a doubtful row at `rect` is."""
        style = self.style
        drop = (style.text_font_em - style.mark_size) // 2
        return self._mirrored(
            rect, QRect(style.mark_left, style.pad_y + drop, style.mark_size, style.mark_size)
        )

    def _paint_ground(self, painter: QPainter, rect: QRect, state: RowState) -> None:
        if state.is_selected:
            painter.fillRect(rect, self.colours.selected)
        elif state.is_playing:
            painter.fillRect(rect, self.colours.playing)
        if state.is_playing:
            bar = self._mirrored(rect, QRect(0, 0, self.style.bar_width, rect.height()))
            painter.fillRect(bar, self.colours.accent)
        if state.is_current:
            painter.setPen(QPen(self.colours.accent, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5))

    def _paint_gutter(self, painter: QPainter, row: int, rect: QRect, state: RowState, ascent: float) -> None:
        painter.setFont(self.style.time_font)
        painter.setPen(self.colours.accent if state.is_playing else self.colours.muted)
        text = clock_text(self._model.starts[row], with_hours=self.with_hours)
        if not self._model.segments[row].time_source.is_measured:
            text = _ABOUT + text
        width = painter.fontMetrics().horizontalAdvance(text)
        place = self._mirrored(
            rect, QRect(self.style.time_right - width, self.style.pad_y, width, self.style.line_height)
        )
        painter.drawText(QPointF(place.left(), place.top() + ascent), text)
        if self._model.index(row).data(TranscriptRole.IS_SUSPECT):
            mark = self.mark_rect(rect)
            device = painter.device()
            scale = device.devicePixelRatioF() if device is not None else 1.0
            painter.drawPixmap(mark.topLeft(), pixmap("warning", self.colours.mark, mark.width(), scale))

    def _highlights(self, row: int) -> list[QTextLayout.FormatRange]:
        text = self._model.text(row)
        ranges = []
        if self._model.is_tail(row) and self._model.num_confirmed:
            solid = QTextLayout.FormatRange()
            solid.start, solid.length = 0, _utf16_length(text[: self._model.num_confirmed])
            colours = QTextCharFormat()
            colours.setForeground(QBrush(self.colours.text))
            solid.format = colours
            ranges.append(solid)
        for match in self._search.in_row(row):
            colours = QTextCharFormat()
            colours.setBackground(QBrush(self.colours.match))
            if match == self._search.current:
                colours.setBackground(QBrush(self.colours.current_match))
                colours.setForeground(QBrush(self.colours.on_current_match))
            span = QTextLayout.FormatRange()
            # Qt counts UTF-16 units, Python characters.
            span.start = _utf16_length(text[: match.start])
            span.length = _utf16_length(text[match.start : match.end])
            span.format = colours
            ranges.append(span)
        return ranges

    def _layout(self, row: int) -> QTextLayout:
        text, is_tail = self._model.text(row), self._model.is_tail(row)
        key = (row, is_tail)
        known = self._layouts.get(key)
        if known is not None and known[0] == text:
            self._layouts.move_to_end(key)
            return known[1]
        layout = lay_out(text, self.style, self.style.text_width(self.row_width))
        self._layouts[key] = (text, layout)
        if len(self._layouts) > _MAX_LAYOUTS:
            self._layouts.popitem(last=False)
        return layout

    def _mirrored(self, rect: QRect, part: QRect) -> QRect:
        return QStyle.visualRect(self.direction, rect, part.translated(rect.topLeft()))


def _utf16_length(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2
