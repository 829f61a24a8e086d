"""A bar that shows how loud it is, and for a moment how loud it was."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.capture.level import Level

_QUIETEST_DB: Final = -60.0
_LOUD_DB: Final = -6.0
"""From here on words begin to be bent."""
_HOLD_FRAMES: Final = 12
_FALL_PX: Final = 4
_SIZE: Final = (120, 8)
_LOUD_COLOUR: Final = "#d9822b"


class LevelMeter(QWidget):
    """Takes ten levels a second, and draws only when a pixel would change."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("level_meter")
        self.setAccessibleName(self.tr("Level"))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._bar_px = 0
        self._peak_px = 0
        self._num_held = 0

    @property
    def bar_px(self) -> int:
        """How long the bar is."""
        return self._bar_px

    @property
    def peak_px(self) -> int:
        """Where the loudest moment of the last second is marked."""
        return self._peak_px

    def show_level(self, level: Level) -> None:
        """Show the level of the last tenth of a second."""
        before = (self._bar_px, self._peak_px)
        self._bar_px = self._place(level.rms_db)
        peak = self._place(level.peak_db)
        self._num_held += 1
        if peak >= self._peak_px:
            self._peak_px, self._num_held = peak, 0
        elif self._num_held > _HOLD_FRAMES:
            self._peak_px = max(peak, self._peak_px - _FALL_PX)
        if (self._bar_px, self._peak_px) != before:
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(*_SIZE)

    def minimumSizeHint(self) -> QSize:
        return QSize(_SIZE[0] // 2, _SIZE[1])

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        trough = QRectF(self.rect())
        radius = trough.height() / 2
        painter.setBrush(self.palette().color(QPalette.ColorRole.Mid))
        painter.drawRoundedRect(trough, radius, radius)
        painter.setBrush(self._colour(self._bar_px))
        if self._bar_px:
            painter.drawRoundedRect(QRectF(0, 0, self._bar_px, trough.height()), radius, radius)
        if self._peak_px > radius:
            painter.setBrush(self._colour(self._peak_px))
            painter.drawRoundedRect(QRectF(self._peak_px - 2, 0, 2, trough.height()), 1, 1)

    def _place(self, level_db: float) -> int:
        share = (level_db - _QUIETEST_DB) / -_QUIETEST_DB
        return round(self.width() * min(max(share, 0.0), 1.0))

    def _colour(self, place_px: int) -> QColor:
        is_loud = place_px > self._place(_LOUD_DB)
        return QColor(_LOUD_COLOUR) if is_loud else self.palette().color(QPalette.ColorRole.Accent)
