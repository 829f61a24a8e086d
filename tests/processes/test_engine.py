"""The whole engine with toy models: many programs and files at once, and every process killed in turn."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import msgspec
import pytest

from engine.client.client import EngineClient
from engine.ipc import Outbox
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol import PROTOCOL_VERSION
from engine.protocol.events import (
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    JobStarted,
    Progress,
    SegmentDone,
)
from engine.protocol.failures import FailureKind
from engine.protocol.requests import Hello, JobId, ListModels
from engine.protocol.transcript import Options
from engine.rendezvous import Rendezvous
from tests.helpers.bench import Bench
from tests.helpers.listener import Listener
from tests.helpers.processes import descendants_of, is_running, role_of, wait_for_role, wait_until_gone
from tests.helpers.toy import WORDS, expected_text, toy_audio

ROOT = Path(__file__).parents[2]
SLOW = 0.002
"""Seconds a step takes in a model that is to be caught in the middle of its work."""


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    wait_until_gone([pid])


def _segments(bench: Bench, *jobs: JobId) -> list[SegmentDone]:
    return [event for job in jobs for event in bench.listener.of(SegmentDone, job)]


def _check_times(bench: Bench, *jobs: JobId) -> None:
    end_s = 0.0
    for event in _segments(bench, *jobs):
        assert end_s <= event.segment.start <= event.segment.end
        end_s = event.segment.end


def test_a_story_begins_goes_on_and_ends(bench: Bench) -> None:
    job = bench.transcribe(bench.file("회의 녹음", 0, 1, 2), bench.model("calm"))
    assert bench.text(job) == expected_text(toy_audio(0, 1, 2))
    story = bench.listener.story(job)
    assert isinstance(story[0], JobStarted)
    progress = [event for event in story if isinstance(event, Progress)]
    assert [event.done for event in progress] == sorted(event.done for event in progress)
    assert isinstance(story[-1], JobDone)
    assert story[-1].duration == 1.5
    _check_times(bench, job)


def test_many_files_at_once_are_all_told_in_full(bench: Bench) -> None:
    random = Random(3)
    model = bench.model("calm")
    asked = {}
    for index in range(25):
        words = [random.randrange(len(WORDS)) for _ in range(random.randrange(1, 20))]
        asked[bench.transcribe(bench.file(f"many{index}", *words), model)] = expected_text(toy_audio(*words))
    for job, text in asked.items():
        assert bench.text(job) == text
        _check_times(bench, job)


def test_bad_files_fail_alone_and_by_name(bench: Bench) -> None:
    model = bench.model("calm")
    good = bench.file("good", 1, 2)
    letter = bench.folder / "letter.mp3"
    letter.write_text("Dear Sir or Madam")
    playlist = bench.folder / "radio.m3u8"
    playlist.write_text("#EXTM3U\nhttp://127.0.0.1:9/a.ts\n")
    (bench.folder / "empty.wav").touch()
    wanted = {
        bench.transcribe(str(bench.folder / "gone.wav"), model): FailureKind.NOT_FOUND,
        bench.transcribe(str(letter), model): FailureKind.BAD_MEDIA,
        bench.transcribe(str(playlist), model): FailureKind.REFUSED_MEDIA,
        bench.transcribe(str(bench.folder / "empty.wav"), model): FailureKind.EMPTY_AUDIO,
        bench.transcribe(str(bench.folder), model): FailureKind.BAD_MEDIA,
        bench.transcribe(good, str(bench.folder / "no model")): FailureKind.MODEL_MISSING,
        bench.client.transcribe(good, Options(model=model, language="tlh")): FailureKind.LANGUAGE_UNKNOWN,
    }
    fine = bench.transcribe(good, model)
    told = {job: bench.failure_of(job) for job in wanted}
    assert told == wanted
    for job in wanted:
        ending = bench.listener.endings(job)[0]
        assert isinstance(ending, JobFailed)
        assert ending.failure.subject
        assert ending.failure.subject in ending.failure.message
        assert str(bench.folder) not in ending.failure.message
    assert bench.text(fine) == expected_text(toy_audio(1, 2))


def test_cancelling_at_any_moment_ends_that_job_alone(bench: Bench) -> None:
    model = bench.model("slow", step_s=SLOW / 2)
    file = bench.long_file("long", seed=5, num_words=120)
    whole = bench.text(bench.transcribe(file, model))
    random = Random(11)
    jobs = [bench.transcribe(file, model) for _ in range(12)]
    doomed = [job for job in jobs if random.random() < 0.6]
    for job in doomed:
        _wait_for_more(bench, random.randrange(60), jobs)
        bench.client.cancel(job)
    for job in jobs:
        ending = bench.listener.wait_for_ending(job)
        text = bench.told_text(job)
        assert isinstance(ending, JobDone) or job in doomed
        assert whole.startswith(text)
        assert text == whole or isinstance(ending, JobCancelled)
    assert any(isinstance(bench.listener.endings(job)[0], JobCancelled) for job in doomed)
    assert bench.text(bench.transcribe(file, model)) == whole


def _wait_for_more(bench: Bench, num_events: int, jobs: list[JobId]) -> None:
    """Wait until so many more events were told, or all jobs have ended."""
    wanted = len(bench.listener.events) + num_events
    bench.listener.wait_until(
        lambda events: len(events) >= wanted or all(bench.listener.endings(job) for job in jobs)
    )


def _wait_for_more_text(bench: Bench, jobs: list[JobId]) -> None:
    num_told = len(_segments(bench, *jobs))
    bench.listener.wait_until(lambda _: len(_segments(bench, *jobs)) > num_told)


def test_jobs_cancelled_at_once_never_keep_the_model_busy(bench: Bench) -> None:
    model = bench.model("slow", step_s=SLOW)
    file = bench.long_file("long", seed=5)
    for _ in range(15):
        job = bench.transcribe(file, model)
        bench.client.cancel(job)
        assert isinstance(bench.listener.wait_for_ending(job), JobCancelled)
        assert len(bench.listener.endings(job)) == 1
    assert bench.text(bench.transcribe(bench.file("short", 3), model)) == expected_text(toy_audio(3))


def test_workers_killed_again_and_again_cost_no_text(bench: Bench) -> None:
    """Each kill blames the chunks that ran; the killer waits for new text, so none is alone in two deaths."""
    model = bench.model("slow", step_s=SLOW)
    files = [bench.long_file(f"long{index}", seed=index, num_words=100) for index in range(4)]
    whole = [bench.text(bench.transcribe(file, model)) for file in files]
    jobs = [bench.transcribe(file, model) for file in files]
    for role in ("detokenizer", "scheduler", "detokenizer"):
        _wait_for_more_text(bench, jobs)
        bench.kill(role)
    assert [bench.text(job) for job in jobs] == whole
    _check_times(bench, jobs[0])


def test_a_detokenizer_that_cannot_live_fails_the_jobs(tmp_path: Path) -> None:
    bench = Bench(tmp_path, loops={"detokenizer": "tests.helpers.fake_worker:die_at_once"})
    job = bench.transcribe(bench.file("a", 0), bench.model("calm"))
    assert bench.failure_of(job) is FailureKind.WORKER_DIED
    bench.close()


def test_after_the_engines_death_a_job_resumes_behind_its_last_segment(bench: Bench) -> None:
    model = bench.model("slow", step_s=SLOW)
    file = bench.long_file("long", seed=9)
    whole = bench.text(bench.transcribe(file, model))
    job = bench.transcribe(file, model)
    other = bench.transcribe(file, model)
    bench.listener.wait_until(lambda _: len(_segments(bench, job)) >= 3)
    processes = [bench.engine, *descendants_of(bench.engine)]
    assert {role_of(pid) for pid in processes} == {"manager", "scheduler", "detokenizer"}
    _kill(bench.engine)
    assert bench.failure_of(job) is FailureKind.ENGINE_DIED
    assert bench.failure_of(other) is FailureKind.ENGINE_DIED
    bench.listener.wait_for(EngineLost)
    wait_until_gone(processes)
    stored = _segments(bench, job)
    bench.restart()
    resume_at = round(stored[-1].segment.end * SAMPLE_RATE_HZ)
    options = Options(model=model, vad=False)
    rest = bench.client.transcribe(file, options, resume_at_sample=resume_at)
    bench.text(rest)
    assert "".join(event.segment.text for event in [*stored, *_segments(bench, rest)]) == whole
    _check_times(bench, job, rest)


def test_a_program_that_does_not_listen_holds_up_nobody_and_misses_nothing(bench: Bench) -> None:
    """Its events wait, tails and progress merged, and its audio is not pulled; others go on as ever."""
    model, file = bench.model("calm"), bench.long_file("long", seed=4, num_words=900)
    whole = bench.text(bench.transcribe(file, model))
    may_listen = threading.Event()
    listener = Listener()

    def on_event(event: Event) -> None:
        may_listen.wait(60.0)
        listener.on_event(event)

    deaf = EngineClient(bench.config, on_event, name="deaf")
    deaf.start()
    job = deaf.transcribe(file, Options(model=model, vad=False))
    for _ in range(3):
        assert bench.text(bench.transcribe(bench.file("short", 5), model)) == expected_text(toy_audio(5))
    assert bench.text(bench.transcribe(file, model)) == whole
    may_listen.set()
    assert isinstance(listener.wait_for_ending(job), JobDone)
    assert "".join(event.segment.text for event in listener.of(SegmentDone, job)) == whole
    deaf.close()


def test_a_greeting_that_cannot_be_answered_does_no_harm(bench: Bench) -> None:
    note = Rendezvous(Path(bench.config.runtime_folder)).read()
    assert note is not None
    stranger = Outbox(note.address)
    for version in (PROTOCOL_VERSION, PROTOCOL_VERSION + 1):
        stranger.put(Hello(client="stranger", address="nonsense", protocol_version=version, pid=1))
    stranger.put(ListModels(client="stranger", job="never begun"))
    assert bench.text(bench.transcribe(bench.file("a", 1), bench.model("calm"))) == expected_text(
        toy_audio(1)
    )
    stranger.close()


def test_an_owner_that_leaves_does_not_cost_others_their_job(tmp_path: Path) -> None:
    owner, other = Bench(tmp_path), Bench(tmp_path)
    assert owner.engine == other.engine
    model = other.model("slow", step_s=SLOW)
    file = other.long_file("long", seed=2)
    own, job = owner.transcribe(file, model), other.transcribe(file, model)
    other.wait_for_tail(job)
    processes = [owner.engine, *descendants_of(owner.engine)]
    owner.client.close()
    assert isinstance(owner.listener.endings(own)[0], JobCancelled)
    assert is_running(other.engine)
    assert other.text(job)
    assert not other.listener.of(EngineLost)
    wait_until_gone(processes)
    other.client.close()


def _start_program(bench: Bench, model: str, *files: str) -> subprocess.Popen[bytes]:
    config = bench.folder / "config.json"
    config.write_bytes(msgspec.json.encode(bench.config))
    environment = {
        **os.environ,
        "JAMAK_TEST_EVENTS": str(bench.folder / "events"),
        "JAMAK_TEST_MODEL": model,
    }
    command = [sys.executable, "-m", "tests.helpers.program", str(config), *files]
    return subprocess.Popen(command, cwd=ROOT, env=environment)


def _wait_for_word(bench: Bench, word: str, timeout_s: float = 40.0) -> str:
    path = bench.folder / "events"
    end_s = time.monotonic() + timeout_s
    while not path.exists() or word not in path.read_text(encoding="utf-8"):
        assert time.monotonic() < end_s, f"never told of {word}"
        time.sleep(0.05)
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM])
def test_killing_the_program_leaves_no_process(tmp_path: Path, way: signal.Signals) -> None:
    """The model is in the middle of a step that takes long: only its lifeline can end it at once."""
    maker = Bench(tmp_path)
    model, file = maker.model("very slow", step_s=0.5), maker.long_file("long", seed=1)
    maker.close()
    program = _start_program(maker, model, file)
    _wait_for_word(maker, "Tail")
    processes = descendants_of(program.pid)
    assert {role_of(pid) for pid in processes} == {"manager", "scheduler", "detokenizer"}
    program.send_signal(way)
    program.wait(10.0)
    wait_until_gone(processes, timeout_s=6.0)


@pytest.mark.slow
def test_a_program_that_was_asleep_finds_its_endings(bench: Bench) -> None:
    """Ten seconds of silence are a client's death; one that wakes all the same must not wait for ever."""
    model, file = bench.model("very slow", step_s=0.2), bench.long_file("long", seed=1)
    program = _start_program(bench, model, file)
    _wait_for_word(bench, "JobStarted")
    program.send_signal(signal.SIGSTOP)
    job = bench.transcribe(bench.file("short", 0), bench.model("calm"))
    bench.listener.wait_for(JobStarted, job)
    # The other model has no room until the sleeper's job was cancelled.
    assert bench.text(job) == expected_text(toy_audio(0))
    assert wait_for_role(bench.engine, "scheduler")
    program.send_signal(signal.SIGCONT)
    told = _wait_for_word(bench, "closed")
    assert told.count("JobCancelled") == 1
    assert program.wait(10.0) == 0
