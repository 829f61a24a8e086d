"""The whole engine around a toy model: whatever goes wrong, each job is told in full and ends once."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.protocol.events import (
    JobCancelled,
    JobDone,
    SegmentDone,
    Tail,
)
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from tests.helpers.bench import Bench
from tests.helpers.toy import expected_text, toy_audio

LOUD = 0.15
"""Only `WORDS[7]` is as loud as this: troubles from here on befall the chunks that hold it."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("toys"))
    yield bench
    bench.close()


def test_the_text_of_a_file_is_what_its_samples_say(bench: Bench) -> None:
    words = (0, 1, None, 2, 3, 4, 5, 6)
    job = bench.transcribe(bench.file("short", *words), bench.model("calm"))
    assert bench.text(job) == expected_text(toy_audio(*words))


def test_text_is_told_while_it_is_generated(bench: Bench, long_file: str, long_text: str) -> None:
    job = bench.transcribe(long_file, bench.model("calm"))
    assert bench.text(job) == long_text
    tails = [event.text for event in bench.listener.of(Tail, job)]
    assert len(tails) > 100
    assert tails[-1] == ""
    assert not any("\ufffd" in tail for tail in tails)


def test_files_share_the_model_and_none_waits_for_another(
    bench: Bench, long_file: str, long_text: str
) -> None:
    model = bench.model("slow", step_s=0.002)
    long_jobs = [bench.transcribe(long_file, model) for _ in range(2)]
    bench.wait_for_tail(*long_jobs)
    short = bench.transcribe(bench.file("quick", 0, 1), model)
    assert bench.text(short) == expected_text(toy_audio(0, 1))
    assert [bench.text(job) for job in long_jobs] == [long_text, long_text]
    endings = [event.job for event in bench.listener.of(JobDone)]
    assert endings.index(short) < min(endings.index(job) for job in long_jobs)


def test_a_retry_replaces_what_was_shown(bench: Bench, long_file: str, long_text: str) -> None:
    job = bench.transcribe(long_file, bench.model("doubting", num_retries=2))
    assert bench.text(job) == long_text
    assert {event.segment.temperature for event in bench.listener.of(SegmentDone, job)} == {0.4}


def test_too_little_memory_makes_it_slower_not_worse(bench: Bench, long_file: str, long_text: str) -> None:
    assert bench.text(bench.transcribe(long_file, bench.model("tight", slots=8, max_rows=1))) == long_text


def test_no_memory_at_all_is_a_failure_that_says_so(bench: Bench) -> None:
    model = bench.model("penniless", max_rows=0)
    assert bench.failure_of(bench.transcribe(bench.file("a", 0), model)) is FailureKind.OUT_OF_MEMORY


def test_a_model_that_cannot_be_loaded_fails_its_jobs(bench: Bench) -> None:
    model = bench.model("broken", is_broken=True)
    assert bench.failure_of(bench.transcribe(bench.file("a", 0), model)) is FailureKind.MODEL_BROKEN


@pytest.mark.parametrize("role", ["scheduler", "detokenizer"])
@pytest.mark.parametrize("num_retries", [0, 1])
def test_a_killed_process_costs_time_and_no_text(
    bench: Bench, long_file: str, long_text: str, role: str, num_retries: int
) -> None:
    model = bench.model(f"mortal{num_retries}", step_s=0.002, num_retries=num_retries)
    job = bench.transcribe(long_file, model)
    bench.wait_for_tail(job)
    bench.kill(role)
    assert bench.text(job) == long_text


def test_a_cancelled_job_is_silent_and_disturbs_nobody(bench: Bench, long_file: str, long_text: str) -> None:
    model = bench.model("slow", step_s=0.002)
    other, job = bench.transcribe(long_file, model), bench.transcribe(long_file, model)
    bench.wait_for_tail(job)
    bench.client.cancel(job)
    assert isinstance(bench.listener.wait_for_ending(job), JobCancelled)
    assert bench.text(other) == long_text
    bench.told_text(job)


def _loud_and_quiet(bench: Bench, model: str) -> tuple[JobId, JobId]:
    loud, quiet = bench.file("loud", 0, 7, 1), bench.file("quiet", 0, 1, 2)
    return bench.transcribe(loud, model), bench.transcribe(quiet, model)


@pytest.mark.parametrize(
    ("trouble", "kind"), [("raise_from", FailureKind.INTERNAL), ("crash_from", FailureKind.POISON)]
)
def test_a_chunk_that_can_never_be_decoded_fails_its_own_job_only(
    bench: Bench, trouble: str, kind: FailureKind
) -> None:
    loud, quiet = _loud_and_quiet(bench, bench.model(trouble, step_s=0.002, **{trouble: LOUD}))
    assert bench.failure_of(loud) is kind
    assert bench.text(quiet) == expected_text(toy_audio(0, 1, 2))


@pytest.mark.parametrize("trouble", ["crash_from", "hang_from"])
def test_a_trouble_that_passes_is_not_noticed(bench: Bench, trouble: str) -> None:
    model = bench.model(f"once_{trouble}", max_troubles=1, trouble_after_ids=4, **{trouble: LOUD})
    loud, quiet = _loud_and_quiet(bench, model)
    assert bench.text(loud) == expected_text(toy_audio(0, 7, 1))
    assert bench.text(quiet) == expected_text(toy_audio(0, 1, 2))
