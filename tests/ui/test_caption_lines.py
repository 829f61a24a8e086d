"""Captions break where a reader expects it, and what is confirmed stays where it stands."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.ui.caption_lines import MAX_LINES, CaptionLines, Line, Room
from app.ui.caption_scroll import CaptionScroll
from engine.captions import columns

TEXT = st.text(st.sampled_from("ab c,. -가나다 字仮名。、」「っー é\u0301🎉\u200dกำ"), max_size=24)
STEPS = st.lists(st.tuples(st.sampled_from(["add", "tail", "pause"]), TEXT), max_size=30)
WIDTHS = st.integers(4, 24)


def lines_of(width: int, hang: int = 2) -> CaptionLines:
    """Return lines of a screen whose letters are a column wide, full-width ones two."""
    return CaptionLines(room(width, hang))


def room(width: int, hang: int = 2) -> Room:
    return Room(columns, width, hang)


def shown(lines: CaptionLines) -> list[str]:
    return [line.confirmed + line.tail for line in lines.lines]


def confirmed(lines: CaptionLines) -> list[str]:
    return [line.confirmed for line in lines.lines if line.confirmed]


def squeezed(text: str) -> str:
    """Return what must survive any layout: everything but spaces."""
    return "".join(text.split())


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps=STEPS, width=WIDTHS)
def test_confirmed_lines_only_grow_at_their_end(steps: list[tuple[str, str]], width: int) -> None:
    lines = lines_of(width)
    before: list[str] = []
    for step, text in steps:
        match step:
            case "add":
                lines.add(text)
            case "tail":
                lines.set_tail(text)
            case _:
                lines.end_paragraph()
        after = confirmed(lines)
        if before:
            assert after[: len(before) - 1] == before[:-1]
            assert after[len(before) - 1].startswith(before[-1])
        before = after


@settings(max_examples=150, deadline=None, derandomize=True)
@given(steps=STEPS, width=WIDTHS, other=WIDTHS)
def test_no_letter_is_lost_or_said_twice(steps: list[tuple[str, str]], width: int, other: int) -> None:
    lines = lines_of(width)
    said, tail = "", ""
    for step, text in steps:
        match step:
            case "add":
                lines.add(text)
                said += text
            case "tail":
                lines.set_tail(text)
                tail = text
            case _:
                lines.end_paragraph()
    assert squeezed("".join(confirmed(lines))) == squeezed(said)
    assert squeezed("".join(shown(lines))) == squeezed(said + tail)
    lines.lay_out_again(room(other))
    assert squeezed("".join(shown(lines))) == squeezed(said + tail)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(text=TEXT, tail=TEXT, width=WIDTHS)
def test_no_line_is_wider_than_its_room(text: str, tail: str, width: int) -> None:
    lines = lines_of(width)
    lines.add(text)
    lines.set_tail(tail)
    assert all(columns(line) <= width + 2 for line in shown(lines))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(text=TEXT, tail=TEXT, width=WIDTHS)
def test_a_tail_that_comes_true_stays_where_it_was(text: str, tail: str, width: int) -> None:
    lines = lines_of(width)
    lines.add(text)
    lines.set_tail(tail)
    before = shown(lines)
    lines.set_tail("")
    lines.add(tail)
    assert shown(lines) == before


@settings(max_examples=150, deadline=None, derandomize=True)
@given(text=TEXT, width=WIDTHS, other=WIDTHS)
def test_another_width_and_back_changes_nothing(text: str, width: int, other: int) -> None:
    lines = lines_of(width)
    lines.add(text)
    before = shown(lines)
    lines.lay_out_again(room(other))
    lines.lay_out_again(room(width))
    assert shown(lines) == before


def test_words_stay_whole() -> None:
    lines = lines_of(12)
    lines.add("Good morning everybody and welcome")
    assert shown(lines) == ["Good morning", "everybody", "and welcome"]


def test_korean_breaks_at_its_spaces() -> None:
    lines = lines_of(14)
    lines.add("여러분 안녕하세요 반갑습니다")
    assert shown(lines) == ["여러분", "안녕하세요", "반갑습니다"]


def test_japanese_breaks_anywhere_but_before_its_small_signs() -> None:
    lines = lines_of(10, hang=0)
    lines.add("今日はいいっ日だ。")
    assert shown(lines) == ["今日はい", "いっ日だ。"]


def test_an_opening_bracket_ends_no_line() -> None:
    lines = lines_of(8, hang=0)
    lines.add("彼は言「おはよう」")
    assert shown(lines) == ["彼は言", "「おはよ", "う」"]


def test_a_full_stop_that_comes_late_hangs_out_of_its_line() -> None:
    lines = lines_of(10)
    lines.add("你好世界吗")
    lines.add("。")
    assert shown(lines) == ["你好世界吗。"]


def test_a_word_that_goes_on_after_the_line_is_full_is_broken_rather_than_moved() -> None:
    lines = lines_of(8)
    lines.add("the foot")
    lines.add("balls roll")
    assert shown(lines) == ["the foot", "balls", "roll"]


def test_a_word_longer_than_a_line_is_broken_between_letters() -> None:
    lines = lines_of(4)
    lines.add("ae\u0301ae\u0301ae\u0301")
    assert shown(lines) == ["ae\u0301ae\u0301", "ae\u0301"]


def test_the_tail_goes_on_in_the_last_confirmed_line() -> None:
    lines = lines_of(12)
    lines.add("Good")
    lines.set_tail(" morning every")
    assert list(lines.lines) == [Line("Good", " morning"), Line("", "every")]


def test_what_comes_after_a_pause_begins_a_line() -> None:
    lines = lines_of(20)
    lines.add(" Good.")
    lines.end_paragraph()
    lines.set_tail(" So")
    assert list(lines.lines) == [Line("Good."), Line("", "So")]
    lines.add(" So what?")
    lines.set_tail("")
    assert shown(lines) == ["Good.", "So what?"]
    lines.lay_out_again(room(40))
    assert shown(lines) == ["Good.", "So what?"]


def test_a_pause_before_anything_is_nothing() -> None:
    lines = lines_of(20)
    lines.end_paragraph()
    assert shown(lines) == []
    assert lines.end == 0


def test_old_lines_are_let_go_and_the_others_keep_their_numbers() -> None:
    lines = lines_of(4)
    for _ in range(MAX_LINES + 5):
        lines.add(" word")
    assert len(lines.lines) == MAX_LINES
    assert lines.num_dropped == 5
    assert lines.end == MAX_LINES + 5


@pytest.mark.parametrize("end", [0, 1, 2, 3])
def test_few_lines_begin_at_the_top(end: int) -> None:
    assert CaptionScroll(3).first(0, end) == 0


@settings(max_examples=150, deadline=None, derandomize=True)
@given(ends=st.lists(st.integers(0, 40), min_size=1), num_lines=st.integers(1, 6))
def test_the_first_line_on_screen_goes_back_only_to_show_anything_at_all(
    ends: list[int], num_lines: int
) -> None:
    scroll = CaptionScroll(num_lines)
    before = 0
    for end in ends:
        first = scroll.first(0, end)
        assert first >= before or first == max(0, end - 1)
        assert end == 0 or end - num_lines <= first < end
        before = first


def test_going_back_stays_there_while_more_is_said() -> None:
    scroll = CaptionScroll(3)
    assert scroll.first(0, 10) == 7
    scroll.scroll(-2, 0, 10)
    assert (scroll.is_live, scroll.first(0, 14)) == (False, 5)
    scroll.scroll(6, 0, 14)
    assert (scroll.is_live, scroll.first(0, 15)) == (True, 12)


def test_nobody_goes_back_beyond_the_oldest_line() -> None:
    scroll = CaptionScroll(3)
    scroll.scroll(-50, 4, 10)
    assert scroll.first(4, 10) == 4
    assert scroll.first(6, 12) == 6
    scroll.show_newest()
    assert scroll.first(6, 12) == 9


def test_more_lines_show_more_of_what_was_said() -> None:
    scroll = CaptionScroll(2)
    assert scroll.first(0, 9) == 7
    scroll.show_newest(4)
    assert scroll.first(0, 9) == 5
