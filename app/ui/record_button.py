"""The round red button, and beside it the choice of what is recorded."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QAction, QColor, QIcon, QKeySequence, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QMenu, QToolButton

from app.ui.style import is_dark
from app.ui.wording import plain

_ICON_PX: Final = 20
_SCALES: Final = (1, 2, 3)


class RecordButton(QToolButton):
    """Does the window's `record` action, and opens the menu of sources by its arrow."""

    def __init__(self, record: QAction, sources: QMenu) -> None:
        super().__init__()
        self._record = record
        self._is_recording = False
        self.setObjectName("tool_record")
        self.setDefaultAction(record)
        self.setMenu(sources)
        self.setPopupMode(QToolButton.ToolButtonPopupMode.MenuButtonPopup)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.show_recording(False)

    def show_recording(self, is_recording: bool) -> None:
        """Offer to stop, or to record."""
        text = self.tr("&Stop recording") if is_recording else self.tr("&Record")
        self._is_recording = is_recording
        self._record.setText(text)
        self._record.setIconText(self.tr("Stop") if is_recording else self.tr("Record"))
        keys = self._record.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        self._record.setToolTip(f"{plain(text)} ({keys})")
        self.setAccessibleName(plain(text))
        self.redraw()

    def redraw(self) -> None:
        """Follow the palette."""
        drawn = QIcon()
        for scale in _SCALES:
            drawn.addPixmap(_square(scale) if self._is_recording else dot(_ICON_PX, scale))
        self._record.setIcon(drawn)


def dot(size_px: int, scale: float, *, is_filled: bool = True) -> QPixmap:
    """Return the sign of recording: a red disc; only its edge while it is not going on."""
    picture, painter = _canvas(size_px, scale)
    inset = size_px * 0.14
    rect = QRectF(0, 0, size_px, size_px).adjusted(inset, inset, -inset, -inset)
    painter.setPen(Qt.PenStyle.NoPen if is_filled else QPen(_red(), max(1.5, size_px / 10)))
    painter.setBrush(_red() if is_filled else Qt.BrushStyle.NoBrush)
    painter.drawEllipse(rect)
    painter.end()
    return picture


def _square(scale: float) -> QPixmap:
    picture, painter = _canvas(_ICON_PX, scale)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(_red())
    painter.drawRoundedRect(QRectF(4, 4, 12, 12), 2, 2)
    painter.end()
    return picture


def _canvas(size_px: int, scale: float) -> tuple[QPixmap, QPainter]:
    picture = QPixmap(round(size_px * scale), round(size_px * scale))
    picture.setDevicePixelRatio(scale)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    return picture, painter


def _red() -> QColor:
    return QColor("#ff5f57") if is_dark() else QColor("#d3302f")
