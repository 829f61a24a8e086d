"""One live session from what is fed to what is told, with the answers given by hand."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from engine.adapters.base import LocalAgreement, ModelTraits
from engine.manager.live_job import LiveJob
from engine.messages import (
    SAMPLE_RATE_HZ,
    Chunk,
    ChunkKind,
    Ended,
    EndedReason,
    Finished,
    FinishReason,
    RequestKey,
    StrOutput,
)
from engine.protocol.events import (
    Backlog,
    Confirmed,
    Gap,
    JobDone,
    JobEvent,
    LanguageDetected,
    SegmentDone,
    Tail,
)
from engine.protocol.requests import Feed, Listen
from engine.protocol.transcript import Options

TRAITS = ModelTraits(
    family="Toy",
    languages=("en", "ko"),
    can_translate=True,
    max_chunk_s=30.0,
    confirmation=LocalAgreement(stable_s=0.0, held_s=0.0),
)


def live_job(*, language: str | None = "en", traits: ModelTraits = TRAITS, start: int = 0) -> LiveJob:
    # Without a detector everything is speech.
    options = Options(model="toy", language=language, vad=False)
    request = Listen(client="c", job="j", options=options, start_sample=start)
    return LiveJob(request, model="toy", traits=traits, started_at_s=0.0)


def feed(job: LiveJob, seconds: float, first: int | None = None) -> tuple[list[Chunk], list[JobEvent]]:
    first = job.session.received if first is None else first
    pcm = np.full(round(seconds * SAMPLE_RATE_HZ), 0.1, "<f4").tobytes()
    told = job.feed(Feed(client="c", job="j", first_sample=first, pcm=pcm))
    chunks, more = job.take_chunks()
    return chunks, told + more


def answer(chunk: Chunk, *words: str, **changes: object) -> StrOutput:
    """Return words of a quarter second each; ids are their numbers."""
    finished = Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=-0.2,
        no_speech_prob=0.0,
        compression_ratio=1.0,
        num_samples=chunk.num_samples,
        token_times=tuple((0.25 * n, 0.25 * (n + 1)) for n in range(len(words))),
        num_steps=2,
        num_drafted=3,
    )
    output = StrOutput(
        key=chunk.key,
        delta="".join(words),
        is_first=True,
        ids=tuple(hash(word) for word in words),
        pieces=tuple(word.encode() for word in words),
        logprobs=(-0.1,) * len(words),
        attended_s=tuple(0.25 * n for n in range(len(words))),
        language="en",
        language_probability=0.9,
        finished=finished,
    )
    return msgspec.structs.replace(output, **changes)


def texts(events: list[JobEvent]) -> list[str]:
    found = []
    for event in events:
        match event:
            case Confirmed(delta=delta):
                found.append(delta)
            case Tail(text=text):
                found.append(f"…{text}")
            case SegmentDone(segment=segment):
                found.append(f"[{segment.text}]")
            case _:
                pass
    return found


def test_hypotheses_become_tail_and_then_confirmed_text() -> None:
    job = live_job()
    (first,), _ = feed(job, 1.0)
    assert (first.kind, first.start_sample, first.num_samples) == (ChunkKind.INTERIM, 0, SAMPLE_RATE_HZ)
    assert texts(job.answered(answer(first, " so", " what"))) == ["… so what"]
    (second,), _ = feed(job, 0.5)
    assert second.draft_ids == (hash(" so"), hash(" what"))
    assert texts(job.answered(answer(second, " so", " what", " now"))) == [" so what", "… now"]
    (third,), _ = feed(job, 0.5)
    assert third.prefix_ids == (hash(" so"), hash(" what"))
    feed(job, 0.2)
    job.session.flush()
    chunks, _ = job.take_chunks()
    assert chunks[0].kind is ChunkKind.CLOSING
    told = job.answered(answer(chunks[0], " then"))
    assert texts(told) == [" then", "[ so what then]", "…"]


def test_text_that_is_not_whole_yet_is_not_shown() -> None:
    job = live_job()
    (chunk,), _ = feed(job, 1.0)
    partial = answer(chunk, " so", finished=None)
    assert job.answered(partial) == []
    assert texts(job.answered(answer(chunk, " so", is_first=True))) == ["… so"]


def test_an_answer_that_begins_anew_replaces_what_came_before() -> None:
    """Its process died halfway; the new one starts from the first token."""
    job = live_job()
    (chunk,), _ = feed(job, 1.0)
    job.answered(answer(chunk, " lost", finished=None))
    job.restart(chunk.key.chunk)
    assert texts(job.answered(answer(chunk, " so"))) == ["… so"]


def test_only_a_closing_decode_may_be_tried_at_other_temperatures() -> None:
    job = live_job()
    (interim,), _ = feed(job, 1.0)
    feed(job, 0.2)
    job.session.flush()
    (closing,), _ = job.take_chunks()
    assert interim.options.temperatures == (0.0,)
    assert closing.options.temperatures == Options().temperatures
    assert interim.options.word_timestamps


def test_a_gap_is_told_and_times_stay_true() -> None:
    job = live_job()
    feed(job, 1.0)
    _, told = feed(job, 0.5, first=3 * SAMPLE_RATE_HZ)
    assert [event for event in told if isinstance(event, Gap)] == [Gap(job="j", start=1.0, end=3.0)]
    assert job.session.received == round(3.5 * SAMPLE_RATE_HZ)
    assert feed(job, 0.5, first=0)[1] == []
    assert job.session.received == round(3.5 * SAMPLE_RATE_HZ)


def test_backlog_is_told_every_quarter_second_of_audio() -> None:
    job = live_job()
    told = [event for _ in range(20) for event in feed(job, 0.1)[1] if isinstance(event, Backlog)]
    assert 6 <= len(told) <= 9
    assert told[-1].received_samples > told[-1].decoded_samples
    assert told[-1].seconds == pytest.approx(
        (told[-1].received_samples - told[-1].decoded_samples) / SAMPLE_RATE_HZ
    )


def test_a_decode_that_fails_ends_its_segment_and_the_session_goes_on() -> None:
    job = live_job()
    (first,), _ = feed(job, 1.0)
    job.answered(answer(first, " so", " what"))
    (second,), _ = feed(job, 0.5)
    told = job.ended(Ended(key=second.key, reason=EndedReason.FAILED))
    assert texts(told) == [" so what", "[ so what]"]
    (third,), _ = feed(job, 1.0)
    assert third.start_sample >= round(1.1 * SAMPLE_RATE_HZ)


def test_the_language_is_told_once_it_is_sure() -> None:
    job = live_job(language=None)
    assert not [event for event in job.opened() if isinstance(event, LanguageDetected)]
    (chunk,), _ = feed(job, 1.5)
    assert chunk.options.language is None
    told = job.answered(answer(chunk, " so"))
    assert [e for e in told if isinstance(e, LanguageDetected)] == [
        LanguageDetected(job="j", language="en", probability=0.9)
    ]
    (chunk,), _ = feed(job, 0.5)
    assert chunk.options.language == "en"


def test_a_model_of_one_language_is_not_asked_for_it() -> None:
    job = live_job(language=None, traits=msgspec.structs.replace(TRAITS, languages=("en",)))
    (chunk,), _ = feed(job, 1.0)
    assert chunk.options.language == "en"


def test_the_ending_counts_audio_and_steps() -> None:
    job = live_job(start=16_000)
    (first,), _ = feed(job, 1.0)
    job.answered(answer(first, " so"))
    job.session.flush()
    job.is_closing = job.is_finish_back = True
    while chunks := job.take_chunks()[0]:
        for chunk in chunks:
            job.answered(answer(chunk, " so"))
    assert job.is_complete
    done = job.done(5.0)[-1]
    assert isinstance(done, JobDone)
    assert (done.duration, done.elapsed) == (1.0, 5.0)
    assert (done.num_steps, done.num_steps_saved) in ((2, 3), (4, 6))


def test_a_stranger_is_ignored() -> None:
    job = live_job()
    (chunk,), _ = feed(job, 1.0)
    stranger = msgspec.structs.replace(answer(chunk, " so"), key=RequestKey("j", 99))
    assert job.answered(stranger) == []
