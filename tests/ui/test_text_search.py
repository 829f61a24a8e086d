"""Finding text in a transcript."""

from __future__ import annotations

import unicodedata

from app.ui.text_search import Match, TextSearch

_TEXTS = ["Thank you, thank you.", "Nothing here", "안녕하세요 여러분", "I thank\nyou"]


def _search(query: str, from_row: int = 0) -> TextSearch:
    search = TextSearch()
    search.start(query, _TEXTS, from_row=from_row)
    return search


def test_matches_come_in_reading_order_whatever_their_case() -> None:
    assert _search("thank").matches == [Match(0, 0, 5), Match(0, 11, 16), Match(3, 2, 7)]


def test_a_space_matches_a_line_break() -> None:
    assert _search("THANK  YOU").matches[-1] == Match(3, 2, 11)


def test_letters_with_a_meaning_in_patterns_are_only_letters() -> None:
    assert _search(".").matches == [Match(0, 20, 21)]
    assert _search("(").matches == []


def test_a_syllable_typed_in_parts_is_found() -> None:
    assert _search(unicodedata.normalize("NFD", "안녕")).matches == [Match(2, 0, 2)]


def test_the_first_match_behind_the_screens_top_is_current_and_else_the_first() -> None:
    assert _search("thank", from_row=1).current == Match(3, 2, 7)
    search = TextSearch()
    search.start("nothing", _TEXTS, from_row=2)
    assert search.current == Match(1, 0, 7)


def test_stepping_goes_around_both_ends() -> None:
    search = _search("thank")
    assert (search.position, search.step(-1), search.position) == (1, Match(3, 2, 7), 3)
    assert search.step(1) == Match(0, 0, 5)


def test_nothing_is_found_for_blanks_and_stepping_is_harmless() -> None:
    search = _search("  ")
    assert (search.matches, search.current, search.step(1), search.position) == ([], None, None, 0)


def test_a_new_row_is_searched_and_the_place_is_kept() -> None:
    search = _search("thank")
    search.step(1)
    search.row_changed(4, "thanks")
    assert search.matches[-1] == Match(4, 0, 5)
    assert search.current == Match(0, 11, 16)


def test_a_corrected_row_loses_its_matches() -> None:
    search = _search("thank")
    search.row_changed(0, "Gone")
    assert search.matches == [Match(3, 2, 7)]
    assert search.current == Match(3, 2, 7)
    search.row_changed(3, "gone, too")
    assert search.current is None
    search.row_changed(1, "thank")
    assert search.current == Match(1, 0, 5)


def test_a_row_that_changed_elsewhere_leaves_everything_as_it_is() -> None:
    search = _search("thank")
    search.row_changed(1, "Still nothing")
    assert search.position == 1
    assert search.in_row(1) == []


def test_letters_that_grow_when_made_small_shift_nothing() -> None:
    search = TextSearch()
    search.start("x", ["İİx", "ΟΔΟΣ x", "x"])
    assert search.matches == [Match(0, 2, 3), Match(1, 5, 6), Match(2, 0, 1)]
    search.start("οδος", ["ΟΔΟΣ x"])
    assert search.matches == [Match(0, 0, 4)]


def test_no_match_goes_across_two_rows() -> None:
    search = TextSearch()
    search.start("a b", ["a", "b", "", "a b"])
    assert search.matches == [Match(3, 0, 3)]
