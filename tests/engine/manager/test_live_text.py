"""Deltas and segments of a live session."""

from __future__ import annotations

import pytest

from engine.manager.confirm import Piece
from engine.manager.live_text import LiveText, Quality
from engine.messages import SAMPLE_RATE_HZ, Finished, FinishReason
from engine.protocol.events import Confirmed, JobEvent, SegmentDone


def said(*words: tuple[float, str]) -> list[Piece]:
    """Return words of 0.4 s that begin at these seconds; an empty one is special."""
    return [
        Piece(index, text.encode(), round(at * SAMPLE_RATE_HZ), round((at + 0.4) * SAMPLE_RATE_HZ), 0, -0.1)
        for index, (at, text) in enumerate(words)
    ]


def told(events: list[JobEvent]) -> list[str]:
    """Return deltas as they are and segments in brackets."""
    lines = []
    for event in events:
        if isinstance(event, Confirmed):
            lines.append(event.delta)
        elif isinstance(event, SegmentDone):
            lines.append(f"[{event.segment.text}]")
    return lines


def test_a_segment_gathers_deltas_until_it_is_ended() -> None:
    text = LiveText("job", 0)
    assert told(text.confirm(said((1, " so")), Quality())) == [" so"]
    assert told(text.confirm(said((2, " what")), Quality())) == [" what"]
    assert told(text.end_segment()) == ["[ so what]"]
    assert text.end_segment() == []
    assert text.confirm([], Quality()) == []


def test_the_model_ends_segments_and_so_do_long_silences_and_sentences() -> None:
    text = LiveText("job", 0)
    assert told(text.confirm(said((0, ""), (0, " a"), (1, ""), (1, ""), (1, " b")), Quality())) == [
        " a",
        "[ a]",
        " b",
    ]
    assert told(text.confirm(said((3, " c")), Quality())) == ["[ b]", " c"]
    assert told(text.confirm(said((4, " d"), (5, " e"), (6, " f."), (6.5, " g")), Quality())) == [
        " d e f.",
        "[ c d e f.]",
        " g",
    ]


def test_a_sentence_end_waits_for_the_marks_behind_it() -> None:
    text = LiveText("job", 0)
    text.confirm(said((0, " so"), (1, " it"), (2, " is"), (3, ".")), Quality())
    assert told(text.confirm(said((3.4, "”"), (3.5, " Yes")), Quality())) == ["”", "[ so it is.”]", " Yes"]


def test_speech_without_end_is_cut_at_a_word() -> None:
    text = LiveText("job", 0)
    words = [(0.5 * index, f" w{index}") for index in range(60)]
    events = text.confirm(said(*words), Quality()) + text.end_segment()
    segments = [event.segment for event in events if isinstance(event, SegmentDone)]
    assert max(segment.end - segment.start for segment in segments) < 13
    assert "".join(segment.text for segment in segments) == "".join(word for _, word in words)


def test_times_of_words_and_segments_follow_one_another() -> None:
    """Samples of the recording, whatever the model's attention says."""
    text = LiveText("job", 16_000)
    first = text.confirm(said((0.5, " early"), (1.5, " on")), Quality()) + text.end_segment()
    second = text.confirm(said((1.2, " back")), Quality()) + text.end_segment()
    segments = [event.segment for event in first + second if isinstance(event, SegmentDone)]
    assert [(segment.start, segment.end) for segment in segments] == [
        (1.0, 1.9),
        (1.9, pytest.approx(1.92)),
    ]
    assert [word.text for word in segments[0].words] == [" early", " on"]
    assert all(word.start < word.end for segment in segments for word in segment.words)


def test_a_delta_says_where_it_ends_so_that_another_session_can_go_on() -> None:
    (event,) = LiveText("job", 0).confirm(said((1, " so"), (2, " what")), Quality())
    assert isinstance(event, Confirmed)
    assert event.end == 2.4


def test_a_segment_carries_what_the_model_thought_of_it() -> None:
    finished = Finished(
        reason=FinishReason.STOP,
        temperature=0.2,
        avg_logprob=-0.7,
        no_speech_prob=0.1,
        compression_ratio=1.5,
        num_samples=16_000,
        is_suspect=True,
    )
    text = LiveText("job", 0)
    text.confirm(said((1, " so")), Quality.of(finished))
    (event,) = text.end_segment()
    assert isinstance(event, SegmentDone)
    segment = event.segment
    assert (segment.temperature, segment.avg_logprob, segment.is_suspect) == (0.2, -0.7, True)
    assert segment.tokens == (0,)
