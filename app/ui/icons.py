"""Small monochrome icons, drawn in the palette's text colour and redrawn when it changes."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, Protocol

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from app.paths import resource

_SIZE_PX: Final = 20
_SCALES: Final = (1, 2, 3)
_INK: Final = b"#000000"


class _Iconed(Protocol):
    def setIcon(self, icon: QIcon) -> None: ...


def app_icon() -> QIcon:
    """Return the program's own icon."""
    return QIcon(str(resource("jamak.svg")))


@lru_cache(maxsize=64)
def _drawing(name: str) -> bytes:
    return resource(f"icons/{name}.svg").read_bytes()


def pixmap(name: str, colour: QColor, size_px: int = _SIZE_PX, scale: float = 1.0) -> QPixmap:
    """Return icon `name` in `colour`, `size_px` wide on a screen of `scale` pixels per point."""
    side = round(size_px * scale)
    picture = QPixmap(side, side)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    drawing = _drawing(name).replace(_INK, colour.name().encode())
    QSvgRenderer(QByteArray(drawing)).render(painter)
    painter.end()
    picture.setDevicePixelRatio(scale)
    return picture


def icon(name: str) -> QIcon:
    """Return icon `name` in the palette's colours of this moment; see `Icons.put` for keeping up."""
    palette = QGuiApplication.palette()
    made = QIcon()
    for group, mode in (
        (QPalette.ColorGroup.Active, QIcon.Mode.Normal),
        (QPalette.ColorGroup.Disabled, QIcon.Mode.Disabled),
    ):
        colour = palette.color(group, QPalette.ColorRole.ButtonText)
        for scale in _SCALES:
            made.addPixmap(pixmap(name, colour, scale=scale), mode)
    return made


class Icons:
    """Gives actions and buttons their icon, and draws all of them again when the palette has changed."""

    def __init__(self) -> None:
        self._worn: dict[_Iconed, str] = {}

    def put(self, wearer: _Iconed, name: str) -> None:
        """Show icon `name` on `wearer`, which must live as long as this object."""
        if self._worn.get(wearer) != name:
            self._worn[wearer] = name
            wearer.setIcon(icon(name))

    def redraw(self) -> None:
        """Follow the palette; called on a window's `PaletteChange`."""
        for wearer, name in self._worn.items():
            wearer.setIcon(icon(name))
