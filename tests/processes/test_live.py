"""Live sessions through the whole engine, around a toy model: nothing heard is lost, nothing told changes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import numpy as np
import pytest

from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.events import (
    Backlog,
    Confirmed,
    EngineLost,
    Gap,
    JobCancelled,
    JobDone,
    JobFailed,
    JobStarted,
    LanguageDetected,
    SegmentDone,
    Tail,
    Warned,
)
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options
from tests.helpers.bench import Bench
from tests.helpers.toy import WORD_SAMPLES, expected_text, toy_audio

BLOCK = WORD_SAMPLES // 2
LOUD = 0.15
"""Only `WORDS[7]` is as loud as this."""
TALK = (0, 1, 2, 3, 4, 5, 6, 0, 2, 4)


@pytest.fixture
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("live"))
    yield bench
    bench.close()


def listen(bench: Bench, model: str, start_sample: int = 0) -> JobId:
    # The words are tones: what hears speech would hear none.
    options = Options(model=model, language="en", vad=False)
    return bench.client.listen(options, start_sample)


def feed(bench: Bench, job: JobId, samples: np.ndarray, first: int = 0) -> None:
    """Feed in blocks, again and again where the engine is not ready for more."""
    end_s = time.monotonic() + 30.0
    for begin in range(0, len(samples), BLOCK):
        block = samples[begin : begin + BLOCK].astype("<f4").tobytes()
        while not bench.client.feed(job, first + begin, block):
            assert time.monotonic() < end_s, "the engine took nothing"
            time.sleep(0.01)


def wait_for_text(bench: Bench, job: JobId, text: str) -> None:
    """Wait until `text` is on the screen, confirmed or not."""

    def is_shown(_: object) -> bool:
        told = "".join(event.delta for event in bench.listener.of(Confirmed, job))
        tails = bench.listener.of(Tail, job)
        return text in told + (tails[-1].text if tails else "")

    bench.listener.wait_until(is_shown)


def test_what_is_said_is_told_while_it_is_said_and_whole_at_the_end(bench: Bench) -> None:
    job = listen(bench, bench.model("calm"))
    # Without the smiley, which is no word of its own.
    talk = [word for word in TALK if word != 3]
    samples = toy_audio(*talk)
    half = 5 * WORD_SAMPLES
    feed(bench, job, samples[:half])
    wait_for_text(bench, job, expected_text(samples[:half]))
    feed(bench, job, samples[half:], first=half)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)
    story = bench.listener.story(job)
    assert isinstance(story[0], JobStarted)
    assert story[0].media.duration is None
    assert bench.listener.of(LanguageDetected, job) == [
        LanguageDetected(job=job, language="en", probability=1.0)
    ]
    segments = [event.segment for event in bench.listener.of(SegmentDone, job)]
    words = [word for segment in segments for word in segment.words]
    assert [word.end - word.start for word in words] == pytest.approx([0.5] * len(talk), abs=0.02)
    assert [word.start for word in words] == pytest.approx([0.5 * n for n in range(len(talk))], abs=0.02)
    assert bench.listener.of(JobDone, job)[0].duration == len(talk) * 0.5


def test_audio_that_was_queued_when_it_stopped_is_decoded(bench: Bench) -> None:
    """Fed at once and closed at once, before the model is even there. (buzz PR#1560, WhisperLiveKit#65)"""
    job = listen(bench, bench.model("loads slowly", load_s=1.0))
    samples = toy_audio(*TALK, 3)[:-BLOCK]
    feed(bench, job, samples)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)


def test_a_pause_confirms_all_and_the_session_goes_on(bench: Bench) -> None:
    job = listen(bench, bench.model("calm"))
    samples = toy_audio(0, 1, 2, 3)
    feed(bench, job, samples)
    bench.client.flush(job)
    bench.listener.wait_until(
        lambda _: "".join(e.delta for e in bench.listener.of(Confirmed, job)) == expected_text(samples)
    )
    assert not bench.listener.endings(job)
    more = toy_audio(4, 5)
    feed(bench, job, more, first=len(samples))
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples) + expected_text(more)


def test_audio_fed_twice_counts_once_and_missing_audio_is_silence(bench: Bench) -> None:
    job = listen(bench, bench.model("calm"))
    samples = toy_audio(0, 1, 2, None, None, 4, 5)
    feed(bench, job, samples[: 3 * WORD_SAMPLES])
    feed(bench, job, samples[WORD_SAMPLES : 3 * WORD_SAMPLES], first=WORD_SAMPLES)
    feed(bench, job, samples[5 * WORD_SAMPLES :], first=5 * WORD_SAMPLES)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)
    assert bench.listener.of(Gap, job) == [Gap(job=job, start=1.5, end=2.5)]
    words = [word for e in bench.listener.of(SegmentDone, job) for word in e.segment.words]
    assert words[3].start == pytest.approx(2.5, abs=0.02)


def test_everything_fed_is_acknowledged_in_the_end(bench: Bench) -> None:
    job = listen(bench, bench.model("calm"))
    samples = toy_audio(*TALK)
    feed(bench, job, samples)
    bench.client.close_stream(job)
    bench.text(job)
    backlogs = bench.listener.of(Backlog, job)
    received = [backlog.received_samples for backlog in backlogs]
    assert received == sorted(received)
    last = backlogs[-1]
    assert (last.received_samples, last.decoded_samples, last.seconds) == (len(samples), len(samples), 0.0)


def test_a_session_that_is_behind_takes_no_more_audio(bench: Bench) -> None:
    job = listen(bench, bench.model("very slow", load_s=2.0))
    bench.listener.wait_for(JobStarted, job)
    minute = np.zeros(61 * SAMPLE_RATE_HZ, "<f4").tobytes()
    assert not bench.client.feed(job, 0, minute)
    bench.client.cancel(job)
    assert bench.listener.wait_for_ending(job) == JobCancelled(job=job)
    assert not bench.client.feed(job, 0, bytes(400))


def test_a_cancelled_session_tells_nothing_more(bench: Bench) -> None:
    job = listen(bench, bench.model("slow", step_s=0.01))
    feed(bench, job, toy_audio(*TALK))
    bench.wait_for_tail(job)
    bench.client.cancel(job)
    bench.listener.wait_for_ending(job)
    assert isinstance(bench.listener.story(job)[-1], JobCancelled)
    assert len(bench.listener.endings(job)) == 1


@pytest.mark.parametrize("role", ["scheduler", "detokenizer"])
def test_a_loop_that_dies_costs_no_word(bench: Bench, role: str) -> None:
    job = listen(bench, bench.model("slow", step_s=0.005))
    samples = toy_audio(*TALK)
    feed(bench, job, samples)
    bench.wait_for_tail(job)
    bench.kill(role)
    more = toy_audio(1, 3, 5)
    feed(bench, job, more, first=len(samples))
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(np.concatenate([samples, more]))


def test_after_the_engine_died_a_new_session_goes_on_without_hole_or_double(bench: Bench) -> None:
    model = bench.model("calm")
    job = listen(bench, model)
    samples = toy_audio(*TALK, *TALK)
    feed(bench, job, samples[: len(samples) // 2])
    bench.client.flush(job)
    told = bench.listener.wait_for(SegmentDone, job).segment
    os.kill(bench.engine, signal.SIGKILL)
    bench.listener.wait_for(EngineLost)
    assert isinstance(bench.listener.wait_for_ending(job), JobFailed)
    kept = [event.segment for event in bench.listener.of(SegmentDone, job)]
    boundary = round(kept[-1].end * SAMPLE_RATE_HZ)
    assert kept[0] == told
    bench.restart()
    again = listen(bench, model, start_sample=boundary)
    feed(bench, again, samples[boundary:], first=boundary)
    bench.client.close_stream(again)
    text = "".join(segment.text for segment in kept) + bench.text(again)
    assert text == expected_text(samples)
    starts = [event.segment.start for event in bench.listener.of(SegmentDone, again)]
    assert starts[0] >= kept[-1].end - 0.02


def test_audio_that_kills_its_process_is_passed_over_and_the_session_goes_on(bench: Bench) -> None:
    job = listen(bench, bench.model("fragile", crash_from=LOUD))
    bad = toy_audio(7, 7)
    feed(bench, job, bad)
    warned = bench.listener.wait_for(Warned, job)
    assert warned.failure.kind is FailureKind.POISON
    good = toy_audio(1, 2, 3)
    feed(bench, job, good, first=len(bad))
    bench.client.close_stream(job)
    assert expected_text(good).endswith(bench.text(job))
    assert bench.told_text(job)


def test_files_and_a_session_share_the_model_and_the_session_comes_first(bench: Bench) -> None:
    model = bench.model("busy", step_s=0.002)
    long_file = bench.long_file("long", seed=3)
    files = [bench.transcribe(long_file, model) for _ in range(2)]
    bench.wait_for_tail(*files)
    job = listen(bench, model)
    samples = toy_audio(*TALK)
    feed(bench, job, samples)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)
    assert not any(bench.listener.endings(file) for file in files)
    assert len({bench.text(file) for file in files}) == 1


def test_a_session_with_a_model_of_its_own_does_not_wait_for_files_to_end(bench: Bench) -> None:
    files = bench.transcribe(bench.long_file("long", seed=4), bench.model("for files", step_s=0.005))
    bench.wait_for_tail(files)
    job = listen(bench, bench.model("for captions"))
    samples = toy_audio(*TALK)
    feed(bench, job, samples)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)
    assert not bench.listener.endings(files)
    assert isinstance(bench.listener.wait_for_ending(files), JobDone)


def test_a_session_nobody_spoke_in_ends_at_once(bench: Bench) -> None:
    job = listen(bench, bench.model("unloaded", load_s=20.0))
    bench.client.close_stream(job)
    assert bench.text(job) == ""


def test_the_language_can_be_changed_and_a_wrong_one_is_refused(bench: Bench) -> None:
    job = listen(bench, bench.model("calm"))
    bench.client.set_options(job, language="ko")
    bench.client.set_options(job, language="tlh")
    warned = bench.listener.wait_for(Warned, job)
    assert warned.failure.kind is FailureKind.LANGUAGE_UNKNOWN
    bench.client.close_stream(job)
    bench.text(job)
    assert [event.language for event in bench.listener.of(LanguageDetected, job)] == ["en", "ko"]


def test_a_session_with_an_unknown_model_fails_with_its_name(bench: Bench) -> None:
    assert bench.failure_of(listen(bench, "/nowhere/model")) is FailureKind.MODEL_MISSING


def test_broken_samples_do_not_reach_the_network(bench: Bench) -> None:
    job = listen(bench, bench.model("calm"))
    samples = toy_audio(*TALK)
    samples[100], samples[200], samples[300] = np.nan, np.inf, -np.inf
    feed(bench, job, samples)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(toy_audio(*TALK))
