"""How the window looks: light and dark palettes, text sizes, and the few rules Fusion lacks."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from app.settings import Theme

_ROLE = QPalette.ColorRole


TEXT_SIZES: Final = (70, 80, 90, 100, 110, 125, 150, 175, 200, 250, 300)
"""Per cent of the system's text size, for transcripts."""

_LIGHT: Final[dict[QPalette.ColorRole, str]] = {
    _ROLE.Window: "#f4f5f7",
    _ROLE.WindowText: "#1c2024",
    _ROLE.Base: "#ffffff",
    _ROLE.AlternateBase: "#f4f5f7",
    _ROLE.Text: "#1c2024",
    _ROLE.PlaceholderText: "#636b75",
    _ROLE.Button: "#fbfbfc",
    _ROLE.ButtonText: "#1c2024",
    _ROLE.BrightText: "#b3261e",
    _ROLE.ToolTipBase: "#ffffff",
    _ROLE.ToolTipText: "#1c2024",
    _ROLE.Highlight: "#2f6bd8",
    _ROLE.HighlightedText: "#ffffff",
    _ROLE.Accent: "#2f6bd8",
    _ROLE.Link: "#2458b8",
    _ROLE.LinkVisited: "#6a4bb0",
    _ROLE.Light: "#ffffff",
    _ROLE.Midlight: "#eceef1",
    _ROLE.Mid: "#c9ced5",
    _ROLE.Dark: "#a4abb5",
    _ROLE.Shadow: "#6a727c",
}
_DARK: Final[dict[QPalette.ColorRole, str]] = {
    _ROLE.Window: "#1f2226",
    _ROLE.WindowText: "#e6e8eb",
    _ROLE.Base: "#17191c",
    _ROLE.AlternateBase: "#1f2226",
    _ROLE.Text: "#e6e8eb",
    _ROLE.PlaceholderText: "#959ca6",
    _ROLE.Button: "#2b2f35",
    _ROLE.ButtonText: "#e6e8eb",
    _ROLE.BrightText: "#ff8a80",
    _ROLE.ToolTipBase: "#2b2f35",
    _ROLE.ToolTipText: "#e6e8eb",
    _ROLE.Highlight: "#3f78d8",
    _ROLE.HighlightedText: "#ffffff",
    _ROLE.Accent: "#6ea0f2",
    _ROLE.Link: "#8ab4f8",
    _ROLE.LinkVisited: "#c3a6f0",
    _ROLE.Light: "#3a3f46",
    _ROLE.Midlight: "#2b2f35",
    _ROLE.Mid: "#3a3f46",
    _ROLE.Dark: "#121416",
    _ROLE.Shadow: "#000000",
}
_DISABLED: Final = (_ROLE.WindowText, _ROLE.Text, _ROLE.ButtonText, _ROLE.HighlightedText)

# Fusion frames every tool bar, status item and splitter; one hairline between the parts is enough.
_RULES: Final = """
QToolBar { border: none; padding: 6px 8px; spacing: 6px; }
QToolBar QToolButton { padding: 4px 8px; }
QStatusBar::item { border: none; }
QFrame#notice, QFrame#trouble {
    background: palette(base); border: 1px solid palette(mid); border-radius: 6px;
}
QSplitter#splitter::handle { background: palette(mid); }
QToolTip { padding: 4px; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
"""


def is_dark() -> bool:
    """Whether the palette in use is a dark one."""
    return QGuiApplication.palette().color(_ROLE.Base).lightness() < 128


def palette(*, dark: bool) -> QPalette:
    """Return our palette; disabled text is the placeholder's grey."""
    colours = _DARK if dark else _LIGHT
    made = QPalette()
    for role, name in colours.items():
        made.setColor(role, QColor(name))
    grey = QColor(colours[_ROLE.PlaceholderText])
    grey.setAlpha(170)
    for role in _DISABLED:
        made.setColor(QPalette.ColorGroup.Disabled, role, grey)
    made.setColor(QPalette.ColorGroup.Disabled, _ROLE.Highlight, QColor(colours[_ROLE.Mid]))
    return made


class Style:
    """Applies a theme to an application and follows the system while told to."""

    def __init__(self, app: QApplication) -> None:
        self._app = app
        self._theme = Theme.SYSTEM
        app.setStyle("fusion")
        app.setStyleSheet(_RULES)
        app.styleHints().colorSchemeChanged.connect(self._on_scheme_changed)

    def set_theme(self, theme: Theme) -> None:
        """Show `theme` from now on."""
        self._theme = theme
        hints = self._app.styleHints()
        match theme:
            case Theme.SYSTEM:
                hints.unsetColorScheme()
            case Theme.LIGHT:
                hints.setColorScheme(Qt.ColorScheme.Light)
            case Theme.DARK:
                hints.setColorScheme(Qt.ColorScheme.Dark)
        self._on_scheme_changed()

    def _on_scheme_changed(self) -> None:
        hints = self._app.styleHints()
        if hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast:
            # People who need high contrast have set colours that serve them better than ours.
            self._app.setPalette(QPalette())
            return
        dark = self._theme is Theme.DARK or (
            self._theme is Theme.SYSTEM and hints.colorScheme() == Qt.ColorScheme.Dark
        )
        self._app.setPalette(palette(dark=dark))
