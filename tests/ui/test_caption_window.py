"""The caption window: what it shows, where it is, and how it is put away."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QSpinBox, QToolButton
from pytestqt.qtbot import QtBot

from app.settings import CaptionPlace, CaptionStyle
from app.ui.caption_grip import resized
from app.ui.caption_place import MIN_WIDTH, rect_on, screen_to_use, with_place, within
from app.ui.caption_settings import CaptionSettingsDialog, ColourButton
from app.ui.caption_view import CaptionView
from app.ui.caption_window import CaptionWindow
from app.ui.compositor import can_stay_above
from tests.helpers.window_rig import WindowRig

_CONTROL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
SCREEN = QRect(0, 0, 1280, 800)


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[CaptionWindow]:
    """A shown caption window of three lines, narrow enough for a few words in each."""
    made = CaptionWindow(CaptionStyle(), {})
    qtbot.addWidget(made)
    made.show_captions()
    made.resize(400, made.height())
    yield made
    made.hide()


def texts(view: CaptionView) -> list[str]:
    return [line.confirmed + line.tail for line in view.shown_lines]


def confirmed(view: CaptionView) -> list[str]:
    return [line.confirmed for line in view.shown_lines if line.confirmed]


def speak(view: CaptionView, num_words: int) -> None:
    for index in range(num_words):
        view.add(f" word{index}")


def turn_wheel(window: CaptionWindow, steps: int) -> None:
    none = Qt.KeyboardModifier.NoModifier
    event = QWheelEvent(
        QPointF(50, 20),
        QPointF(window.mapToGlobal(QPoint(50, 20))),
        QPoint(),
        QPoint(0, 120 * steps),
        Qt.MouseButton.NoButton,
        none,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(window, event)


def test_the_newest_lines_are_shown(window: CaptionWindow) -> None:
    speak(window.view, 40)
    assert len(window.view.shown_lines) == 3
    assert texts(window.view)[-1].endswith("word39")


def test_confirmed_lines_stand_still_while_the_tail_comes_and_goes(window: CaptionWindow) -> None:
    speak(window.view, 12)
    window.view.set_tail(" maybe this and that and a good deal more of it")
    before = confirmed(window.view)
    window.view.set_tail("")
    assert confirmed(window.view)[: len(before)] == before
    window.view.set_tail(" or")
    assert confirmed(window.view)[: len(before)] == before


def test_what_is_confirmed_takes_the_place_of_its_tail(window: CaptionWindow) -> None:
    window.view.set_tail(" Good morning everybody and welcome")
    before = texts(window.view)
    window.view.add(" Good morning everybody and welcome")
    assert texts(window.view) == before == confirmed(window.view)


def test_the_window_takes_no_focus_when_it_appears(window: CaptionWindow) -> None:
    assert window.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    flags = window.windowFlags()
    assert flags & Qt.WindowType.WindowStaysOnTopHint
    assert flags & Qt.WindowType.FramelessWindowHint


def test_escape_closes_it(window: CaptionWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closed):
        qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert not window.isVisible()


def test_its_own_button_closes_it(window: CaptionWindow, qtbot: QtBot) -> None:
    close = window.findChild(QToolButton, "caption_close")
    assert close is not None
    with qtbot.waitSignal(window.closed):
        close.click()


def test_the_wheel_goes_back_and_end_comes_back_to_the_newest(window: CaptionWindow, qtbot: QtBot) -> None:
    speak(window.view, 60)
    newest = texts(window.view)
    turn_wheel(window, 2)
    back = texts(window.view)
    assert back != newest
    assert window.findChild(QToolButton, "caption_newest").isVisible()
    window.view.add(" and more is said meanwhile")
    assert texts(window.view) == back
    qtbot.keyClick(window, Qt.Key.Key_End)
    assert texts(window.view)[-1].endswith("meanwhile")
    assert not window.findChild(QToolButton, "caption_newest").isVisible()


def test_lines_are_read_back_by_keys_too(window: CaptionWindow, qtbot: QtBot) -> None:
    speak(window.view, 60)
    qtbot.keyClick(window, Qt.Key.Key_PageUp)
    assert not window.view.is_live
    qtbot.keyClick(window, Qt.Key.Key_PageDown)
    assert window.view.is_live


def test_text_fades_in_silence_and_comes_back_with_the_next_word(window: CaptionWindow, qtbot: QtBot) -> None:
    window.view.add(" Good morning.")
    assert texts(window.view) == ["Good morning."]
    window.view.pass_silence()
    qtbot.waitUntil(lambda: window.view.strength == 0.0)
    window.view.set_tail(" So")
    assert window.view.strength == 1.0
    assert texts(window.view) == ["Good morning.", "So"]


def test_text_does_not_fade_while_it_is_pointed_at_or_read_back(window: CaptionWindow) -> None:
    speak(window.view, 60)
    window.view.scroll_by(-2)
    window.view.pass_silence()
    assert window.view.strength == 1.0


def test_another_style_lays_out_again_and_keeps_every_word(window: CaptionWindow) -> None:
    window.view.add(" Good morning everybody and welcome to this hall")
    window.set_style(CaptionStyle(size_pt=14, num_lines=6))
    assert " ".join(texts(window.view)) == "Good morning everybody and welcome to this hall"
    assert window.height() == window.view.height_for(6)


def test_keys_move_and_resize_it(window: CaptionWindow, qtbot: QtBot) -> None:
    before = window.geometry()
    qtbot.keyClick(window, Qt.Key.Key_Right, _CONTROL)
    assert window.x() > before.x()
    with qtbot.waitSignal(window.style_changed) as told:
        qtbot.keyClick(window, Qt.Key.Key_Up, _CONTROL | _SHIFT)
    assert told.args[0].num_lines == 2
    with qtbot.waitSignal(window.style_changed) as told:
        qtbot.keyClick(window, Qt.Key.Key_Plus, _CONTROL)
    assert told.args[0].size_pt == 26


def test_dragging_moves_it_and_its_place_is_told(window: CaptionWindow, qtbot: QtBot) -> None:
    window.move(100, 100)
    middle = QPoint(100, 40)
    qtbot.mousePress(window, Qt.MouseButton.LeftButton, pos=middle)
    qtbot.mouseMove(window, middle + QPoint(30, 20))
    with qtbot.waitSignal(window.places_changed) as told:
        qtbot.mouseRelease(window, Qt.MouseButton.LeftButton, pos=middle)
    (place,) = told.args[0].values()
    assert (place.left, place.top) == (window.x(), window.y()) == (130, 120)


def test_dragging_its_lower_edge_changes_the_number_of_lines(window: CaptionWindow, qtbot: QtBot) -> None:
    window.move(100, 100)
    edge = QPoint(100, window.height() - 2)
    qtbot.mousePress(window, Qt.MouseButton.LeftButton, pos=edge)
    qtbot.mouseMove(window, edge - QPoint(0, window.height() // 3))
    with qtbot.waitSignal(window.style_changed) as told:
        qtbot.mouseRelease(window, Qt.MouseButton.LeftButton, pos=edge)
    assert told.args[0].num_lines == 2
    assert window.height() == window.view.height_for(2)
    assert window.y() == 100


def test_clicks_go_through_when_that_is_wanted(window: CaptionWindow) -> None:
    window.set_style(CaptionStyle(is_click_through=True))
    assert window.windowFlags() & Qt.WindowType.WindowTransparentForInput
    assert window.isVisible()
    window.set_style(CaptionStyle())
    assert not window.windowFlags() & Qt.WindowType.WindowTransparentForInput


def test_an_edge_stops_where_the_window_would_be_too_narrow() -> None:
    rect = QRect(100, 100, 400, 120)
    left = resized(rect, QPoint(1000, 0), Qt.Edge.LeftEdge, MIN_WIDTH)
    assert (left.width(), left.right()) == (MIN_WIDTH, rect.right())
    right = resized(rect, QPoint(-1000, 0), Qt.Edge.RightEdge, MIN_WIDTH)
    assert (right.width(), right.left()) == (MIN_WIDTH, rect.left())


def test_it_begins_low_in_the_middle_of_the_screen() -> None:
    rect = rect_on(SCREEN, None, 140)
    assert abs(rect.center().x() - SCREEN.center().x()) <= 1
    assert SCREEN.contains(rect)
    assert rect.top() > SCREEN.height() / 2


def test_each_screen_has_its_own_place_and_the_last_one_comes_first() -> None:
    places = with_place({}, "left", SCREEN, QRect(40, 50, 600, 120))
    other = QRect(1280, 0, 1920, 1080)
    places = with_place(places, "right", other, QRect(1380, 900, 800, 120))
    assert places == {"left": CaptionPlace(40, 50, 600), "right": CaptionPlace(100, 900, 800)}
    assert screen_to_use(places, ["left", "right"]) == "right"
    assert screen_to_use(places, ["left"]) == "left"
    assert screen_to_use({}, ["left", "right"]) == "left"
    assert rect_on(other, places["right"], 120) == QRect(1380, 900, 800, 120)


def test_a_place_on_a_screen_that_became_smaller_is_brought_into_reach() -> None:
    rect = rect_on(QRect(0, 0, 640, 400), CaptionPlace(1500, 900, 1200), 140)
    assert QRect(0, 0, 640, 400).contains(rect)
    assert within(SCREEN, QRect(-50, -60, 400, 100)).topLeft() == QPoint(0, 0)


def test_the_window_is_opened_by_its_key_and_shows_what_was_said(rig: WindowRig, qtbot: QtBot) -> None:
    session = rig.record()
    session.say(" Good morning.")
    session.end_segment(" Good morning.", 0.0, 1.0)
    session.say(" And", " welcome")
    rig.window.actions_.captions.trigger()
    captions = rig.window.live_commands.captions.window
    assert captions is not None
    assert captions.isVisible()
    assert " ".join(texts(captions.view)) == "Good morning. And welcome"
    session.say(" welcome.", "")
    assert " ".join(texts(captions.view)) == "Good morning. And welcome."
    captions.close()
    assert not rig.window.actions_.captions.isChecked()


def test_a_new_recording_begins_with_an_empty_window(rig: WindowRig) -> None:
    rig.keeper.change(captions_with_recording=True)
    session = rig.record()
    captions = rig.window.live_commands.captions.window
    assert captions is not None
    assert rig.window.actions_.captions.isChecked()
    session.say(" Old words.")
    session.end()
    rig.record()
    assert texts(captions.view) == ["Captions appear here while Jamak records."]


def test_the_place_of_the_window_is_remembered(rig: WindowRig, qtbot: QtBot) -> None:
    rig.window.live_commands.captions.show()
    captions = rig.window.live_commands.captions.window
    assert captions is not None
    qtbot.keyClick(captions, Qt.Key.Key_Left, _CONTROL)
    (place,) = rig.keeper.now.caption_places.values()
    area = captions.screen().availableGeometry()
    assert (place.left + area.left(), place.top + area.top()) == (captions.x(), captions.y())


def test_every_setting_takes_effect_in_preview_and_window_at_once(rig: WindowRig, qtbot: QtBot) -> None:
    rig.window.live_commands.captions.show()
    captions = rig.window.live_commands.captions.window
    assert captions is not None
    dialog = CaptionSettingsDialog(rig.keeper)
    qtbot.addWidget(dialog)
    number = dialog.findChild(QSpinBox, "caption_lines")
    assert number is not None
    number.setValue(5)
    colour = dialog.findChild(ColourButton, "caption_text_colour")
    assert colour is not None
    colour.chosen.emit("#ffee00")
    wanted = msgspec.structs.replace(CaptionStyle(), num_lines=5, text_colour="#ffee00")
    assert rig.keeper.now.captions == wanted
    assert captions.view.style_in_use == wanted
    assert dialog.preview.view.style_in_use.num_lines == 5
    dialog.done(0)


def test_opening_the_settings_changes_nothing(rig: WindowRig, qtbot: QtBot) -> None:
    dialog = CaptionSettingsDialog(rig.keeper)
    qtbot.addWidget(dialog)
    assert rig.keeper.now.captions == CaptionStyle()
    assert dialog.findChild(QComboBox, "caption_family") is not None
    dialog.done(0)


@pytest.mark.parametrize(
    "text", ["안녕하세요, 여러분.", "皆さん、こんばんは。", "大家好。", "مرحبا بكم", "Grüß Gott 🎉"]
)
def test_every_script_leaves_ink_in_the_text_colour(window: CaptionWindow, text: str) -> None:
    window.set_style(CaptionStyle(text_colour="#ff0000", outline_px=0))
    window.view.add(text)
    assert texts(window.view)
    image = window.view.grab().toImage()
    red = sum(
        image.pixelColor(x, y).red() > 200 and image.pixelColor(x, y).green() < 60
        for x in range(0, image.width(), 2)
        for y in range(0, image.height(), 2)
    )
    assert red > 20


def test_the_tail_is_paler_than_what_is_confirmed(window: CaptionWindow) -> None:
    """In Latin text the tail behind confirmed text was drawn as its outline only."""
    window.set_style(CaptionStyle(num_lines=1, outline_px=2))
    window.view.add(" so")
    window.view.set_tail(" far")
    assert texts(window.view) == ["so far"]
    image = window.view.grab().toImage()
    greys = {image.pixelColor(x, y).lightness() for x in range(image.width()) for y in range(image.height())}
    assert max(greys) > 245
    assert any(130 < grey < 190 for grey in greys)


def test_a_desktop_that_keeps_no_window_above_is_named_once(rig: WindowRig) -> None:
    assert [can_stay_above(name) for name in ("xcb", "windows", "cocoa", "wayland", "wayland-egl")] == [
        *[True] * 3,
        *[False] * 2,
    ]
    live = rig.window.live_commands
    live.captions.show()
    assert rig.window.notices.texts() == []
    live.tell_limits(True)
    (said,) = rig.window.notices.texts()
    assert "Wayland" in said
    rig.window.notices.withdraw("caption_limits")
    live.tell_limits(True)
    assert rig.window.notices.texts() == []
