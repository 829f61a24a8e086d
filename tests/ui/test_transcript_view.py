"""The transcript under the hands of a person."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QGuiApplication, QInputMethodEvent, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.player import Player
from app.ui.segment_editor import SegmentEditor
from app.ui.transcript_view import TranscriptView
from engine.protocol.transcript import TimeSource
from tests.helpers.segments import stored, stored_all

_KEY = Qt.Key
_CONTROL = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_LONG = "It is a truth universally acknowledged that a row of text may need more than one line. " * 3


@pytest.fixture
def view(qtbot: QtBot) -> Iterator[TranscriptView]:
    shown = TranscriptView()
    qtbot.addWidget(shown)
    shown.resize(640, 400)
    with qtbot.wait_exposed(shown):
        shown.show()
    shown.activateWindow()
    shown.list.setFocus()
    yield shown


def _fill(view: TranscriptView, num_rows: int, *, is_streaming: bool = False) -> None:
    texts = [f"{_LONG if row % 3 else 'Short.'} {row}" for row in range(num_rows)]
    view.set_segments(stored_all(texts), is_streaming=is_streaming)


def _time_place(view: TranscriptView, row: int) -> QPoint:
    rect = view.list.row_rect(row)
    return QPoint(30, rect.top() + 10)


def _text_place(view: TranscriptView, row: int) -> QPoint:
    rect = view.list.row_rect(row)
    return QPoint(120, rect.top() + 10)


def _editor(view: TranscriptView) -> SegmentEditor:
    editors = [editor for editor in view.findChildren(SegmentEditor) if editor.isVisible()]
    assert len(editors) == 1
    return editors[0]


def _scroll_by_hand(view: TranscriptView, value: int) -> None:
    bar = view.list.verticalScrollBar()
    bar.setSliderPosition(value)
    bar.triggerAction(bar.SliderAction.SliderMove)


def test_a_click_on_a_time_asks_to_hear_it(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 5)
    with qtbot.wait_signal(view.seek_requested) as told:
        qtbot.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=_time_place(view, 2))
    assert told.args == [4.0]


def test_a_click_on_the_text_chooses_and_plays_nothing(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 5)
    with qtbot.assert_not_emitted(view.seek_requested):
        qtbot.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=_text_place(view, 2))
    assert view.list.chosen_rows() == [2]


def test_keys_move_play_pause_and_seek(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 5)
    view.list.setCurrentIndex(view.model.index(0))
    qtbot.keyClick(view.list, _KEY.Key_Down)
    assert view.list.currentIndex().row() == 1
    with qtbot.wait_signal(view.seek_requested) as told:
        qtbot.keyClick(view.list, _KEY.Key_Return)
    assert told.args == [2.0]
    with qtbot.wait_signal(view.play_pause_requested):
        qtbot.keyClick(view.list, _KEY.Key_Space)
    for key, seconds in ((_KEY.Key_Left, -1.0), (_KEY.Key_Right, 1.0)):
        with qtbot.wait_signal(view.nudge_requested) as told:
            qtbot.keyClick(view.list, key)
        assert told.args == [seconds]
    qtbot.keyClick(view.list, _KEY.Key_End)
    assert view.list.currentIndex().row() == 4
    qtbot.keyClick(view.list, _KEY.Key_Home)
    assert view.list.currentIndex().row() == 0


def test_a_page_down_moves_about_a_screen(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 200)
    view.list.setCurrentIndex(view.model.index(0))
    qtbot.keyClick(view.list, _KEY.Key_PageDown)
    row = view.list.currentIndex().row()
    assert 3 < row < 40
    assert view.list.is_row_visible(row)


@pytest.mark.parametrize("way", ["key", "double click"])
def test_a_correction_is_committed_by_enter_and_told_at_once(
    view: TranscriptView, qtbot: QtBot, way: str
) -> None:
    view.set_segments(stored_all([" Helo.", " World."]))
    view.list.setCurrentIndex(view.model.index(0))
    if way == "key":
        qtbot.keyClick(view.list, _KEY.Key_F2)
    else:
        qtbot.mouseDClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=_text_place(view, 0))
    editor = _editor(view)
    assert editor.toPlainText() == "Helo."
    assert editor.textCursor().position() == len("Helo.")
    editor.selectAll()
    qtbot.keyClicks(editor, "Hello.")
    with qtbot.wait_signal(view.segment_edited) as told:
        qtbot.keyClick(editor, _KEY.Key_Return)
    assert told.args == [100, " Hello."]
    assert view.model.text(0) == "Hello."
    assert not view.list.is_editing


def test_escape_leaves_the_text_as_it_was(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One."]))
    view.list.edit_row(0)
    with qtbot.assert_not_emitted(view.segment_edited):
        qtbot.keyClicks(_editor(view), "x")
        qtbot.keyClick(_editor(view), _KEY.Key_Escape)
    assert view.model.text(0) == "One."
    assert not view.list.is_editing


def test_tab_commits_and_goes_on_to_the_next_segment(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One.", " Two."]))
    view.list.edit_row(0)
    qtbot.keyClicks(_editor(view), "!")
    with qtbot.wait_signal(view.segment_edited):
        qtbot.keyClick(_editor(view), _KEY.Key_Tab)
    qtbot.wait_until(lambda: view.list.is_editing and _editor(view).toPlainText() == "Two.")


def test_alt_up_edits_the_segment_before(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One.", " Two."]))
    view.list.edit_row(1)
    qtbot.keyClick(_editor(view), _KEY.Key_Up, Qt.KeyboardModifier.AltModifier)
    qtbot.wait_until(lambda: view.list.is_editing and _editor(view).toPlainText() == "One.")


def test_shift_enter_makes_a_line_and_the_row_grows(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One.", " Two."]))
    before = view.list.row_rect(0).height()
    view.list.edit_row(0)
    qtbot.keyClick(_editor(view), _KEY.Key_Return, _SHIFT)
    qtbot.keyClicks(_editor(view), "More.")
    assert view.list.row_rect(0).height() > before
    qtbot.keyClick(_editor(view), _KEY.Key_Return)
    assert view.model.text(0) == "One.\nMore."
    assert view.list.row_rect(0).height() > before


def test_the_editor_breaks_lines_as_the_row_does(view: TranscriptView) -> None:
    texts = [_LONG, "안녕하세요, 오늘 회의에 참석해 주셔서 감사합니다. " * 5, "צהריים טובים " * 20]
    view.set_segments(stored_all(texts))
    for row in range(len(texts)):
        before = view.list.row_rect(row)
        view.list.edit_row(row)
        assert view.list.row_rect(row) == before
        view.list.setFocus()


def test_control_space_plays_while_typing(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One."]))
    view.list.edit_row(0)
    with qtbot.wait_signal(view.play_pause_requested):
        qtbot.keyClick(_editor(view), _KEY.Key_Space, _CONTROL)
    assert _editor(view).toPlainText() == "One."


def test_what_is_pasted_is_plain_text(view: TranscriptView) -> None:
    view.set_segments(stored_all([" One."]))
    view.list.edit_row(0)
    QGuiApplication.clipboard().setText("two")
    _editor(view).paste()
    assert _editor(view).toPlainText() == "One.two"


def test_undo_and_redo_go_through_every_correction(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" a", " b"]))
    view.model.setData(view.model.index(0), "A")
    view.model.setData(view.model.index(1), "B")
    stored_texts: list[tuple[int, str]] = []
    view.segment_edited.connect(lambda segment_id, text: stored_texts.append((segment_id, text)))
    qtbot.keyClick(view.list, _KEY.Key_Z, _CONTROL)
    qtbot.keyClick(view.list, _KEY.Key_Z, _CONTROL)
    qtbot.keyClick(view.list, _KEY.Key_Y, _CONTROL)
    qtbot.keyClick(view.list, _KEY.Key_Z, _CONTROL | _SHIFT)
    assert stored_texts == [(101, " b"), (100, " a"), (100, " A"), (101, " B")]
    assert view.list.currentIndex().row() == 1


def test_another_recordings_corrections_cannot_be_undone(view: TranscriptView) -> None:
    view.set_segments(stored_all([" a"]))
    view.model.setData(view.model.index(0), "A")
    view.set_segments([])
    assert not view.undo_stack.canUndo()


def test_a_correction_survives_text_that_streams_in(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 2, is_streaming=True)
    view.list.edit_row(0)
    qtbot.keyClicks(_editor(view), "!")
    view.append_segment(stored(2, "new"))
    view.set_tail("more")
    assert _editor(view).toPlainText().endswith("0!")
    with qtbot.wait_signal(view.segment_edited):
        qtbot.keyClick(_editor(view), _KEY.Key_Return)


def test_the_end_is_followed_until_somebody_scrolls_and_again_on_demand(
    view: TranscriptView, qtbot: QtBot
) -> None:
    _fill(view, 60, is_streaming=True)
    jump = view.findChild(QPushButton, "jump_button")
    assert view.list.is_at_end
    view.append_segment(stored(60, _LONG))
    view.set_tail(_LONG)
    assert view.list.is_at_end
    view.resize(400, 300)
    assert view.list.is_at_end
    assert jump.isHidden()

    _scroll_by_hand(view, 0)
    view.append_segment(stored(61, _LONG))
    assert view.list.verticalScrollBar().value() == 0
    assert jump.isVisible()
    assert jump.text() == "Jump to newest"

    qtbot.mouseClick(jump, Qt.MouseButton.LeftButton)
    assert view.list.is_at_end
    assert jump.isHidden()


def test_scrolling_back_to_the_end_follows_it_again(view: TranscriptView) -> None:
    _fill(view, 60, is_streaming=True)
    _scroll_by_hand(view, 0)
    _scroll_by_hand(view, view.list.verticalScrollBar().maximum())
    view.append_segment(stored(60, _LONG))
    assert view.list.is_at_end


def test_playback_is_followed_until_somebody_scrolls(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 100)
    jump = view.findChild(QPushButton, "jump_button")
    view.set_playing(120.5)
    assert view.list.playing_row == 60
    assert view.list.is_row_visible(60)

    _scroll_by_hand(view, 0)
    view.set_playing(140.0)
    assert view.list.verticalScrollBar().value() == 0
    assert jump.text() == "Jump to playing"
    qtbot.mouseClick(jump, Qt.MouseButton.LeftButton)
    assert view.list.is_row_visible(70)
    assert jump.isHidden()


def test_editing_is_not_scrolled_away_by_playback(view: TranscriptView) -> None:
    _fill(view, 100)
    view.list.edit_row(0)
    view.set_playing(120.0)
    assert view.list.is_row_visible(0)


def test_what_is_read_stays_put_while_rows_above_turn_out_taller(view: TranscriptView) -> None:
    """Rows above are guessed until seen; finding out their height must move the bar and not the text."""
    _fill(view, 400)
    bar = view.list.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    row = view.list.row_at(200)
    assert row is not None
    for _ in range(40):
        before = view.list.row_rect(row).top()
        bar.setValue(bar.value() - 30)
        assert view.list.row_rect(row).top() == before + 30


def test_a_search_counts_steps_around_and_closes(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all(["Thank you", "no", "thanks"] * 40))
    qtbot.keyClick(view.list, _KEY.Key_F, _CONTROL)
    field = view.search_bar.field
    assert field.hasFocus()
    qtbot.keyClicks(field, "thank")
    assert view.search_bar.count.text() == "1 / 80"
    qtbot.keyClick(field, _KEY.Key_Return)
    assert view.list.currentIndex().row() == 2
    qtbot.keyClick(field, _KEY.Key_F3, _SHIFT)
    qtbot.keyClick(field, _KEY.Key_Return, _SHIFT)
    assert view.search_bar.count.text() == "80 / 80"
    assert view.list.is_row_visible(119)
    qtbot.keyClick(field, _KEY.Key_Escape)
    assert view.search_bar.isHidden()
    assert view.list.hasFocus()


def test_text_that_streams_in_is_searched_too(view: TranscriptView) -> None:
    view.set_segments(stored_all(["thank", "no"]))
    view.find_text("thank")
    view.append_segment(stored(2, "thanks"))
    assert view.search_bar.count.text() == "1 / 2"
    view.model.setData(view.model.index(0), "gone")
    assert view.search_bar.count.text() == "1 / 1"


def test_a_syllable_still_being_composed_is_searched(view: TranscriptView) -> None:
    view.set_segments(stored_all(["안녕하세요", "반갑습니다"]))
    view.open_search()
    QApplication.sendEvent(view.search_bar.field, QInputMethodEvent("반", []))
    assert view.search_bar.count.text() == "1 / 1"
    assert view.list.currentIndex().row() == 1
    committed = QInputMethodEvent()
    committed.setCommitString("안")
    QApplication.sendEvent(view.search_bar.field, committed)
    assert view.search_bar.field.query == "안"
    assert view.list.currentIndex().row() == 0


def test_a_search_without_matches_says_so(view: TranscriptView) -> None:
    view.set_segments(stored_all(["one"]))
    view.find_text("two")
    assert view.search_bar.count.text() == "No matches"


def test_copying_takes_the_chosen_rows_with_times_on_demand(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One.", " Two.", " Three."]))
    view.list.setCurrentIndex(view.model.index(1))
    qtbot.keyClick(view.list, _KEY.Key_Down, _SHIFT)
    qtbot.keyClick(view.list, _KEY.Key_C, _CONTROL)
    assert QGuiApplication.clipboard().text() == "Two.\nThree."
    menu = view.context_menu()
    next(action for action in menu.actions() if action.text() == "Copy with times").trigger()
    assert QGuiApplication.clipboard().text() == "0:02\tTwo.\n0:04\tThree."


def test_text_grows_and_shrinks_by_keys_and_keeps_the_place(view: TranscriptView, qtbot: QtBot) -> None:
    _fill(view, 100)
    view.list.put_row(50, 0)
    before = view.list.row_rect(50).height()
    with qtbot.wait_signal(view.zoom_changed) as told:
        qtbot.keyClick(view.list, _KEY.Key_Plus, _CONTROL)
    assert told.args == [110]
    assert view.list.row_rect(50).top() == 0
    assert view.list.row_rect(50).height() > before
    qtbot.keyClick(view.list, _KEY.Key_Minus, _CONTROL)
    qtbot.keyClick(view.list, _KEY.Key_Minus, _CONTROL)
    qtbot.keyClick(view.list, _KEY.Key_0, _CONTROL)
    assert view.list.zoom_percent == 100


def test_a_screen_reader_finds_the_rows_of_a_list(view: TranscriptView) -> None:
    view.set_segments(stored_all([" One.", " Two."]))
    reader = QAccessible.queryAccessibleInterface(view.list)
    assert reader.role() == QAccessible.Role.List
    assert reader.text(QAccessible.Text.Name) == "Transcript"
    assert [reader.child(row).text(QAccessible.Text.Name) for row in range(reader.childCount())] == [
        "0:00, One.",
        "0:02, Two.",
    ]


def test_an_empty_transcript_says_why_until_text_comes(view: TranscriptView) -> None:
    view.set_empty_text("Listening…")
    view.set_segments([])
    assert view.list.isHidden()
    view.set_tail("word")
    assert view.list.isVisible()
    view.end_streaming()
    assert view.list.isHidden()


def test_a_doubtful_row_explains_its_mark(view: TranscriptView) -> None:
    view.set_segments([stored(0, "la la la", is_suspect=True), stored(1, "fine")])
    assert "not sure" in view.list.tip_at(QPoint(15, view.list.row_rect(0).center().y()))
    assert view.list.tip_at(_time_place(view, 1)).startswith("Play from here\n")
    assert view.list.tip_at(_text_place(view, 1)) == ""


def test_the_gutter_is_on_the_right_in_a_window_that_reads_from_there(
    view: TranscriptView, qtbot: QtBot
) -> None:
    view.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    _fill(view, 3)
    place = _time_place(view, 1)
    place.setX(view.list.viewport().width() - place.x())
    with qtbot.wait_signal(view.seek_requested):
        qtbot.mouseClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_hours_appear_with_the_first_segment_behind_the_first_hour(view: TranscriptView) -> None:
    _fill(view, 3)
    view.append_segment(stored(3, "late", start=3700.0))
    view.list.setCurrentIndex(view.model.index(0))
    assert view.list.chosen_text(with_times=True).startswith("0:00:00\t")


def test_only_what_is_seen_is_laid_out(view: TranscriptView) -> None:
    _fill(view, 20_000)
    QTest.qWait(0)
    heights = view.list.heights
    assert sum(heights.is_measured(row) for row in range(len(heights))) < 60


def test_shift_tab_goes_back_to_the_segment_before(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One.", " Two."]))
    view.list.edit_row(1)
    qtbot.keyClick(_editor(view), _KEY.Key_Backtab, _SHIFT)
    qtbot.wait_until(lambda: view.list.is_editing and _editor(view).toPlainText() == "One.")


def test_moving_with_a_screen_reader_running_is_harmless(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([" One.", " Two."]))
    QAccessible.setActive(True)
    try:
        view.list.setCurrentIndex(view.model.index(0))
        qtbot.keyClick(view.list, _KEY.Key_Down)
        qtbot.keyClick(view.list, _KEY.Key_Up, _SHIFT)
        view.append_segment(stored(2, "more"))
    finally:
        QAccessible.setActive(False)
    assert view.list.chosen_rows() == [0, 1]


def test_nothing_is_lit_until_something_was_heard(view: TranscriptView) -> None:
    player = Player()
    view.use_player(player)
    view.set_segments(stored_all(["One", "Two"]))
    player.position_changed.emit(0.0)
    assert view.list.playing_row is None
    player.position_changed.emit(2.5)
    assert view.list.playing_row == 1
    player.loaded_changed.emit(False)
    assert view.list.playing_row is None


def test_the_cursor_is_put_where_the_text_was_clicked(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all([_LONG]))
    qtbot.mouseDClick(view.list.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(70, 18))
    assert _editor(view).textCursor().position() < 5


def test_rows_are_chosen_by_dragging_and_let_go_by_a_click_beside(view: TranscriptView, qtbot: QtBot) -> None:
    view.set_segments(stored_all(["One", "Two", "Three"]))
    viewport = view.list.viewport()
    qtbot.mousePress(viewport, Qt.MouseButton.LeftButton, pos=_text_place(view, 1))
    # pytest-qt's mouseMove holds no button.
    place = QPointF(150, 12)
    dragged = QMouseEvent(
        QEvent.Type.MouseMove,
        place,
        viewport.mapToGlobal(place),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, dragged)
    assert view.list.chosen_rows() == [0, 1]
    qtbot.mouseRelease(viewport, Qt.MouseButton.LeftButton, pos=QPoint(150, 2))
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(150, viewport.height() - 5))
    assert view.list.selectedIndexes() == []


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (TimeSource.ALIGNED, "measured"),
        (TimeSource.MODEL, "recogniser"),
        (TimeSource.VAD, "speech"),
        (TimeSource.INTERPOLATED, "Estimated"),
    ],
)
def test_a_time_says_where_it_comes_from(view: TranscriptView, source: TimeSource, says: str) -> None:
    view.set_segments([msgspec.structs.replace(stored(0, "fine"), time_source=source)])
    assert says in view.list.tip_at(_time_place(view, 0))


def test_a_time_that_was_not_measured_looks_different(view: TranscriptView) -> None:
    sources = (TimeSource.ALIGNED, TimeSource.MODEL, TimeSource.VAD, TimeSource.INTERPOLATED)
    pictures = []
    _fill(view, 1)
    for source in sources:
        view.set_segments([msgspec.structs.replace(stored(0, "fine"), time_source=source)])
        QApplication.processEvents()
        row = view.list.row_rect(0)
        row.setRight(_text_place(view, 0).x() - 1)
        pictures.append(view.list.viewport().grab(row).toImage())
    measured, given, on_speech, guessed = pictures
    assert measured == given
    assert on_speech == guessed
    assert measured != guessed
