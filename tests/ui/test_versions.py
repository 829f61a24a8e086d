"""One recording transcribed more than once: every version stays, and one can change between them."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.library import RowState
from engine.protocol.failures import FailureKind
from tests.helpers.window_rig import BASE, SMALL, WindowRig


@pytest.fixture
def done(rig: WindowRig) -> WindowRig:
    """A window that shows a finished transcript, with two models installed."""
    rig.list_models((BASE, SMALL))
    rig.window.drop_in.take([rig.make_file("회의.wav")])
    job = rig.job_of("회의.wav")
    rig.begin(job)
    rig.say(job, " 첫 번째.", 0.0, 2.0)
    rig.finish(job)
    return rig


def ids(rig: WindowRig) -> list[int]:
    return [row.recording.id for row in rig.desk.rows()]


def choose_model(rig: WindowRig, name: str) -> None:
    """Press the header's button, and choose a model of its menu."""
    rig.window.page.versions.again.click()
    menu = rig.window.findChild(QMenu, "again_menu")
    assert menu is not None
    next(entry for entry in menu.actions() if entry.text() == name).trigger()
    menu.close()


def shown_text(rig: WindowRig) -> str:
    return " ".join(rig.window.page.view.model.texts()).strip()


def test_with_one_version_there_is_nothing_to_choose(done: WindowRig) -> None:
    assert done.window.page.versions.again.isVisible()
    assert not done.window.page.versions.box.isVisible()


def test_another_model_makes_another_version_and_both_stay(done: WindowRig, qtbot: QtBot) -> None:
    choose_model(done, "Whisper small")
    first, second = ids(done)
    assert done.window.side.list.current_id == second
    assert done.engine.last("transcribe").options.model == "whisper-small"
    assert not done.window.page.versions.again.isVisible()
    job = done.job_of("회의.wav")
    done.begin(job)
    done.say(job, " 두 번째.", 0.0, 2.0)
    done.finish(job)
    qtbot.wait_until(lambda: shown_text(done) == "두 번째.")
    box = done.window.page.versions.box
    assert [box.itemText(place) for place in range(box.count())] == [
        "Version 1 · Whisper base",
        "Version 2 · Whisper base",
    ]
    box.setCurrentIndex(0)
    box.activated.emit(0)
    assert done.window.page.recording_id == first
    qtbot.wait_until(lambda: shown_text(done) == "첫 번째.")


def test_the_model_in_use_is_marked_and_more_can_be_had(done: WindowRig) -> None:
    done.window.page.versions.again.click()
    menu = done.window.findChild(QMenu, "again_menu")
    assert menu is not None
    marks = {entry.text(): entry.isChecked() for entry in menu.actions() if not entry.isSeparator()}
    assert marks == {"Whisper base": True, "Whisper small": False, "More models…": False}
    menu.close()


def test_a_version_can_be_taken_back(done: WindowRig, qtbot: QtBot) -> None:
    (first,) = ids(done)
    choose_model(done, "Whisper small")
    (undo,) = done.window.notices.findChildren(QPushButton, "notice_choice_0")
    undo.click()
    assert ids(done) == [first]
    assert done.window.side.list.current_id == first
    assert done.desk.num_running == 0
    qtbot.wait_until(lambda: shown_text(done) == "첫 번째.")
    assert done.desk.rows()[0].recording.state is RowState.DONE


def test_the_undo_key_takes_a_version_back_once(done: WindowRig) -> None:
    choose_model(done, "Whisper small")
    done.window.actions_.undo.trigger()
    done.window.actions_.undo.trigger()
    assert len(ids(done)) == 1


def test_a_version_that_is_removed_is_no_choice_any_more(done: WindowRig) -> None:
    choose_model(done, "Whisper small")
    first, second = ids(done)
    done.window.side.list.choose(first)
    assert done.window.page.versions.box.isVisible()
    done.desk.remove([second])
    assert not done.window.page.versions.box.isVisible()


@pytest.mark.parametrize("has_text", [False, True])
def test_a_failed_row_offers_another_model_once(rig: WindowRig, has_text: bool) -> None:
    """It offered to retry with another model and to transcribe again. What text there is stays."""
    rig.window.drop_in.take([rig.make_file("a.wav")])
    job = rig.job_of("a.wav")
    rig.begin(job)
    if has_text:
        rig.say(job, " Half of it.", 0.0, 2.0)
    rig.fail(job, FailureKind.MODEL_BROKEN, "whisper-base")
    other = rig.window.page.findChild(QPushButton, "trouble_other_model")
    assert other is not None
    assert other.isVisible() is not has_text
    assert rig.window.page.versions.again.isVisible() is has_text
    assert rig.window.actions_.again.isEnabled() is has_text


def test_what_still_runs_cannot_be_transcribed_again(rig: WindowRig) -> None:
    rig.window.drop_in.take([rig.make_file("a.wav")])
    assert not rig.window.actions_.again.isEnabled()
    assert not rig.window.page.versions.again.isVisible()
