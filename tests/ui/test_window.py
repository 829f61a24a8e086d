"""The window from a person's side: drop, watch, read, repair, and leave."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.library import RowState
from app.ui.choice_bar import ChoiceBar
from app.ui.elided_label import ElidedLabel
from app.ui.library_list import LibraryList
from app.ui.wording import plain
from engine.protocol.events import ModelState, Tail, WorkerPhase
from engine.protocol.failures import FailureKind
from engine.protocol.transcript import Task
from tests.helpers.window_rig import BASE, SMALL, WindowRig, model


def drop(target: QWidget, *paths: str) -> None:
    """Let go of files over a widget, as Qt delivers it."""
    mime = QMimeData()
    mime.setUrls([QUrl(path) if "://" in path else QUrl.fromLocalFile(path) for path in paths])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(target, QDragEnterEvent(QPoint(20, 20), copy, mime, left, none))
    QApplication.sendEvent(target, QDropEvent(QPointF(20, 20), copy, mime, left, none))


def names(rig: WindowRig) -> list[str]:
    return [row.recording.name for row in rig.desk.rows()]


def shown_text(rig: WindowRig) -> str:
    return " ".join(rig.window.page.view.model.texts())


def button(parent: QWidget, name: str) -> QPushButton:
    found = parent.findChild(QPushButton, name)
    assert found is not None, name
    return found


def answer(rig: WindowRig, text: str) -> None:
    """Press a button of the question whether to close."""
    box = rig.window.findChild(QMessageBox, "close_question")
    assert box is not None
    next(one for one in box.buttons() if text in one.text()).click()


def test_an_empty_window_is_one_large_drop_zone(rig: WindowRig) -> None:
    assert rig.window.pages.currentWidget() is rig.window.drop_zone
    assert not rig.window.side.isVisible()
    assert not rig.window.player_bar.isVisible()


def test_dropped_files_become_rows_and_the_first_is_shown(rig: WindowRig) -> None:
    drop(rig.window, rig.make_file("one.wav"), rig.make_file("회의 녹음.m4a"))
    assert names(rig) == ["one.wav", "회의 녹음.m4a"]
    assert rig.window.pages.currentWidget() is rig.window.page
    assert rig.window.side.list.current_id == rig.desk.rows()[0].recording.id
    assert len([one for one in rig.engine.requests if one.kind == "transcribe"]) == 2


def test_a_dropped_folder_gives_its_media(rig: WindowRig, qtbot: QtBot) -> None:
    folder = rig.folder / "talks"
    folder.mkdir()
    rig.make_file("talks/a.mp3")
    rig.make_file("talks/cover.jpg")
    drop(rig.window, str(folder))
    qtbot.waitUntil(lambda: names(rig) == ["a.mp3"])


def test_what_cannot_be_transcribed_is_refused_with_a_sentence(rig: WindowRig) -> None:
    drop(rig.window, rig.make_file("thesis.pdf"), rig.make_file("talk.wav"))
    assert names(rig) == ["talk.wav"]
    assert any("thesis.pdf" in text for text in rig.window.notices.texts())


def test_an_address_of_the_network_is_refused_with_a_sentence(rig: WindowRig) -> None:
    drop(rig.window, "https://example.org/talk.mp3")
    assert names(rig) == []
    assert any("network" in text for text in rig.window.notices.texts())


def test_the_same_file_twice_asks(rig: WindowRig) -> None:
    path = rig.make_file("talk.wav")
    drop(rig.window, path)
    drop(rig.window, path)
    assert names(rig) == ["talk.wav"]
    assert rig.window.notices.texts() == ["“talk.wav” is in the list already."]
    button(rig.window.notices, "notice_choice_0").click()
    assert names(rig) == ["talk.wav", "talk.wav"]


def test_text_streams_into_the_chosen_row(rig: WindowRig, qtbot: QtBot) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    job = rig.job_of("talk.wav")
    rig.begin(job)
    rig.play(Tail(job=job, text=" Good mor"))
    qtbot.waitUntil(lambda: rig.window.page.view.model.tail.strip() == "Good mor")
    rig.say(job, " Good morning.", 0.0, 2.0)
    rig.say(job, " Welcome.", 2.0, 3.0)
    assert shown_text(rig) == "Good morning. Welcome."
    rig.finish(job)
    assert rig.desk.rows()[0].recording.state is RowState.DONE


def test_a_transcript_read_while_it_grows_loses_nothing(rig: WindowRig, qtbot: QtBot) -> None:
    """Segments that arrive while the stored ones are being read were shown twice, or not at all."""
    one, two = rig.add("one.wav", "two.wav")
    job = rig.job_of("one.wav")
    rig.begin(job)
    rig.say(job, " First.", 0.0, 1.0)
    rig.window.side.list.choose(two)
    rig.window.side.list.choose(one)
    rig.say(job, " Second.", 1.0, 2.0)
    qtbot.waitUntil(lambda: shown_text(rig) == "First. Second.")


def test_a_failed_row_says_why_and_can_be_retried(rig: WindowRig) -> None:
    drop(rig.window, rig.make_file("noise.wav"))
    rig.fail(rig.job_of("noise.wav"), FailureKind.BAD_MEDIA, "noise.wav")
    reason = rig.window.page.findChild(QLabel, "trouble_reason")
    assert reason is not None
    assert reason.isVisible()
    assert "noise.wav" in reason.text()
    button(rig.window.page, "trouble_retry").click()
    assert rig.desk.rows()[0].recording.state is RowState.RUNNING
    assert not reason.isVisible()


def test_a_row_can_be_retried_with_another_model(rig: WindowRig) -> None:
    rig.list_models([BASE, SMALL])
    (one,) = rig.add("talk.wav")
    rig.begin(rig.job_of("talk.wav"))
    rig.finish(rig.job_of("talk.wav"))
    rig.window.rows.retry_with([one], model="whisper-small")
    options = rig.engine.last("transcribe").options
    assert options is not None
    assert options.model == "whisper-small"


def test_delete_removes_a_row_and_undo_brings_it_back(rig: WindowRig, qtbot: QtBot) -> None:
    path = rig.make_file("talk.wav")
    drop(rig.window, path)
    rig.window.activateWindow()
    rig.window.side.list.setFocus()
    qtbot.keyClick(rig.window.side.list, Qt.Key.Key_Delete)
    assert names(rig) == []
    assert rig.window.pages.currentWidget() is rig.window.drop_zone
    button(rig.window.notices, "notice_choice_0").click()
    assert names(rig) == ["talk.wav"]
    assert rig.window.side.list.current_id is not None


def test_rows_are_moved_by_keyboard(rig: WindowRig, qtbot: QtBot) -> None:
    _, _, three = rig.add("one.wav", "two.wav", "three.wav")
    rig.window.side.list.choose(three)
    keys = Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.ShiftModifier
    qtbot.keyClick(rig.window.side.list, Qt.Key.Key_Up, keys)
    assert names(rig) == ["one.wav", "three.wav", "two.wav"]
    assert rig.window.side.list.current_id == three
    qtbot.keyClick(rig.window.side.list, Qt.Key.Key_Down, keys)
    assert names(rig) == ["one.wav", "two.wav", "three.wav"]


def test_rows_are_moved_by_dragging(rig: WindowRig) -> None:
    rig.add("one.wav", "two.wav", "three.wav")
    model = rig.window.side.list.rows
    mime = model.mimeData([model.index(2)])
    model.dropMimeData(mime, Qt.DropAction.MoveAction, 0, 0, model.index(-1))
    assert names(rig) == ["three.wav", "one.wav", "two.wav"]


def test_a_held_queue_begins_nothing_and_stays_held(rig: WindowRig) -> None:
    rig.window.actions_.pause.trigger()
    rig.add("talk.wav")
    assert rig.desk.num_running == 0
    assert rig.keeper.now.queue_is_paused
    rig.window.actions_.pause.trigger()
    assert rig.desk.num_running == 1


def test_a_running_row_is_cancelled(rig: WindowRig) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    rig.window.actions_.cancel.trigger()
    assert rig.engine.cancelled == [rig.job_of("talk.wav")]
    assert rig.desk.rows()[0].recording.state is RowState.CANCELLED


def test_the_choices_of_the_tool_bar_are_what_new_files_get(rig: WindowRig) -> None:
    choices = rig.window.choices
    choices.language.setCurrentIndex(choices.language.findData("ko"))
    choices.language.activated.emit(choices.language.currentIndex())
    choices.task.setCurrentIndex(1)
    choices.task.activated.emit(1)
    choices.mode.setCurrentIndex(1)
    choices.mode.activated.emit(1)
    drop(rig.window, rig.make_file("talk.wav"))
    options = rig.engine.last("transcribe").options
    assert options is not None
    assert (options.language, options.task.value, options.mode.value) == ("ko", "translate", "best")


def test_search_over_everything_leads_to_the_place(rig: WindowRig, qtbot: QtBot) -> None:
    one, two = rig.add("one.wav", "two.wav")
    for name, text in (("one.wav", " A fox ran."), ("two.wav", " The dog slept.")):
        job = rig.job_of(name)
        rig.begin(job)
        rig.say(job, text, 0.0, 2.0)
        rig.finish(job)
    rig.window.side.list.choose(one)
    with qtbot.waitSignal(rig.window.side.results.found):
        rig.window.side.search.setText("dog")
    rig.window.side.results.itemActivated.emit(rig.window.side.results.item(0))
    assert rig.window.side.list.current_id == two
    qtbot.waitUntil(lambda: shown_text(rig) == "The dog slept.")
    assert rig.window.page.view.list.chosen_text() == "The dog slept."


def test_a_copied_transcript_is_on_the_clipboard(rig: WindowRig) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    job = rig.job_of("talk.wav")
    rig.begin(job)
    rig.say(job, " Good morning.", 0.0, 2.0)
    rig.window.commands.refresh()
    rig.window.actions_.copy.trigger()
    assert "Good morning." in QGuiApplication.clipboard().text()


def test_a_correction_is_stored_at_once(rig: WindowRig, qtbot: QtBot) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    job = rig.job_of("talk.wav")
    rig.begin(job)
    qtbot.waitUntil(lambda: rig.window.page.is_read)
    rig.say(job, " Good mourning.", 0.0, 2.0)
    segment = rig.window.page.view.model.segments[0]
    rig.window.page.view.segment_edited.emit(segment.id, "Good morning.")
    assert rig.library.segments(segment.recording_id)[0].text.strip() == "Good morning."


def test_the_device_in_use_is_shown(rig: WindowRig) -> None:
    rig.play(ModelState(model="whisper-base", phase=WorkerPhase.READY, device="CPU, int8, 2 threads"))
    device = rig.window.findChild(QLabel, "device")
    assert device is not None
    assert "CPU, int8, 2 threads" in device.text()


def test_closing_while_work_runs_asks_once_and_can_be_taken_back(rig: WindowRig, qtbot: QtBot) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    rig.window.close()
    answer(rig, "Keep")
    assert rig.window.isVisible()
    qtbot.waitUntil(lambda: rig.window.findChild(QMessageBox, "close_question") is None)
    rig.window.close()
    with qtbot.waitSignal(rig.window.closed):
        answer(rig, "Quit")
    assert not rig.window.isVisible()
    assert rig.desk.rows()[0].recording.state is RowState.RUNNING


def test_closing_an_idle_window_asks_nothing(rig: WindowRig, qtbot: QtBot) -> None:
    with qtbot.waitSignal(rig.window.closed):
        rig.window.close()
    assert rig.keeper.now.window_geometry


def test_text_zoom_is_kept(rig: WindowRig) -> None:
    rig.window.actions_.larger.trigger()
    assert rig.keeper.now.text_zoom_percent == 110
    rig.window.actions_.normal.trigger()
    assert rig.keeper.now.text_zoom_percent == 100


def test_a_moved_source_is_asked_for(rig: WindowRig) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    rig.fail(rig.job_of("talk.wav"), FailureKind.NOT_FOUND, "talk.wav")
    assert button(rig.window.page, "trouble_locate").isVisible()
    assert rig.window.actions_.relocate.isEnabled()


@pytest.mark.parametrize("kind", [FailureKind.BAD_MEDIA, FailureKind.OUT_OF_MEMORY])
def test_locating_is_offered_only_where_it_helps(rig: WindowRig, kind: FailureKind) -> None:
    drop(rig.window, rig.make_file("talk.wav"))
    rig.fail(rig.job_of("talk.wav"), kind, "talk.wav")
    assert not button(rig.window.page, "trouble_locate").isVisible()


def test_a_chosen_model_that_is_gone_gives_way_to_one_that_is_here(rig: WindowRig) -> None:
    rig.keeper.change(model="whisper-small")
    rig.shelf.refresh()
    rig.list_models([BASE, msgspec.structs.replace(SMALL, phase="missing")])
    assert rig.keeper.now.model == "whisper-base"


def test_the_header_calls_the_model_by_its_name(rig: WindowRig) -> None:
    (recording_id,) = rig.add("talk.wav")
    rig.begin(rig.job_of("talk.wav"))
    rig.window.page.show_recording(recording_id)
    facts = rig.window.page.findChild(QLabel, "recording_facts")
    assert facts is not None
    assert facts.text().endswith("Whisper base")
    rig.list_models([model("whisper-base", "Whisper, the base one")])
    assert facts.text().endswith("Whisper, the base one")
    rig.play(ModelState(model="whisper-base", phase=WorkerPhase.READY, device="CPU"))
    device = rig.window.findChild(QLabel, "device")
    assert device is not None
    assert device.text().startswith("Whisper, the base one")


def test_the_reason_of_a_failure_is_read_whole_in_the_list(rig: WindowRig) -> None:
    """It was cut off behind a few words, and only the tool tip had the rest."""
    failed, _ = rig.add("talk.wav", "other.wav")
    rig.fail(rig.job_of("talk.wav"), FailureKind.MODEL_IS_ALIGNER, "Qwen3-ForcedAligner 0.6B")
    listed = rig.window.findChild(LibraryList, "library")
    assert listed is not None
    assert not listed.uniformItemSizes()
    listed.resize(260, 400)
    first, second = (listed.visualRect(listed.rows.index(place)) for place in range(2))
    assert first.height() > second.height()
    assert first.bottom() < second.top()
    listed.resize(900, 400)
    assert listed.visualRect(listed.rows.index(0)).height() < first.height()
    rig.window.rows.retry_rows([failed])
    assert listed.uniformItemSizes(), "a long list is laid out quickly again"


def test_a_model_that_cannot_translate_is_not_asked_to(rig: WindowRig) -> None:
    qwen = model("qwen3-asr-0.6b", "Qwen3-ASR 0.6B", can_translate=False, languages=("ko", "zh"))
    rig.list_models([BASE, qwen])
    rig.keeper.change(task=Task.TRANSLATE, language="de")
    box = rig.window.choices.model
    box.setCurrentIndex(box.findData("qwen3-asr-0.6b"))
    box.activated.emit(box.currentIndex())
    now = rig.keeper.now
    assert (now.model, now.task, now.language) == ("qwen3-asr-0.6b", Task.TRANSCRIBE, None)
    assert not rig.window.choices.task.isEnabled()


def test_a_long_name_does_not_widen_the_window(rig: WindowRig, qtbot: QtBot) -> None:
    """The window grew to the name's width, and squeezed the list beside it."""
    rig.window.resize(1000, 700)
    name = f"{'a very long name ' * 12}.wav"
    rig.window.drop_in.take([rig.make_file(name)])
    shown = rig.window.page.findChild(ElidedLabel, "recording_name")
    assert shown is not None
    qtbot.wait_until(lambda: shown.text() == name)
    QApplication.processEvents()
    assert rig.window.width() == 1000
    assert shown.shown_text.startswith("a very")
    assert shown.shown_text.endswith(".wav")
    assert len(shown.shown_text) < len(name)


def test_a_name_is_never_taken_for_markup(rig: WindowRig) -> None:
    rig.window.drop_in.take([rig.make_file("<i>one<br>two.wav")])
    shown = rig.window.page.findChild(QLabel, "recording_name")
    assert shown is not None
    assert shown.textFormat() is Qt.TextFormat.PlainText


def test_labels_of_the_tool_bar_come_back_with_the_room(rig: WindowRig) -> None:
    """Once hidden they stayed so, however wide the window became."""

    def shown(width: int) -> list[str]:
        rig.window.resize(width, 700)
        QApplication.processEvents()
        labels = rig.window.choices.findChildren(QLabel)
        return [plain(label.text()) for label in labels if label.isVisible()]

    assert shown(1500) == ["Model", "Language", "Task", "Quality"]
    assert shown(800) == []
    assert shown(1500) == ["Model", "Language", "Task", "Quality"]


def test_short_of_room_the_tool_bar_keeps_the_label_that_says_most(rig: WindowRig, qtbot: QtBot) -> None:
    """ "Fast" alone says nothing; a model's and a language's name do."""
    bar = ChoiceBar(rig.shelf)
    qtbot.addWidget(bar)
    bar.show_settings(rig.keeper.now)
    bar.show()
    bar.resize(bar.sizeHint().width() - 1, bar.height())
    visible = [label for label in bar.findChildren(QLabel) if label.isVisible()]
    assert [label.buddy() for label in visible] == [bar.mode]
