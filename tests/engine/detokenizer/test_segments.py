"""Segments hold exactly the text that a stop string has left."""

from __future__ import annotations

import pytest

from engine.detokenizer.segments import cut_segments, with_logprobs
from engine.protocol.transcript import Segment, TimeSource, Word


def _word(text: str) -> Word:
    return Word(text=text, start=0.0, end=1.0, probability=1.0)


SEGMENTS = (
    Segment(start=0.0, end=2.0, text=" one two", words=(_word(" one"), _word(" two"))),
    Segment(start=2.0, end=3.0, text=" three", words=(_word(" three"),)),
)


@pytest.mark.parametrize("num_chars", range(16))
def test_the_segments_join_to_the_text_that_is_left(num_chars: int) -> None:
    cut = cut_segments(SEGMENTS, num_chars)
    assert "".join(segment.text for segment in cut) == " one two three"[:num_chars]
    assert all(segment.text for segment in cut)


def test_only_whole_words_keep_their_times() -> None:
    (cut,) = cut_segments(SEGMENTS, 6)
    assert [word.text for word in cut.words] == [" one"]


def test_segments_that_are_not_cut_stay_as_they_are() -> None:
    assert cut_segments(SEGMENTS, 14) == SEGMENTS


def test_a_shortened_segment_ends_with_its_last_word_or_nobody_knows_when() -> None:
    (cut,) = cut_segments(SEGMENTS, 6)
    assert (cut.end, cut.time_source) == (1.0, TimeSource.MODEL)
    (cut,) = cut_segments([Segment(start=0.0, end=2.0, text=" one two")], 6)
    assert (cut.end, cut.time_source) == (2.0, TimeSource.INTERPOLATED)


def test_each_token_says_how_sure_the_model_was_of_it() -> None:
    first = Segment(start=0.0, end=1.0, text=" né", tokens=(7, 7))
    second = Segment(start=1.0, end=2.0, text="!", tokens=(9,))
    ids, logprobs = [99, 7, 7, 99, 9], [-9.0, -0.1, -0.2, -9.0, -0.3]
    pieces = [b"", b" n\xc3", b"\xa9", b"", b"!"]
    told = with_logprobs((first, second), ids, logprobs, pieces)
    chances = [[(one.piece, one.logprob) for one in segment.token_logprobs] for segment in told]
    assert chances == [[(b" n\xc3", -0.1), (b"\xa9", -0.2)], [(b"!", -0.3)]]
