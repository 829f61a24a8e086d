"""Recording from a person's side: one key, text while it is spoken, and nothing lost when it ends."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMessageBox, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.capture.devices import DeviceKind, Wish
from app.capture.level import Level
from app.capture.notices import NoticeKind
from app.library import RowState
from app.settings import RecordFrom, Settings
from app.ui.level_meter import LevelMeter
from app.ui.live import TICK_MS, wishes_of
from engine.protocol.failures import FailureKind, failure
from tests.helpers.fake_sound import HEADSET, MIC, SPEAKERS
from tests.helpers.window_rig import WindowRig


def shown_text(rig: WindowRig) -> str:
    return " ".join(rig.window.page.view.model.texts())


def shown_tail(rig: WindowRig) -> tuple[str, str]:
    """Return the solid and the muted part of the text that is in no segment yet."""
    model = rig.window.page.view.model
    return model.tail[: model.num_confirmed], model.tail[model.num_confirmed :]


def entry(rig: WindowRig, text: str) -> QAction:
    return next(action for action in rig.window.sources.actions() if text in action.text())


def read(rig: WindowRig, qtbot: QtBot) -> None:
    """Wait until what is stored of the recording is on the page."""
    qtbot.waitUntil(lambda: rig.window.page.is_read)


def test_one_key_begins_a_recording_and_shows_its_row(rig: WindowRig, qtbot: QtBot) -> None:
    rig.add("earlier.wav")
    rig.window.activateWindow()
    qtbot.keyClick(rig.window, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    assert rig.session.asked == ["start"]
    assert rig.window.live_panel.isVisible()
    rig.session.open()
    row = rig.desk.row(rig.window.page.recording_id or 0)
    assert row is not None
    assert row.recording.state is RowState.RECORDING
    assert rig.window.pages.currentWidget() is rig.window.page
    assert not rig.window.player_bar.isVisible()


def test_the_same_key_ends_it(rig: WindowRig) -> None:
    session = rig.record()
    rig.window.actions_.record.trigger()
    assert session.asked == ["start", "stop"]
    assert rig.window.live_panel.status.text() == "Writing down the last words…"
    session.end()
    assert not rig.window.live_panel.isVisible()
    assert not rig.live.is_open
    assert rig.window.player_bar.isVisible()


def test_confirmed_text_is_solid_and_what_may_change_is_muted(rig: WindowRig, qtbot: QtBot) -> None:
    session = rig.record()
    read(rig, qtbot)
    session.guess(" Good mor")
    assert shown_tail(rig) == ("", "Good mor")
    session.say(" Good", " morning eve")
    assert shown_tail(rig) == ("Good", " morning eve")
    session.say(" morning.")
    session.end_segment(" Good morning.", 0.0, 1.5)
    assert (shown_text(rig), shown_tail(rig)) == ("Good morning.", ("", ""))


def test_a_segment_takes_only_its_own_part_of_the_confirmed_text(rig: WindowRig, qtbot: QtBot) -> None:
    session = rig.record()
    read(rig, qtbot)
    session.say(" One. Two", " three")
    session.end_segment(" One.", 0.0, 1.0)
    assert (shown_text(rig), shown_tail(rig)) == ("One.", ("Two", " three"))


def test_who_looks_elsewhere_meanwhile_finds_everything_on_coming_back(rig: WindowRig, qtbot: QtBot) -> None:
    (other,) = rig.add("other.wav")
    session = rig.record()
    read(rig, qtbot)
    rig.window.side.list.choose(other)
    session.say(" One.")
    session.end_segment(" One.", 0.0, 1.0)
    session.say(" Two", " thr")
    assert rig.window.page.recording_id == other
    assert session.state.recording_id is not None
    rig.window.side.list.choose(session.state.recording_id)
    qtbot.waitUntil(lambda: (shown_text(rig), shown_tail(rig)) == ("One.", ("Two", " thr")))


def test_the_panel_shows_time_device_and_a_backlog_worth_knowing(rig: WindowRig) -> None:
    session = rig.record()
    panel = rig.window.live_panel
    session.measure(65.0, backlog_s=1.4)
    assert (panel.elapsed.text(), panel.status.text()) == ("1:05", "")
    assert panel.device.toolTip() == "Built-in Microphone"
    session.measure(66.0, backlog_s=4.2)
    assert panel.status.text() == "4 s behind"


def test_the_panel_says_how_much_sound_was_lost_as_long_as_it_is_there(rig: WindowRig) -> None:
    """It was counted, and shown nowhere: the notice of a loss says neither how much, nor stays."""
    session = rig.record()
    status = rig.window.live_panel.status
    session.measure(65.0, lost_s=0.02)
    assert status.text() == "0.1 s of sound lost"
    session.measure(66.0, backlog_s=4.2, lost_s=1.25)
    assert status.text() == "4 s behind · 1.2 s of sound lost"
    session.pause()
    assert status.text() == "Paused · 1.2 s of sound lost"


def test_pausing_and_going_on(rig: WindowRig) -> None:
    session = rig.record()
    rig.window.actions_.pause_recording.trigger()
    assert rig.window.live_panel.status.text() == "Paused"
    assert rig.window.actions_.pause_recording.iconText() == "Go on"
    rig.window.actions_.pause_recording.trigger()
    assert session.asked == ["start", "pause", "resume"]
    assert rig.window.actions_.pause_recording.iconText() == "Pause"


def test_there_is_nothing_to_pause_when_nothing_is_recorded(rig: WindowRig) -> None:
    assert not rig.window.actions_.pause_recording.isEnabled()
    session = rig.record()
    assert rig.window.actions_.pause_recording.isEnabled()
    session.stop()
    assert not rig.window.actions_.pause_recording.isEnabled()


def test_the_button_says_what_it_does(rig: WindowRig) -> None:
    button = rig.window.record_button
    assert (button.accessibleName(), button.text()) == ("Record", "Record")
    rig.record()
    assert (button.accessibleName(), button.text()) == ("Stop recording", "Stop")


def test_a_new_recording_can_begin_while_the_last_one_is_written_down(rig: WindowRig, qtbot: QtBot) -> None:
    first = rig.record()
    first.stop()
    second = rig.record()
    assert second is not first
    read(rig, qtbot)
    first.say(" late")
    second.say(" early")
    assert shown_tail(rig)[0] == "early"
    first.end()
    assert rig.live.is_recording
    second.end()
    assert not rig.live.is_open


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (NoticeKind.REPLACED, "Recording goes on with “Headset”."),
        (NoticeKind.OVERFLOW, "The disk was too slow"),
        (NoticeKind.DISK_FULL, "The disk is full."),
        (NoticeKind.CAPTIONS_BACK, "Captions go on"),
    ],
)
def test_what_happens_is_told(rig: WindowRig, kind: NoticeKind, sentence: str) -> None:
    rig.record().notice(kind, "Headset")
    assert any(sentence in text for text in rig.window.notices.texts())


def test_every_kind_of_notice_has_its_sentence(rig: WindowRig) -> None:
    session = rig.record()
    for kind in NoticeKind:
        session.notice(kind, "Headset")
        assert rig.window.notices.texts()[-1].strip()


def test_sound_that_could_not_be_heard_is_told(rig: WindowRig) -> None:
    rig.record().warn(failure(FailureKind.POISON, "2026-05-01.wav"))
    assert any("A part of “2026-05-01.wav”" in text for text in rig.window.notices.texts())


def test_lost_captions_can_be_asked_for_again(rig: WindowRig) -> None:
    session = rig.record()
    session.lose_captions(failure(FailureKind.ENGINE_DIED, "whisper-base"))
    assert rig.window.live_panel.status.text() == "Recording without captions"
    again = rig.window.notices.findChild(QPushButton, "notice_choice_0")
    assert again is not None
    again.click()
    assert session.asked[-1] == "retry"


def test_a_missing_microphone_is_said_and_leaves_no_row(rig: WindowRig) -> None:
    rig.window.actions_.record.trigger()
    rig.session.end(failure(FailureKind.NO_SOUND_SOURCE, "microphone"))
    assert any("microphone" in text for text in rig.window.notices.texts())
    assert not rig.window.live_panel.isVisible()
    assert rig.desk.rows() == []


def test_the_language_can_be_changed_while_it_runs(rig: WindowRig) -> None:
    session = rig.record()
    rig.keeper.change(language="ko")
    assert session.asked[-1] == "language ko"


def test_closing_while_something_is_recorded_asks_once(rig: WindowRig, qtbot: QtBot) -> None:
    rig.record()
    rig.window.close()
    box = rig.window.findChild(QMessageBox, "close_question")
    assert box is not None
    assert box.text() == "A recording is running."
    with qtbot.waitSignal(rig.window.closed):
        next(one for one in box.buttons() if "Quit" in one.text()).click()


def test_a_recording_that_is_left_is_whole(rig: WindowRig) -> None:
    session = rig.record()
    rig.live.leave()
    assert session.asked[-1] == "leave"
    assert not rig.live.is_open


def test_sources_are_those_that_are_there(rig: WindowRig, qtbot: QtBot) -> None:
    rig.window.sources.aboutToShow.emit()
    qtbot.waitUntil(lambda: any("Headset" in action.text() for action in rig.window.sources.actions()))
    assert entry(rig, "System default (Built-in Microphone)").isChecked()
    rig.audio.plug(MIC, SPEAKERS)
    qtbot.waitUntil(lambda: all("Headset" not in action.text() for action in rig.window.sources.actions()))
    rig.window.sources.aboutToHide.emit()


def test_a_chosen_source_is_what_is_recorded_next(rig: WindowRig) -> None:
    rig.window.sources.show_devices([MIC, HEADSET, SPEAKERS])
    entry(rig, "Headset").trigger()
    assert rig.record().wishes == (Wish(device_id="headset"),)
    rig.session.end()
    entry(rig, "Microphone and computer sound").trigger()
    assert rig.record().wishes == (Wish(device_id="headset"), Wish(kind=DeviceKind.COMPUTER))


def test_a_chosen_source_that_is_gone_is_still_shown(rig: WindowRig) -> None:
    rig.keeper.change(microphone="dock")
    rig.window.sources.show_devices([MIC])
    assert entry(rig, "dock (not connected)").isChecked()


def test_computer_sound_can_be_recorded_alone() -> None:
    assert wishes_of(Settings(record_from=RecordFrom.COMPUTER)) == (Wish(kind=DeviceKind.COMPUTER),)


def test_a_session_is_ticked_only_while_it_is_open(rig: WindowRig, qtbot: QtBot) -> None:
    session = rig.record()
    qtbot.waitUntil(lambda: session.num_ticks >= 2, timeout=20 * TICK_MS)
    session.end()
    timer = rig.live.findChild(QTimer)
    assert timer is not None
    assert not timer.isActive()


def test_everything_in_the_panel_has_a_name(rig: WindowRig) -> None:
    rig.record()
    names = [button.accessibleName() for button in rig.window.live_panel.findChildren(QToolButton)]
    assert names == ["Caption window", "Pause recording", "Stop recording"]


class CountingMeter(LevelMeter):
    """A meter that knows how often it was asked to be drawn."""

    num_updates = 0

    def update(self) -> None:  # type: ignore[override]
        self.num_updates += 1


def test_a_meter_that_shows_nothing_new_is_not_drawn_again(qtbot: QtBot) -> None:
    meter = CountingMeter()
    qtbot.addWidget(meter)
    meter.resize(120, 8)
    for _ in range(5):
        meter.show_level(Level(rms_db=-90.0, peak_db=-90.0))
    assert meter.num_updates == 0
    for _ in range(5):
        meter.show_level(Level(rms_db=-30.0, peak_db=-20.0))
    assert meter.num_updates == 1


def test_the_loudest_moment_stays_for_a_second_and_then_falls(qtbot: QtBot) -> None:
    meter = LevelMeter()
    qtbot.addWidget(meter)
    meter.resize(120, 8)
    meter.show_level(Level(rms_db=-20.0, peak_db=-6.0))
    loudest = meter.peak_px
    quiet = Level(rms_db=-50.0, peak_db=-48.0)
    for _ in range(12):
        meter.show_level(quiet)
    assert meter.peak_px == loudest
    assert meter.bar_px < loudest
    for _ in range(40):
        meter.show_level(quiet)
    assert meter.peak_px < loudest // 2
