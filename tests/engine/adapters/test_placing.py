"""Text without times lies where speech was heard, and says what of that is a guess."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.placing import Place, place_parts
from engine.protocol.transcript import TimeSource

VAD, GUESS = TimeSource.VAD, TimeSource.INTERPOLATED


def test_sentences_end_at_the_pauses_between_them() -> None:
    speech = ((0.5, 2.5), (3.0, 7.0), (7.6, 9.0))
    assert place_parts([2.2, 3.8, 1.5], speech, 10.0) == [
        Place(0.5, 2.5, VAD),
        Place(3.0, 7.0, VAD),
        Place(7.6, 9.0, VAD),
    ]


def test_a_pause_within_a_sentence_is_not_its_end() -> None:
    """The first sentence is three times as long as the second; it has a pause in the middle."""
    speech = ((0.0, 3.0), (3.5, 6.5), (7.0, 9.0))
    assert place_parts([6.0, 2.0], speech, 10.0) == [Place(0.0, 6.5, VAD), Place(7.0, 9.0, VAD)]


def test_without_a_pause_near_the_border_is_a_guess_by_length() -> None:
    assert place_parts([1.0, 3.0], ((1.0, 9.0),), 10.0) == [Place(1.0, 3.0, GUESS), Place(3.0, 9.0, GUESS)]


def test_guesses_lie_between_what_is_known() -> None:
    speech = ((0.0, 4.0), (5.0, 9.0))
    places = place_parts([1.0, 1.0, 1.0, 1.0], speech, 10.0)
    assert [(place.start_s, place.end_s) for place in places] == [
        (0.0, 2.0),
        (2.0, 4.0),
        (5.0, 7.0),
        (7.0, 9.0),
    ]
    assert [place.source for place in places] == [GUESS] * 4


def test_where_nobody_listened_for_speech_all_is_a_guess() -> None:
    assert place_parts([1.0, 1.0], (), 4.0) == [Place(0.0, 2.0, GUESS), Place(2.0, 4.0, GUESS)]
    assert place_parts([1.0], (), 4.0) == [Place(0.0, 4.0, GUESS)]
    assert place_parts([], (), 4.0) == []


lengths = st.lists(st.floats(0.0, 15.0), max_size=12)
steps = st.lists(st.tuples(st.floats(0.0, 3.0), st.floats(0.05, 8.0)), max_size=12)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(lengths=lengths, steps=steps)
def test_places_are_in_order_apart_and_within_the_speech(
    lengths: list[float], steps: list[tuple[float, float]]
) -> None:
    spans: list[tuple[float, float]] = []
    reached = 0.0
    for silence, length in steps:
        spans.append((reached + silence, reached + silence + length))
        reached = spans[-1][1]
    places = place_parts(lengths, tuple(spans), reached + 1.0)
    assert len(places) == len(lengths)
    for place in places:
        assert place.start_s <= place.end_s
    for one, other in pairwise(places):
        assert one.end_s <= other.start_s
    if places and spans:
        assert (places[0].start_s, places[-1].end_s) == pytest.approx((spans[0][0], spans[-1][1]))


def test_a_long_pause_ends_a_sentence_though_it_was_spoken_slowly() -> None:
    """Three phrases with a second between them; the second one's text is much too short for its sound."""
    speech = ((1.0, 2.0), (3.5, 5.6), (6.8, 7.9))
    places = place_parts([1.5, 1.6, 0.9], speech, 9.0)
    assert [(place.start_s, place.end_s) for place in places] == list(speech)
