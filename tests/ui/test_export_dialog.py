"""Saving transcripts: which files, what is asked, what is said."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QMessageBox
from pytestqt.qtbot import QtBot

from app.ui.export_dialog import ExportDialog
from app.ui.export_plan import Trouble, plan, write_all
from engine.export import ExportFormat
from engine.protocol.transcript import Segment, Transcript, Word


def _transcript(source: str, *, has_words: bool = False) -> Transcript:
    words = (Word(text=" Hello", start=0.0, end=0.5, probability=0.9),) if has_words else ()
    segment = Segment(start=0.0, end=1.0, text=" Hello there.", words=words)
    return Transcript(segments=(segment,), language="en", model="whisper-base", source=source)


@pytest.fixture
def dialog(qtbot: QtBot, tmp_path: Path) -> Callable[..., ExportDialog]:
    def make(*sources: str, has_words: bool = False, format: ExportFormat = ExportFormat.TXT) -> ExportDialog:
        transcripts = [_transcript(source, has_words=has_words) for source in sources]
        made = ExportDialog(transcripts, folder=tmp_path, format=format)
        qtbot.addWidget(made)
        made.show()
        return made

    return make


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _answer(dialog: ExportDialog, text: str) -> None:
    box = dialog.findChild(QMessageBox, "export_overwrite")
    button: QAbstractButton = next(b for b in box.buttons() if b.text().replace("&", "") == text)
    button.click()


def test_many_recordings_become_many_files(
    dialog: Callable[..., ExportDialog], tmp_path: Path, qtbot: QtBot
) -> None:
    shown = dialog("talk.mp4", "회의.m4a", format=ExportFormat.SRT)
    with qtbot.wait_signal(shown.exported) as told:
        shown.export_button.click()
    assert told.args == ["srt", str(tmp_path)]
    assert _names(tmp_path) == ["talk.srt", "회의.srt"]
    assert "Hello there." in (tmp_path / "talk.srt").read_text("utf-8")
    assert shown.result_line.text().startswith("2 files are saved")
    assert shown.show_button.isVisible()


def test_recordings_of_one_name_do_not_overwrite_each_other(tmp_path: Path) -> None:
    planned = plan([_transcript("a.mp3"), _transcript("A.wav")], ExportFormat.TXT, tmp_path)
    assert [one.path.name for one in planned] == ["a.txt", "A (2).txt"]


def test_overwriting_asks_once_for_all(
    dialog: Callable[..., ExportDialog], tmp_path: Path, qtbot: QtBot
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("mine")
    shown = dialog("a.wav", "b.wav", "c.wav")
    shown.export_button.click()
    _answer(shown, "Cancel")
    assert _names(tmp_path) == ["a.txt", "b.txt"]
    assert (tmp_path / "a.txt").read_text() == "mine"

    qtbot.wait_until(lambda: shown.findChild(QMessageBox, "export_overwrite") is None)
    shown.export_button.click()
    with qtbot.wait_signal(shown.exported):
        _answer(shown, "Overwrite")
    assert "Hello there." in (tmp_path / "a.txt").read_text()
    assert _names(tmp_path) == ["a.txt", "b.txt", "c.txt"]


def test_both_files_can_be_kept(dialog: Callable[..., ExportDialog], tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.txt").write_text("mine")
    shown = dialog("a.wav")
    shown.export_button.click()
    with qtbot.wait_signal(shown.exported):
        _answer(shown, "Keep both")
    assert _names(tmp_path) == ["a (2).txt", "a.txt"]
    assert (tmp_path / "a.txt").read_text() == "mine"


def test_a_template_names_the_files_and_can_do_no_harm(tmp_path: Path) -> None:
    one = [_transcript("talk.mp4")]

    def name(template: str) -> str:
        return plan(one, ExportFormat.VTT, tmp_path, template)[0].path.name

    assert name("{name} [{language}, {model}]") == "talk [en, whisper-base].vtt"
    assert name("../../{name}") == "_.._talk.vtt"
    assert name("{name.__class__}{0}") == "{name.__class__}{0}.vtt"
    assert name("con") == "_con.vtt"
    assert name(" . ") == "transcript.vtt"
    assert plan(one, ExportFormat.VTT, tmp_path, "a/b")[0].path.parent == tmp_path


@pytest.mark.parametrize("is_wanted", [True, False])
def test_word_times_are_written_where_they_exist_and_are_wanted(
    dialog: Callable[..., ExportDialog], tmp_path: Path, qtbot: QtBot, is_wanted: bool
) -> None:
    shown = dialog("a.wav", has_words=True, format=ExportFormat.JSON)
    assert shown.word_times.isEnabled()
    shown.word_times.setChecked(is_wanted)
    with qtbot.wait_signal(shown.exported):
        shown.export_button.click()
    content = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert bool(content["segments"][0].get("words")) is is_wanted


def test_word_times_are_not_offered_where_there_are_none(dialog: Callable[..., ExportDialog]) -> None:
    assert not dialog("a.wav", format=ExportFormat.JSON).word_times.isEnabled()
    assert not dialog("a.wav", has_words=True, format=ExportFormat.TXT).word_times.isEnabled()


def test_a_folder_that_is_gone_is_said_in_a_sentence(
    dialog: Callable[..., ExportDialog], tmp_path: Path, qtbot: QtBot
) -> None:
    shown = dialog("a.wav")
    shown.folder.setText(str(tmp_path / "gone"))
    shown.export_button.click()
    sentence = "“a.txt” was not saved: the folder is not there. Choose another one."
    qtbot.wait_until(lambda: shown.result_line.text() == sentence)
    assert not shown.show_button.isVisible()


def test_one_file_that_cannot_be_written_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "a.txt").mkdir()
    planned = plan([_transcript("a.wav"), _transcript("b.wav")], ExportFormat.TXT, tmp_path)
    outcome = write_all(planned, ExportFormat.TXT, with_word_times=True)
    assert [path.name for path in outcome.written] == ["b.txt"]
    assert [(name, trouble) for name, trouble, _ in outcome.failed] == [("a.txt", Trouble.OTHER)]
    assert _names(tmp_path) == ["a.txt", "b.txt"]


def test_the_text_can_be_copied_instead(dialog: Callable[..., ExportDialog]) -> None:
    shown = dialog("a.wav")
    shown.copy_button.click()
    assert QGuiApplication.clipboard().text() == "Hello there."
    assert shown.result_line.text() == "The text is copied."


def test_the_folder_of_what_was_saved_is_shown_on_demand(qtbot: QtBot, tmp_path: Path) -> None:
    seen: list[Path] = []

    def show(path: Path) -> bool:
        seen.append(path)
        return False

    shown = ExportDialog([_transcript("a.wav")], folder=tmp_path, show_in_folder=show)
    qtbot.addWidget(shown)
    with qtbot.wait_signal(shown.exported):
        shown.export_button.click()
    shown.show_button.click()
    assert seen == [tmp_path / "a.txt"]
    assert shown.result_line.text().startswith("The folder could not be opened")
