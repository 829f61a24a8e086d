"""The window for people who do not see it, and for those who do not use a mouse."""

from __future__ import annotations

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
    QLineEdit,
    QPlainTextEdit,
    QProgressBar,
    QScrollBar,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.ui.help_dialog import ShortcutsDialog
from app.ui.models_dialog import ModelsDialog
from app.ui.settings_dialog import SettingsDialog
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
