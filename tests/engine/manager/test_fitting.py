"""Times follow one another, whatever a model says."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.manager.fitting import fit, squeeze
from engine.protocol.transcript import Segment, TimeSource, Word

times = st.floats(-5.0, 40.0)
spans = st.lists(st.tuples(times, times), max_size=12)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(spans=spans)
def test_spans_are_in_order_within_range_and_never_empty(spans: list[tuple[float, float]]) -> None:
    fitted = squeeze(spans, 3.0, 33.0)
    assert len(fitted) == len(spans)
    for start, end in fitted:
        assert 3.0 <= start < end <= 33.0
    for one, other in pairwise(fitted):
        assert one[1] <= other[0]


def test_good_times_stay_what_they_were() -> None:
    good = [(3.0, 4.5), (4.5, 6.0), (7.25, 30.0)]
    assert squeeze(good, 3.0, 33.0) == good


def test_where_there_is_no_room_nothing_leaves_its_range() -> None:
    fitted = squeeze([(0.0, 1.0)] * 5, 2.0, 2.0)
    assert fitted == [(2.0, 2.0)] * 5
    assert all(2.0 <= start <= end <= 2.02 for start, end in squeeze([(9.0, 9.0)] * 4, 2.0, 2.02))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(spans=spans)
def test_words_follow_one_another_within_their_segment(spans: list[tuple[float, float]]) -> None:
    words = tuple(Word(text=" a", start=start, end=end, probability=1.0) for start, end in spans)
    (fitted,) = fit([Segment(start=5.0, end=20.0, text=" a" * len(words), words=words)], 3.0, 33.0)
    assert (fitted.start, fitted.end) == (5.0, 20.0)
    for word in fitted.words:
        assert 5.0 <= word.start < word.end <= 20.0
    for one, other in pairwise(fitted.words):
        assert one.end <= other.start


def test_only_times_that_were_moved_are_no_longer_measured() -> None:
    words = tuple(
        Word(text=" a", start=start, end=end, probability=1.0, time_source=TimeSource.ALIGNED)
        for start, end in ((1.0, 2.0), (1.5, 3.0), (3.0, 4.0))
    )
    segment = Segment(start=1.0, end=4.0, text=" a a a", words=words, time_source=TimeSource.ALIGNED)
    (fitted,) = fit([segment], 0.0, 10.0)
    assert fitted.time_source is TimeSource.ALIGNED
    assert [word.time_source for word in fitted.words] == [
        TimeSource.ALIGNED,
        TimeSource.INTERPOLATED,
        TimeSource.ALIGNED,
    ]
    (cut,) = fit([segment], 0.0, 3.5)
    assert cut.time_source is TimeSource.INTERPOLATED
