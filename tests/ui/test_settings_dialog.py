"""Every lasting choice takes effect at once."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QPlainTextEdit, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from app import settings
from app.paths import recordings_folder
from app.settings import Theme, UiLanguage
from app.ui.choice_bar import LanguageBox
from app.ui.settings_dialog import SettingsDialog
from engine.protocol.transcript import Mode, Task
from tests.helpers.window_rig import WindowRig


@pytest.fixture
def dialog(rig: WindowRig, qtbot: QtBot) -> SettingsDialog:
    made = SettingsDialog(rig.keeper, rig.shelf, rig.server)
    qtbot.addWidget(made)
    made.show()
    return made


def choose(dialog: SettingsDialog, name: str, data: str) -> None:
    box = dialog.findChild(QComboBox, name)
    assert box is not None
    box.setCurrentIndex(box.findData(data))
    box.activated.emit(box.currentIndex())


def test_choices_are_taken_over_at_once(rig: WindowRig, dialog: SettingsDialog) -> None:
    choose(dialog, "settings_theme", "dark")
    choose(dialog, "settings_ui_language", "ko")
    choose(dialog, "settings_task", "translate")
    choose(dialog, "settings_mode", "best")
    choose(dialog, "settings_text_size", "150")
    now = rig.keeper.now
    assert now.options().mode is Mode.BEST
    assert (now.theme, now.ui_language, now.task) == (Theme.DARK, UiLanguage.KOREAN, Task.TRANSLATE)
    assert rig.window.page.view.list.zoom_percent == 150


@pytest.mark.parametrize("field", ["word_timestamps", "keep_awake", "notify_when_done"])
def test_a_check_box_turns_its_setting(rig: WindowRig, dialog: SettingsDialog, field: str) -> None:
    box = dialog.findChild(QCheckBox, f"settings_{field}")
    assert box is not None
    before = getattr(rig.keeper.now, field)
    box.toggle()
    assert getattr(rig.keeper.now, field) is not before


def test_typed_text_is_kept_when_the_dialog_closes(rig: WindowRig, dialog: SettingsDialog) -> None:
    prompt = dialog.findChild(QPlainTextEdit, "settings_prompt")
    folder = dialog.findChild(QLineEdit, "settings_export_folder")
    assert prompt is not None
    assert folder is not None
    hotwords = dialog.findChild(QLineEdit, "settings_hotwords")
    assert hotwords is not None
    hotwords.setText(" Jamak Qwen ")
    prompt.setPlainText("Jamak, Whisper. ")
    folder.setText(str(rig.folder))
    dialog.reject()
    assert rig.keeper.now.initial_prompt == "Jamak, Whisper."
    assert rig.keeper.now.options().hotwords == "Jamak Qwen"
    assert rig.keeper.now.export_folder == str(rig.folder)


def test_the_folder_for_recordings_is_kept_and_can_be_given_up(
    rig: WindowRig, dialog: SettingsDialog
) -> None:
    field = dialog.findChild(QLineEdit, "settings_recordings_folder")
    assert field is not None
    assert field.placeholderText() == str(recordings_folder())
    field.setText(f" {rig.folder} ")
    dialog.reject()
    assert rig.keeper.now.recordings_folder == str(rig.folder)
    assert recordings_folder(rig.keeper.now.recordings_folder) == rig.folder
    field.clear()
    dialog.reject()
    assert rig.keeper.now.recordings_folder == ""


def test_settings_reach_the_disk(rig: WindowRig) -> None:
    rig.keeper.change(theme=Theme.DARK)
    rig.keeper.flush()
    assert settings.load(rig.folder / "settings.json").settings.theme is Theme.DARK


@pytest.mark.parametrize("typed", ["korean", "한국어", "ko", "Korean"])
def test_a_language_is_found_by_any_of_its_names(qtbot: QtBot, typed: str) -> None:
    box = LanguageBox()
    qtbot.addWidget(box)
    box.set_languages(["en", "ko", "kn", "de"])
    box.setEditText(typed)
    line = box.lineEdit()
    assert line is not None
    with qtbot.waitSignal(box.language_chosen) as chosen:
        line.editingFinished.emit()
    assert chosen.args == ["ko"]


def test_what_is_no_language_gives_way_to_the_chosen_one(qtbot: QtBot) -> None:
    box = LanguageBox()
    qtbot.addWidget(box)
    box.set_languages(["en", "ko"])
    box.set_language("ko")
    box.setEditText("klingon")
    line = box.lineEdit()
    assert line is not None
    line.editingFinished.emit()
    assert box.language == "ko"
    assert box.currentText() == "한국어 – Korean"


def test_enter_in_a_field_leaves_the_dialog_open(dialog: SettingsDialog, qtbot: QtBot) -> None:
    """It pressed Close, so the server's answer to a typed address was never seen."""
    for name in ("settings_hotwords", "settings_engine_server", "settings_export_folder"):
        field = dialog.findChild(QLineEdit, name)
        assert field is not None
        field.setFocus()
        qtbot.keyClick(field, Qt.Key.Key_Return)
        assert dialog.isVisible()
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert not dialog.isVisible()


def test_nothing_is_cut_at_the_side(dialog: SettingsDialog) -> None:
    area = dialog.findChild(QScrollArea)
    assert area is not None
    assert area.widget().minimumSizeHint().width() <= area.viewport().width()


def test_the_fields_of_all_groups_begin_at_one_line(dialog: SettingsDialog) -> None:
    names = ("settings_task", "settings_engine_key", "settings_server_port", "settings_theme")
    fields = [dialog.findChild(QWidget, name) for name in names]
    assert len({field.mapTo(dialog, QPoint()).x() for field in fields if field is not None}) == 1
