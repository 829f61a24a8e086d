"""Segments by sentence: all of the text, in order, with the times there are and their source."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.segments import sentence_segments
from engine.messages import Finished, FinishReason, Spans
from engine.protocol.transcript import Segment, TimeSource
from tests.engine.adapters.test_sentences import tokens_of


def accepted(
    seconds: float, *, times: Spans = (), speech: Spans = (), guessed: tuple[int, ...] = ()
) -> Finished:
    return Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=-0.2,
        no_speech_prob=0.0,
        compression_ratio=1.0,
        num_samples=round(seconds * 16_000),
        token_times=times,
        times_source=TimeSource.ALIGNED,
        guessed=guessed,
        speech=speech,
    )


def cut(pieces: list[bytes], finished: Finished) -> tuple[Segment, ...]:
    return sentence_segments(range(len(pieces)), pieces, [-0.1] * len(pieces), finished)


def test_without_times_a_segment_is_a_sentence_on_its_stretch_of_speech() -> None:
    pieces = [b"", *tokens_of("今天天气很好。我们去公园。")]
    segments = cut(pieces, accepted(6.0, speech=((0.5, 2.0), (2.6, 4.0))))
    assert [(s.start, s.end, s.text, s.time_source) for s in segments] == [
        (0.5, 2.0, "今天天气很好。", TimeSource.VAD),
        (2.6, 4.0, "我们去公园。", TimeSource.VAD),
    ]
    assert all(not segment.words for segment in segments)
    assert [segment.tokens for segment in segments] == [(1, 2), (3, 4)]


def test_with_times_a_segment_is_as_long_as_its_words() -> None:
    pieces = [b"", b"Hello", b" world", b".", b" How", b" so", b"?"]
    times = ((0.0, 0.0), (1.0, 1.4), (1.4, 2.0), (2.0, 2.0), (3.0, 3.4), (5.0, 5.5), (5.5, 5.5))
    segments = cut(pieces, accepted(6.0, times=times, guessed=(5,)))
    assert [(s.start, s.end, s.text) for s in segments] == [
        (1.0, 2.0, "Hello world."),
        (3.0, 3.4, " How"),
        (5.0, 5.5, " so?"),
    ]
    aligned, guessed = TimeSource.ALIGNED, TimeSource.INTERPOLATED
    assert [segment.time_source for segment in segments] == [aligned, aligned, guessed]
    assert [word.text for segment in segments for word in segment.words] == [
        "Hello",
        " world.",
        " How",
        " so?",
    ]


def test_punctuation_stays_at_its_character_where_there_are_no_spaces() -> None:
    pieces = [character.encode() for character in "今日は、「東京」へ。"]
    times = tuple((0.2 * index, 0.2 * index + 0.2) for index in range(len(pieces)))
    (segment,) = cut(pieces, accepted(3.0, times=times))
    assert [word.text for word in segment.words] == ["今", "日", "は、", "「東", "京」", "へ。"]


def test_words_at_the_very_end_have_a_length_in_every_sentence() -> None:
    """Places in time are 80 ms apart, so the last ones may lie behind the audio's end."""
    times = ((2.0, 2.4), (2.9, 3.04), (3.04, 3.2), (3.2, 3.36))
    segments = cut([b" Hello", b" there.", b" Bye", b" now."], accepted(3.0, times=times))
    assert [segment.text for segment in segments] == [" Hello there.", " Bye now."]
    spans = [(word.start, word.end) for segment in segments for word in segment.words]
    assert all(end - start > 0.019 for start, end in spans)
    assert spans[-1][1] == pytest.approx(3.0)


def test_text_without_anything_visible_has_no_segments() -> None:
    assert cut([b"", b""], accepted(1.0)) == ()


words = st.sampled_from(
    [" Hello", " world", ".", "?", "天气", "。", "，", "오늘", " 날씨가", "は", " 3", "\n"]
)
raw_times = st.tuples(st.floats(-1.0, 12.0), st.floats(-1.0, 12.0))


@settings(max_examples=300, deadline=None, derandomize=True)
@given(pieces=st.lists(st.tuples(words, raw_times), max_size=40), is_timed=st.booleans())
def test_whatever_the_times_nothing_is_lost_and_all_is_in_order(
    pieces: list[tuple[str, tuple[float, float]]], is_timed: bool
) -> None:
    texts = [text.encode() for text, _ in pieces]
    times = tuple(span for _, span in pieces) if is_timed else ()
    segments = cut(texts, accepted(10.0, times=times, speech=((1.0, 4.0), (5.0, 9.0))))
    assert "".join(segment.text for segment in segments) == b"".join(texts).decode()
    spans = [(segment.start, segment.end) for segment in segments]
    for start, end in spans:
        assert -1e-6 <= start <= end <= 10.0 + 1e-6
    for one, other in pairwise(spans):
        assert one[1] <= other[0] + 1e-6
    for segment in segments:
        assert not is_timed or "".join(word.text for word in segment.words) == segment.text
        for word in segment.words:
            assert word.start < word.end
        for left, right in pairwise(segment.words):
            assert left.end <= right.start + 1e-6
