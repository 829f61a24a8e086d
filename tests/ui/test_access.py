"""The window for people who do not see it, and for those who do not use a mouse."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction, QKeySequence
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.settings import UiLanguage
from app.ui.caption_settings import CaptionSettingsDialog
from app.ui.help_dialog import ShortcutsDialog
from app.ui.main_window import MainWindow
from app.ui.models_dialog import ModelsDialog
from app.ui.settings_dialog import SettingsDialog
from app.ui.translation import Translation
from tests.helpers.window_rig import WindowRig

_KINDS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QPlainTextEdit,
    QAbstractItemView,
    QAbstractSlider,
    QProgressBar,
)


def nameless(parent: QWidget) -> list[str]:
    """Return the interactive widgets of ours that a screen reader would have no name for."""
    found = []
    for widget in parent.findChildren(QWidget):
        is_ours = isinstance(widget, _KINDS) and not isinstance(widget, QScrollBar)
        if not is_ours or not widget.isVisibleTo(parent) or _is_qts_own(widget, parent):
            continue
        interface = QAccessible.queryAccessibleInterface(widget)
        if not interface.text(QAccessible.Text.Name).strip():
            found.append(f"{type(widget).__name__} {widget.objectName()!r}")
    return found


def _is_qts_own(widget: QWidget, parent: QWidget) -> bool:
    """Whether a widget is a part of another one (a combo box's list, a header's corner)."""
    name = widget.objectName()
    above = widget.parentWidget()
    is_part = name.startswith("qt_") or (not name and isinstance(above, (*_KINDS, QScrollBar)))
    return is_part or (above is not None and above is not parent and _is_qts_own(above, parent))


def test_everything_one_can_act_on_has_a_name(rig: WindowRig) -> None:
    rig.add("talk.wav")
    assert nameless(rig.window) == []


@pytest.mark.parametrize("kind", ["models", "settings", "help"])
def test_everything_in_a_dialog_has_a_name(rig: WindowRig, qtbot: QtBot, kind: str) -> None:
    dialog: QDialog
    match kind:
        case "models":
            dialog = ModelsDialog(rig.shelf)
        case "settings":
            dialog = SettingsDialog(rig.keeper, rig.shelf, rig.server)
        case _:
            dialog = ShortcutsDialog(rig.window.actions_.all())
    qtbot.addWidget(dialog)
    dialog.show()
    assert nameless(dialog) == []


def test_no_two_commands_share_a_key(rig: WindowRig) -> None:
    keys = [key.toString() for action in rig.window.actions_.all() for key in action.shortcuts()]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("command", "keys"),
    [
        ("open", "Ctrl+O"),
        ("find", "Ctrl+F"),
        ("search_all", "Ctrl+Shift+F"),
        ("export", "Ctrl+S"),
        ("settings", "Ctrl+,"),
        ("help", "F1"),
        ("quit", "Ctrl+Q"),
        ("move_up", "Alt+Shift+Up"),
        ("remove", "Del"),
    ],
)
def test_expected_keys_do_what_is_expected(rig: WindowRig, command: str, keys: str) -> None:
    action = getattr(rig.window.actions_, command)
    assert isinstance(action, QAction)
    assert QKeySequence(keys) in action.shortcuts()


def test_every_command_is_in_a_menu(rig: WindowRig) -> None:
    in_menus = {
        action for menu in rig.window.menuBar().actions() if (sub := menu.menu()) for action in sub.actions()
    }
    assert set(rig.window.actions_.all()) <= in_menus


def test_tab_reaches_search_list_and_transcript(rig: WindowRig, qtbot: QtBot) -> None:
    rig.add("talk.wav")
    rig.window.side.list.choose(rig.desk.rows()[0].recording.id)
    rig.window.activateWindow()
    rig.window.side.search.setFocus()
    seen = set()
    for _ in range(30):
        focus = QApplication.focusWidget()
        assert focus is not None
        seen.add(focus.objectName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)

    assert {"library_search", "library", "model", "language", "task"} <= seen


def test_the_rows_are_spoken_with_their_state(rig: WindowRig) -> None:
    rig.add("talk.wav")
    model = rig.window.side.list.rows
    assert model.data(model.index(0), Qt.ItemDataRole.AccessibleTextRole) == "talk.wav, Starting…"


def mnemonics(texts: Iterable[str]) -> list[str]:
    """Return the letters that Alt reaches, in lower case."""
    return [letter.lower() for text in texts for letter in re.findall(r"&(\w)", text.replace("&&", ""))]


def labels_of(parent: QWidget) -> list[str]:
    """Return the texts of the labels and buttons in a window that may hold a mnemonic."""
    kinds = parent.findChildren(QLabel), parent.findChildren(QAbstractButton)
    return [one.text() for kind in kinds for one in kind if one.isVisibleTo(parent)]


@pytest.mark.parametrize("language", UiLanguage)
def test_each_letter_of_alt_does_one_thing(
    rig: WindowRig, qtbot: QtBot, qapp: QApplication, language: UiLanguage
) -> None:
    """Alt+L was both the Live menu and the language, and Qt then does neither."""
    translation = Translation(qapp)
    translation.use(language)
    try:
        dialog = SettingsDialog(rig.keeper, rig.shelf, rig.server)
        captions = CaptionSettingsDialog(rig.keeper)
        window = MainWindow(rig.window.parts)
    finally:
        translation.use(UiLanguage.ENGLISH)
        translation.clear()
    qtbot.addWidget(dialog)
    qtbot.addWidget(captions)
    window.resize(1600, 700)
    window.show()
    menus = [action.text() for action in window.menuBar().actions()]
    window_letters = mnemonics([*menus, *labels_of(window.choices)])
    window.detach()
    window.hide()
    window.deleteLater()
    for letters in (window_letters, mnemonics(labels_of(dialog)), mnemonics(labels_of(captions))):
        assert len(letters) > 5
        assert sorted(letters) == sorted(set(letters))
