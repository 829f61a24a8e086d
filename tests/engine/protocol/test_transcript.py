"""Times say where they come from, and lose that when they are changed."""

from __future__ import annotations

import msgspec
import pytest

from engine.protocol.transcript import Segment, TimeSource, Word, after_move, least_sure


def test_a_time_made_of_several_is_as_sure_as_the_least_of_them() -> None:
    assert least_sure([TimeSource.ALIGNED, TimeSource.MODEL]) is TimeSource.MODEL
    assert least_sure([TimeSource.VAD, TimeSource.ALIGNED]) is TimeSource.VAD
    assert least_sure(TimeSource) is TimeSource.INTERPOLATED


@pytest.mark.parametrize(
    ("new", "source"),
    [
        ((1.0, 2.0), TimeSource.ALIGNED),
        ((1.02, 1.98), TimeSource.ALIGNED),
        ((1.0, 2.1), TimeSource.INTERPOLATED),
        ((0.9, 2.0), TimeSource.INTERPOLATED),
    ],
)
def test_a_span_that_had_to_move_is_no_longer_measured(new: tuple[float, float], source: TimeSource) -> None:
    assert after_move(TimeSource.ALIGNED, (1.0, 2.0), new) is source


def test_transcripts_from_before_words_had_a_source_can_be_read() -> None:
    stored = b'{"start":0,"end":1,"text":" a","words":[{"text":" a","start":0,"end":1,"probability":1}]}'
    segment = msgspec.json.decode(stored, type=Segment)
    assert segment.words == (Word(text=" a", start=0, end=1, probability=1),)
    assert segment.words[0].time_source is TimeSource.MODEL
