"""The client against a fake manager in a real process: stories, deaths, two programs, bad input."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.ipc import Outbox
from engine.protocol.events import (
    Confirmed,
    Diagnosis,
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    JobStarted,
    Refused,
    SegmentDone,
    Welcome,
)
from engine.protocol.failures import FailureKind
from engine.protocol.transcript import Options
from engine.rendezvous import EngineNote, Rendezvous
from tests.helpers.fake_manager import NUM_FLOOD
from tests.helpers.listener import Listener
from tests.helpers.processes import is_running, wait_until_gone

OPTIONS = Options(model="fake")


@pytest.fixture
def config(tmp_path: Path) -> EngineConfig:
    return EngineConfig(
        models_folder="",
        cache_folder="",
        log_folder=str(tmp_path / "logs"),
        runtime_folder=str(tmp_path / "run"),
        loops={"manager": "tests.helpers.fake_manager:run"},
    )


class Program(Listener):
    """A program that uses the engine: a client and all that it was told."""

    def __init__(self, config: EngineConfig, name: str = "test") -> None:
        super().__init__()
        self.client = EngineClient(config, self.on_event, name=name)

    def start(self) -> Program:
        self.client.start()
        return self

    def welcome(self) -> int:
        return int(self.wait_for(Welcome).engine_pid)


@pytest.fixture
def open_program(config: EngineConfig) -> Iterator[Callable[..., Program]]:
    """Makes programs and closes them in the end, last first; no engine may be left then."""
    programs: list[Program] = []

    def make(config: EngineConfig = config, name: str = "test") -> Program:
        programs.append(Program(config, name))
        return programs[-1]

    yield make
    for program in reversed(programs):
        program.client.close()
    wait_until_gone([event.engine_pid for program in programs for event in program.of(Welcome)])


def test_a_job_tells_its_story_in_order(open_program: Callable[..., Program]) -> None:
    program = open_program().start()
    job = program.client.transcribe("talk.wav", OPTIONS)
    program.wait_for_ending(job)
    kinds = [type(event) for event in program.story(job)]
    assert kinds == [JobStarted, Confirmed, SegmentDone, JobDone]
    assert isinstance(program.events[0], Welcome)


def test_requests_made_before_the_start_are_kept(open_program: Callable[..., Program]) -> None:
    program = open_program()
    jobs = [program.client.transcribe(f"talk {index}.wav", OPTIONS) for index in range(5)]
    program.start()
    assert all(isinstance(program.wait_for_ending(job), JobDone) for job in jobs)


def test_a_cancelled_job_ends_once(open_program: Callable[..., Program]) -> None:
    program = open_program().start()
    job = program.client.transcribe("wait.wav", OPTIONS)
    program.wait_for(JobStarted, job)
    program.client.cancel(job)
    program.client.cancel(job)
    assert program.wait_for_ending(job) == JobCancelled(job=job)
    program.client.cancel(job)
    program.wait_for_ending(program.client.transcribe("talk.wav", OPTIONS))
    assert len(program.endings(job)) == 1


def test_a_job_that_was_never_sent_can_be_cancelled(open_program: Callable[..., Program]) -> None:
    program = open_program()
    job = program.client.transcribe("talk.wav", OPTIONS)
    program.client.cancel(job)
    program.start()
    assert program.wait_for_ending(job) == JobCancelled(job=job)
    program.wait_for_ending(program.client.transcribe("talk.wav", OPTIONS))
    assert program.story(job) == [JobCancelled(job=job)]


def test_nothing_follows_an_ending(open_program: Callable[..., Program]) -> None:
    program = open_program().start()
    job = program.client.transcribe("twice.wav", OPTIONS)
    program.wait_for_ending(job)
    program.wait_for_ending(program.client.transcribe("talk.wav", OPTIONS))
    assert [type(event) for event in program.story(job)] == [JobStarted, JobDone]


@pytest.mark.parametrize("word", ["die", "raise"])
def test_when_the_engine_dies_each_open_job_fails_once_and_then_it_is_told(
    open_program: Callable[..., Program], word: str
) -> None:
    program = open_program().start()
    engine_pid = program.welcome()
    waiting = [program.client.transcribe(f"/secret/wait {index}.wav", OPTIONS) for index in range(3)]
    for job in waiting:
        program.wait_for(JobStarted, job)
    done = program.client.transcribe("talk.wav", OPTIONS)
    program.wait_for_ending(done)
    killer = program.client.transcribe(f"{word}.wav", OPTIONS)
    lost = program.wait_for(EngineLost)
    wait_until_gone([engine_pid])
    assert lost.failure.kind == FailureKind.ENGINE_DIED
    for index, job in enumerate(waiting):
        (ending,) = program.endings(job)
        assert isinstance(ending, JobFailed)
        assert ending.failure.kind == FailureKind.ENGINE_DIED
        assert f"wait {index}.wav" in ending.failure.message
        assert "secret" not in ending.failure.message
    assert isinstance(program.endings(killer)[0], JobFailed)
    assert [type(event) for event in program.endings(done)] == [JobDone]
    assert program.events.index(lost) == len(program.events) - 1
    if word == "raise":
        assert "the fake was told to raise" in lost.failure.detail


def test_after_a_restart_new_requests_are_served(open_program: Callable[..., Program]) -> None:
    program = open_program().start()
    first_pid = program.welcome()
    os.kill(first_pid, signal.SIGKILL)
    program.wait_for(EngineLost)
    kept = program.client.transcribe("talk.wav", OPTIONS)
    program.client.restart()
    assert isinstance(program.wait_for_ending(kept), JobDone)
    first, second = program.of(Welcome)
    assert first.engine_pid != second.engine_pid


def test_a_handler_may_restart_and_ask_again(config: EngineConfig) -> None:
    """What the window does: it asks again for the same file while it is told of the death."""
    listener = Listener()
    asked: list[str] = []

    def on_event(event: Event) -> None:
        listener.on_event(event)
        if isinstance(event, JobFailed):
            asked.append(client.transcribe("talk.wav", OPTIONS))
        if isinstance(event, EngineLost):
            client.restart()

    client = EngineClient(config, on_event)
    client.start()
    job = client.transcribe("wait.wav", OPTIONS)
    listener.wait_for(JobStarted, job)
    os.kill(listener.of(Welcome)[0].engine_pid, signal.SIGKILL)
    listener.wait_until(lambda events: bool(listener.of(JobDone)))
    assert [event.job for event in listener.of(JobDone)] == asked
    client.close()


def test_a_handler_that_fails_costs_no_other_event(config: EngineConfig) -> None:
    listener = Listener()

    def on_event(event: Event) -> None:
        listener.on_event(event)
        if isinstance(event, JobStarted):
            raise ValueError("a mistake of the handler")

    client = EngineClient(config, on_event)
    client.start()
    assert isinstance(listener.wait_for_ending(client.transcribe("talk.wav", OPTIONS)), JobDone)
    client.close()


def test_a_handler_may_close(config: EngineConfig) -> None:
    listener = Listener()

    def on_event(event: Event) -> None:
        if isinstance(event, JobDone):
            client.close()
        listener.on_event(event)

    client = EngineClient(config, on_event)
    client.start()
    listener.wait_for_ending(client.transcribe("talk.wav", OPTIONS))
    client.close()
    wait_until_gone([event.engine_pid for event in listener.of(Welcome)])


def test_closing_ends_open_jobs_and_the_engine(open_program: Callable[..., Program]) -> None:
    program = open_program().start()
    engine_pid = program.welcome()
    job = program.client.transcribe("wait.wav", OPTIONS)
    program.wait_for(JobStarted, job)
    closers = [threading.Thread(target=program.client.close) for _ in range(4)]
    for closer in closers:
        closer.start()
    for closer in closers:
        closer.join(20.0)
    assert program.endings(job) == [JobCancelled(job=job)]
    assert not program.of(EngineLost)
    assert not is_running(engine_pid)


def test_closing_a_client_that_was_never_started_is_harmless(config: EngineConfig) -> None:
    client = EngineClient(config, lambda event: None)
    client.close()
    client.close()


def test_closing_at_once_leaves_no_engine(config: EngineConfig, tmp_path: Path) -> None:
    client = EngineClient(config, lambda event: None)
    client.start()
    client.close()
    assert Rendezvous(tmp_path / "run").living.take_within(5.0)


def test_a_second_program_attaches_to_the_running_engine(open_program: Callable[..., Program]) -> None:
    first, second = open_program(name="gui").start(), None
    first_pid = first.welcome()
    second = open_program(name="cli").start()
    assert second.welcome() == first_pid
    job = second.client.transcribe("talk.wav", OPTIONS)
    assert isinstance(second.wait_for_ending(job), JobDone)
    assert first.story(job) == []
    second.client.close()
    assert is_running(first_pid)
    assert isinstance(first.wait_for_ending(first.client.transcribe("talk.wav", OPTIONS)), JobDone)


def test_programs_that_start_at_the_same_moment_share_one_engine(
    open_program: Callable[..., Program],
) -> None:
    programs = [open_program() for _ in range(6)]
    for program in programs:
        program.start()
    assert len({program.welcome() for program in programs}) == 1


def test_an_engine_stays_for_others_when_its_owner_leaves(open_program: Callable[..., Program]) -> None:
    owner = open_program(name="gui").start()
    engine_pid = owner.welcome()
    other = open_program(name="cli").start()
    other.welcome()
    job = other.client.transcribe("wait.wav", OPTIONS)
    other.wait_for(JobStarted, job)
    owner.client.close()
    assert is_running(engine_pid)
    assert other.endings(job) == []
    other.client.cancel(job)
    assert isinstance(other.wait_for_ending(job), JobCancelled)
    wait_until_gone([engine_pid])
    again = other.client.transcribe("talk.wav", OPTIONS)
    assert isinstance(other.wait_for_ending(again), JobDone)
    assert not other.of(EngineLost)


def test_every_attached_program_is_told_of_a_death(open_program: Callable[..., Program]) -> None:
    owner = open_program(name="gui").start()
    engine_pid = owner.welcome()
    other = open_program(name="cli").start()
    job = other.client.transcribe("wait.wav", OPTIONS)
    other.wait_for(JobStarted, job)
    os.kill(engine_pid, signal.SIGKILL)
    owner.wait_for(EngineLost)
    assert isinstance(other.wait_for_ending(job), JobFailed)
    other.wait_for(EngineLost)
    owner.client.restart()
    other.client.restart()
    jobs = [program.client.transcribe("talk.wav", OPTIONS) for program in (owner, other)]
    assert isinstance(owner.wait_for_ending(jobs[0]), JobDone)
    assert isinstance(other.wait_for_ending(jobs[1]), JobDone)


def test_the_note_of_a_dead_engine_is_recognised(
    open_program: Callable[..., Program], config: EngineConfig
) -> None:
    meeting = Rendezvous(Path(config.runtime_folder))
    # The pid is alive (it is ours), the address leads nowhere: only the lock tells the truth.
    meeting.publish(EngineNote(pid=os.getpid(), address="ipc:///nowhere", owner="gone"))
    program = open_program().start()
    assert program.welcome() != os.getpid()
    assert isinstance(program.wait_for_ending(program.client.transcribe("talk.wav", OPTIONS)), JobDone)


def test_an_engine_that_cannot_start_fails_the_jobs_with_its_last_words(
    open_program: Callable[..., Program], config: EngineConfig
) -> None:
    broken = msgspec.structs.replace(config, loops={"manager": "tests.helpers.no_such_module:run"})
    program = open_program(broken)
    job = program.client.transcribe("talk.wav", OPTIONS)
    program.start()
    lost = program.wait_for(EngineLost)
    assert isinstance(program.endings(job)[0], JobFailed)
    assert "no_such_module" in lost.failure.detail


def test_a_runtime_folder_that_cannot_be_made_is_a_failure_and_no_hang(
    open_program: Callable[..., Program], config: EngineConfig, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    program = open_program(msgspec.structs.replace(config, runtime_folder=str(tmp_path / "file" / "run")))
    job = program.client.transcribe("talk.wav", OPTIONS)
    program.start()
    program.wait_for(EngineLost)
    assert isinstance(program.endings(job)[0], JobFailed)


def test_a_refused_client_fails_its_jobs_with_the_reason(
    open_program: Callable[..., Program], config: EngineConfig
) -> None:
    program = open_program(msgspec.structs.replace(config, device="refuse"))
    job = program.client.transcribe("talk.wav", OPTIONS)
    program.start()
    refused = program.wait_for(Refused)
    (ending,) = program.endings(job)
    assert isinstance(ending, JobFailed)
    assert ending.failure == refused.failure
    assert ending.failure.kind == FailureKind.PROTOCOL_MISMATCH


def test_messages_that_cannot_be_read_hurt_neither_side(
    open_program: Callable[..., Program], config: EngineConfig
) -> None:
    program = open_program().start()
    program.welcome()
    note = Rendezvous(Path(config.runtime_folder)).read()
    assert note is not None
    to_engine = Outbox(note.address)
    conversation = program.client._conversation
    assert conversation is not None
    to_client = Outbox(conversation._inbox.address)
    for junk in (b"", b"\xc1", b"junk", msgspec.msgpack.encode({"type": "Hello"})):
        to_engine._socket.send(junk)
        to_client._socket.send(junk)
    job = program.client.transcribe("talk.wav", OPTIONS)
    assert isinstance(program.wait_for_ending(job), JobDone)
    to_engine.close()
    to_client.close()


def test_a_handler_that_takes_its_time_loses_nothing_and_blocks_nobody(
    open_program: Callable[..., Program], config: EngineConfig
) -> None:
    may_go_on = threading.Event()
    listener = Listener()

    def on_event(event: Event) -> None:
        if isinstance(event, JobStarted):
            may_go_on.wait(60.0)
        listener.on_event(event)

    slow = EngineClient(config, on_event, name="slow")
    slow.start()
    flood = slow.transcribe("flood.wav", OPTIONS)
    quick = open_program(name="quick").start()
    assert isinstance(quick.wait_for_ending(quick.client.transcribe("talk.wav", OPTIONS)), JobDone)
    assert listener.story(flood) == []
    may_go_on.set()
    assert isinstance(listener.wait_for_ending(flood), JobDone)
    deltas = [event.delta for event in listener.of(Confirmed, flood)]
    assert deltas == [f" {n}" for n in range(NUM_FLOOD)]
    quick.client.close()
    slow.close()


def test_a_client_stays_alive_while_its_handler_is_busy(
    open_program: Callable[..., Program], config: EngineConfig
) -> None:
    may_go_on = threading.Event()
    listener = Listener()

    def on_event(event: Event) -> None:
        listener.on_event(event)
        if isinstance(event, JobStarted):
            may_go_on.wait(60.0)

    busy = EngineClient(config, on_event, name="busy")
    busy.start()
    job = busy.transcribe("wait.wav", OPTIONS)
    listener.wait_for(JobStarted, job)
    other = open_program(name="other").start()

    def num_alive() -> int:
        asked = other.client.diagnose()
        return int(dict(other.wait_for(Diagnosis, asked).facts).get(busy._client, "0"))

    before = num_alive()
    while num_alive() == before:
        threading.Event().wait(0.1)
    may_go_on.set()
    other.client.close()
    busy.close()


def test_an_engine_reads_nothing_from_a_file_of_its_parent(open_program: Callable[..., Program]) -> None:
    program = open_program().start()
    diagnosis = program.wait_for(Diagnosis, program.client.diagnose())
    assert dict(diagnosis.facts)["stdin"] == os.devnull


def test_a_port_with_a_key_serves_where_there_are_no_socket_files(
    open_program: Callable[..., Program], monkeypatch: pytest.MonkeyPatch, config: EngineConfig
) -> None:
    monkeypatch.setenv("JAMAK_FORCE_TCP", "1")
    first, second = open_program(name="gui").start(), open_program(name="cli").start()
    for program in (first, second):
        assert isinstance(program.wait_for_ending(program.client.transcribe("talk.wav", OPTIONS)), JobDone)
    assert not list(Path(config.runtime_folder).glob("*.sock"))
