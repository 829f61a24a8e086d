"""Light, dark, and readable in both."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.paths import resource
from app.settings import Theme
from app.ui.icons import pixmap
from app.ui.style import Style, is_dark, palette

_ROLE = QPalette.ColorRole


def contrast(one: QColor, other: QColor) -> float:
    """Return the contrast of two colours, 1 to 21 (https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio)."""

    def luminance(colour: QColor) -> float:
        channels = (colour.redF(), colour.greenF(), colour.blueF())
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(
    ("text", "ground"),
    [
        (_ROLE.Text, _ROLE.Base),
        (_ROLE.WindowText, _ROLE.Window),
        (_ROLE.ButtonText, _ROLE.Button),
        (_ROLE.PlaceholderText, _ROLE.Base),
        (_ROLE.PlaceholderText, _ROLE.Window),
        (_ROLE.Link, _ROLE.Base),
        (_ROLE.BrightText, _ROLE.Base),
    ],
)
def test_text_is_readable(dark: bool, text: QPalette.ColorRole, ground: QPalette.ColorRole) -> None:
    made = palette(dark=dark)
    assert contrast(made.color(text), made.color(ground)) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_selected_text_is_readable(dark: bool) -> None:
    made = palette(dark=dark)
    assert contrast(made.color(_ROLE.HighlightedText), made.color(_ROLE.Highlight)) >= 4.0


def test_the_chosen_theme_is_shown(qtbot: QtBot) -> None:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before = app.palette()
    style = Style(app)
    style.set_theme(Theme.DARK)
    assert is_dark()
    style.set_theme(Theme.LIGHT)
    assert not is_dark()
    app.setStyleSheet("")
    app.setPalette(before)


def test_every_icon_can_be_drawn_in_any_colour(qtbot: QtBot) -> None:
    names = [path.stem for path in Path(resource("icons")).glob("*.svg")]
    assert names
    for name in names:
        image = pixmap(name, QColor("#ff0000"), 24).toImage()
        pixels = [image.pixelColor(x, y) for x in range(24) for y in range(24)]
        drawn = [one for one in pixels if one.alpha() > 64]
        assert drawn, name
        assert all(one.red() > 240 and one.green() == one.blue() == 0 for one in drawn), name
