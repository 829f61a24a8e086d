"""Flushes of a live session: each is answered once what was said before it is confirmed, in order."""

from __future__ import annotations

from engine.messages import Ended, EndedReason
from engine.protocol.events import Flushed, JobEvent, SegmentDone
from tests.engine.manager.test_live_job import answer, feed, live_job, texts

RATE_HZ = 16_000


def _flushed(told: list[JobEvent]) -> list[int]:
    return [event.sample for event in told if isinstance(event, Flushed)]


def test_a_flush_is_told_behind_the_text_and_the_segment_of_what_was_before_it() -> None:
    job = live_job()
    feed(job, 0.5)
    job.flush()
    (closing,), told = job.take_chunks()
    assert _flushed(told) == []
    told = job.answered(answer(closing, " so", " what"))
    told += job.take_chunks()[1]
    assert texts(told) == [" so what", "[ so what]"]
    assert _flushed(told) == [RATE_HZ // 2]
    assert _flushed(job.take_chunks()[1]) == []


def test_only_what_was_said_before_the_sample_is_told_before_it() -> None:
    """A caller that sends faster than people speak has sent the next sentence when the first is marked."""
    job = live_job()
    (interim,), _ = feed(job, 3.0)
    job.flush(RATE_HZ)
    (closing,), _ = job.take_chunks()
    assert closing.start_sample + closing.num_samples == RATE_HZ
    # It has heard both sentences.
    told = job.answered(answer(interim, " one", " two", " three", " four", " five", " six"))
    told += job.answered(answer(closing, " one", " two"))
    told += job.take_chunks()[1]
    assert [text for text in texts(told) if not text.startswith("…")] == [" one two", "[ one two]"]
    assert _flushed(told) == [RATE_HZ]


def test_flushes_at_several_places_are_told_one_by_one() -> None:
    job = live_job()
    feed(job, 0.5)
    job.flush(RATE_HZ // 4)
    job.flush(RATE_HZ // 2)
    told: list[JobEvent] = []
    ends = []
    for _ in range(2):
        chunks, news = job.take_chunks()
        told += news
        for chunk in chunks:
            ends.append(chunk.start_sample + chunk.num_samples)
            told += job.answered(answer(chunk, f" w{len(ends)}"))
    told += job.take_chunks()[1]
    assert ends == [RATE_HZ // 4, RATE_HZ // 2]
    assert _flushed(told) == [RATE_HZ // 4, RATE_HZ // 2]
    first = told.index(next(event for event in told if isinstance(event, Flushed)))
    assert texts(told[:first]) == [" w1", "[ w1]"]


def test_a_flush_of_silence_is_told_at_once() -> None:
    job = live_job()
    job.flush()
    assert _flushed(job.take_chunks()[1]) == [0]


def test_a_flush_is_told_even_where_its_sound_could_not_be_decoded() -> None:
    job = live_job()
    feed(job, 0.5)
    job.flush()
    (closing,), _ = job.take_chunks()
    told = job.ended(Ended(key=closing.key, reason=EndedReason.FAILED))
    told += job.take_chunks()[1]
    assert _flushed(told) == [RATE_HZ // 2]
    assert not [event for event in told if isinstance(event, SegmentDone)]
