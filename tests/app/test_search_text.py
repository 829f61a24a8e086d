"""Folding for search, and where matches stand in the text that is shown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.search_text import excerpt, fold, terms


def test_folding_forgets_case_width_and_composition() -> None:
    assert fold("Straße ＡＢＣ e\u0301") == "strasse abc é"
    assert terms(" Two  Words ") == ["two", "words"]


def test_a_short_text_is_shown_whole_with_every_match() -> None:
    assert excerpt(" one two one ", ["one"]) == ("one two one", ((0, 3), (8, 11)))


def test_overlapping_matches_are_shown_as_one() -> None:
    assert excerpt("abcd", ["abc", "bcd"])[1] == ((0, 4),)


def test_a_match_that_folds_to_more_characters_is_shown_where_it_stands() -> None:
    snippet, matches = excerpt("die Straße", ["strasse"])
    assert [snippet[a:b] for a, b in matches] == ["Straße"]


def test_a_long_text_is_cut_around_the_first_match() -> None:
    snippet, matches = excerpt("x " * 200 + "needle" + " y" * 200, ["needle"])
    assert snippet.startswith("…")
    assert snippet.endswith("…")
    assert [snippet[a:b] for a, b in matches] == ["needle"]


def test_a_text_without_a_match_is_shown_from_its_start() -> None:
    assert excerpt("nothing", ["else"]) == ("nothing", ())


@given(st.text(), st.text(min_size=1))
def test_every_match_shown_folds_to_what_was_searched(text: str, query: str) -> None:
    wanted = terms(query)
    snippet, matches = excerpt(text, wanted)
    for begin, end in matches:
        assert 0 <= begin < end <= len(snippet)
