"""The Help menu: a report that can be read before it is saved, and a look for newer versions when asked."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.ui.report_dialog import ReportDialog
from engine.facts import version_of
from engine.protocol.events import Diagnosis, JobFailed
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options
from tests.helpers.window_rig import WindowRig


def _open(rig: WindowRig) -> ReportDialog:
    rig.window.actions_.report.trigger()
    dialog = rig.window.findChild(ReportDialog)
    assert dialog is not None
    return dialog


def test_a_report_can_be_read_and_saved(rig: WindowRig, qtbot: QtBot, tmp_path: Path) -> None:
    rig.desk.add([rig.make_file("비밀 회의.wav")], Options())
    dialog = _open(rig)
    assert not dialog.save_button.isEnabled()
    rig.play(Diagnosis(job=rig.engine.last("diagnose").job, facts=(("loaded", "whisper-base"),)))
    qtbot.wait_until(dialog.save_button.isEnabled)
    assert "loaded: whisper-base" in dialog.content.toPlainText()
    dialog.names.setCurrentRow(1)
    assert "Built-in Microphone" in dialog.content.toPlainText()
    dialog.save(str(tmp_path / "report.zip"))
    assert "report.zip" in dialog.result_line.text()
    assert dialog.show_button.isVisible()
    with zipfile.ZipFile(tmp_path / "report.zip") as file:
        assert sorted(file.namelist()) == sorted(entry.name for entry in dialog.entries)
        assert not any("비밀" in file.read(name).decode() for name in file.namelist())
    dialog.reject()


def test_an_engine_that_fails_does_not_keep_the_report_away(rig: WindowRig, qtbot: QtBot) -> None:
    dialog = _open(rig)
    job = rig.engine.last("diagnose").job
    rig.play(JobFailed(job=job, failure=failure(FailureKind.ENGINE_DIED, "x")))
    qtbot.wait_until(dialog.save_button.isEnabled)
    assert "engine: does not answer" in dialog.content.toPlainText()
    dialog.reject()


def test_where_the_report_goes_is_asked(rig: WindowRig, qtbot: QtBot) -> None:
    dialog = _open(rig)
    rig.play(Diagnosis(job=rig.engine.last("diagnose").job, facts=()))
    qtbot.wait_until(dialog.save_button.isEnabled)
    dialog.save_button.click()
    where = dialog.findChild(QFileDialog, "report_where")
    assert where is not None
    assert Path(where.selectedFiles()[0]).name.startswith("jamak-report-")
    where.reject()
    dialog.reject()


def test_a_place_that_takes_no_file_is_said(rig: WindowRig, qtbot: QtBot, tmp_path: Path) -> None:
    dialog = _open(rig)
    rig.play(Diagnosis(job=rig.engine.last("diagnose").job, facts=()))
    qtbot.wait_until(dialog.save_button.isEnabled)
    dialog.save(str(tmp_path / "nowhere" / "report.zip"))
    assert dialog.result_line.text() == "“report.zip” could not be saved: No such file or directory"
    dialog.reject()


def test_nobody_is_asked_for_updates_unless_the_person_asks(
    rig: WindowRig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("JAMAK_UPDATES_URL", raising=False)
    assert rig.window.notices.texts() == []
    rig.window.actions_.updates.trigger()
    (said,) = rig.window.notices.texts()
    assert f"This is Jamak {version_of('jamak')}. It was built without an address" in said


def test_an_address_that_cannot_be_asked_is_said(
    rig: WindowRig, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAMAK_UPDATES_URL", "ftp://example.org")
    rig.window.actions_.updates.trigger()
    qtbot.wait_until(lambda: any("could not be found out" in text for text in rig.window.notices.texts()))
