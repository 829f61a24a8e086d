"""Draws caption lines: outlined letters on a pane of colour; a line is drawn once and kept."""

from __future__ import annotations

import math
from typing import Final

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QPixmap,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)

from app.settings import CaptionStyle
from app.ui.caption_lines import Line, Room

_TAIL_ALPHA: Final = 0.62
_CORNER_PX: Final = 10.0
_MAX_KEPT: Final = 24


class CaptionPainter:
    """Lines of one style for a screen of `scale` pixels per point."""

    def __init__(self, style: CaptionStyle, scale: float = 1.0) -> None:
        self.style = style
        self._scale = scale
        self._font = caption_font(style)
        self._metrics = QFontMetricsF(self._font)
        self._kept: dict[tuple[Line, int], QPixmap] = {}

    @property
    def line_height(self) -> int:
        """From one line to the next, points."""
        return math.ceil(self._metrics.height() * 1.1) + self.style.outline_px

    def room(self, width: float) -> Room:
        """Return what lines must fit in when `width` points are there for them."""
        hang = self._metrics.horizontalAdvance("。")
        return Room(self._metrics.horizontalAdvance, max(1.0, width - hang), hang)

    def line(self, line: Line, width: int) -> QPixmap:
        """Return a line's picture, `width` points wide and `line_height` tall."""
        key = (line, width)
        if key not in self._kept:
            if len(self._kept) >= _MAX_KEPT:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = self._draw(line, width)
        return self._kept[key]

    def paint_pane(self, painter: QPainter, rect: QRectF, *, strength: float, is_opaque: bool) -> None:
        """Fill what lies behind the text; `strength` 1 is the style's own opacity."""
        colour = QColor(self.style.background)
        if not is_opaque:
            colour.setAlphaF(strength * self.style.opacity_percent / 100)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        if is_opaque:
            painter.drawRect(rect)
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.drawRoundedRect(rect, _CORNER_PX, _CORNER_PX)

    def _draw(self, line: Line, width: int) -> QPixmap:
        picture = QPixmap(round(width * self._scale), round(self.line_height * self._scale))
        picture.setDevicePixelRatio(self._scale)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        # A pen is drawn over its letter's edge, half inside: the letters are drawn again over it.
        for outlined in (True, False) if self.style.outline_px else (False,):
            layout = self._lay_out(line, width, outlined=outlined)
            layout.draw(painter, QPointF(0, (self.line_height - layout.lineAt(0).height()) / 2))
        painter.end()
        return picture

    def _lay_out(self, line: Line, width: int, *, outlined: bool) -> QTextLayout:
        layout = QTextLayout(line.confirmed + line.tail, self._font)
        layout.setFormats(self._formats(line, outlined=outlined))
        option = QTextOption(Qt.AlignmentFlag.AlignLeading)
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.beginLayout()
        layout.createLine().setLineWidth(width)
        layout.endLayout()
        return layout

    def _formats(self, line: Line, *, outlined: bool) -> list[QTextLayout.FormatRange]:
        ranges = []
        start = 0
        for text, alpha in ((line.confirmed, 1.0), (line.tail, _TAIL_ALPHA)):
            # Qt counts UTF-16 units, Python characters.
            length = len(text.encode("utf-16-le")) // 2
            if length:
                span = QTextLayout.FormatRange()
                span.start, span.length = start, length
                span.format = self._format(alpha, outlined=outlined)
                ranges.append(span)
            start += length
        return ranges

    def _format(self, alpha: float, *, outlined: bool) -> QTextCharFormat:
        made = QTextCharFormat()
        if outlined:
            colour = QColor(self.style.outline_colour)
            made.setForeground(QBrush(colour))
            pen = QPen(colour, 2.0 * self.style.outline_px)
            pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
            made.setTextOutline(pen)
        else:
            colour = QColor(self.style.text_colour)
            if alpha < 1.0:
                colour = _between(QColor(self.style.background), colour, alpha)
            made.setForeground(QBrush(colour))
        return made


def caption_font(style: CaptionStyle) -> QFont:
    """Return the font of a style; scripts it lacks come from the system's other fonts."""
    font = QFont(style.family) if style.family else QFont()
    font.setPointSize(style.size_pt)
    font.setWeight(QFont.Weight.Bold if style.is_bold else QFont.Weight.Medium)
    # Letters on their outline must not move by fractions from line to line.
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font


def _between(ground: QColor, colour: QColor, share: float) -> QColor:
    """Return a colour that lies between two, opaque: a see-through letter would show its outline."""

    def mix(one: int, other: int) -> int:
        return round(one + (other - one) * share)

    return QColor(
        mix(ground.red(), colour.red()),
        mix(ground.green(), colour.green()),
        mix(ground.blue(), colour.blue()),
    )
