"""Decides how a row of the transcript looks: fonts, places and colours, and lays its text out."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPalette, QTextLayout, QTextOption

_ROLE: Final = QPalette.ColorRole
_AMBER: Final = QColor("#f2b01e")
_MAX_LINE_EM: Final = 46
"""Longer lines make the eye lose its place on the way back."""


@dataclass(frozen=True)
class RowStyle:
    """Fonts and places of a row, in pixels from its leading top corner."""

    text_font: QFont
    time_font: QFont
    line_gap: int
    line_height: int
    character_width: int
    pad_y: int
    bar_width: int
    mark_left: int
    mark_size: int
    time_right: int
    text_left: int
    margin: int

    @property
    def gutter_width(self) -> int:
        """Where the gutter of the times ends and the text's half of the gap begins."""
        return (self.time_right + self.text_left) // 2

    def text_width(self, row_width: int) -> int:
        """Return how wide lines of text may be in a row of `row_width`."""
        room = row_width - self.text_left - self.margin
        return max(4 * self.line_height, min(room, _MAX_LINE_EM * self.text_font_em))

    @property
    def text_font_em(self) -> int:
        """The height of the text's letters, the unit of everything else."""
        return self.line_height - self.line_gap

    def guess_heights(self, units: Sequence[int], text_width: int) -> list[int]:
        """Return the heights of texts so many Latin letters wide, without laying them out."""
        letter, line = self.character_width, self.line_height
        one_line = 2 * self.pad_y + line - self.line_gap
        return [one_line + num_units * letter // text_width * line for num_units in units]


def row_style(font: QFont, *, zoom_percent: int, with_hours: bool) -> RowStyle:
    """Return the places for a text of `font` at a zoom; `with_hours` makes room for `0:00:00`."""
    text_font = QFont(font)
    if font.pointSizeF() > 0:
        text_font.setPointSizeF(font.pointSizeF() * zoom_percent / 100)
    else:
        text_font.setPixelSize(max(1, font.pixelSize() * zoom_percent // 100))
    time_font = QFont(text_font)
    if font.pointSizeF() > 0:
        time_font.setPointSizeF(text_font.pointSizeF() * 0.9)
    time_font.setFeature(QFont.Tag("tnum"), 1)
    em = QFontMetrics(text_font).height()
    mark = round(em * 0.8)
    mark_left = round(em * 0.5)
    times = QFontMetrics(time_font).horizontalAdvance("00:00:00" if with_hours else "00:00")
    time_right = mark_left + mark + round(em * 0.3) + times
    gap = round(em * 0.22)
    return RowStyle(
        text_font=text_font,
        time_font=time_font,
        line_gap=gap,
        line_height=em + gap,
        character_width=max(1, QFontMetrics(text_font).averageCharWidth()),
        pad_y=round(em * 0.4),
        bar_width=max(3, em // 6),
        mark_left=mark_left,
        mark_size=mark,
        time_right=time_right,
        text_left=time_right + round(em * 0.9),
        margin=round(em * 0.9),
    )


def lay_out(text: str, style: RowStyle, text_width: int) -> QTextLayout:
    """Return `text` broken into lines, the first at zero; right-to-left text stands on the right."""
    layout = QTextLayout(text.replace("\n", "\u2028"), style.text_font)
    is_reversed = _is_right_to_left(text)
    option = QTextOption(Qt.AlignmentFlag.AlignRight if is_reversed else Qt.AlignmentFlag.AlignLeft)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    layout.setTextOption(option)
    layout.setCacheEnabled(True)
    layout.beginLayout()
    y = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(text_width)
        line.setPosition(QPointF(0, y))
        y += line.height() + style.line_gap
    layout.endLayout()
    return layout


def _is_right_to_left(text: str) -> bool:
    """Say whether the first letter that has a direction is written from right to left (UAX 9, P2)."""
    for character in text:
        match unicodedata.bidirectional(character):
            case "L":
                return False
            case "R" | "AL":
                return True
    return False


def row_height(layout: QTextLayout, style: RowStyle) -> int:
    """Return how tall the row of a laid-out text is, its padding included."""
    last = layout.lineAt(layout.lineCount() - 1)
    return 2 * style.pad_y + round(last.y() + last.height())


@dataclass(frozen=True)
class RowColours:
    """Every colour of the transcript, mixed from the palette, so that both themes follow by themselves."""

    text: QColor
    muted: QColor
    accent: QColor
    selected: QColor
    playing: QColor
    match: QColor
    current_match: QColor
    on_current_match: QColor
    mark: QColor

    @classmethod
    def of(cls, palette: QPalette) -> RowColours:
        """Return the colours for a palette."""
        base, text = palette.color(_ROLE.Base), palette.color(_ROLE.Text)
        accent = palette.color(_ROLE.Accent)
        return cls(
            text=text,
            muted=palette.color(_ROLE.PlaceholderText),
            accent=accent,
            selected=_mix(accent, base, 0.26),
            playing=_mix(accent, base, 0.11),
            match=_mix(_AMBER, base, 0.42),
            current_match=_AMBER,
            on_current_match=QColor(Qt.GlobalColor.black),
            # Amber alone is too pale on white to be seen as a small figure.
            mark=_AMBER if base.lightness() < 128 else _AMBER.darker(135),
        )


def _mix(colour: QColor, ground: QColor, share: float) -> QColor:
    parts = (
        round(one * share + other * (1 - share))
        for one, other in zip(colour.getRgb()[:3], ground.getRgb()[:3], strict=True)  # type: ignore[index]
    )
    return QColor(*parts)
