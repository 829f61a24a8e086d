"""The way to the engine: every job ends for its reader, and an engine that is lost is started again."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable

from engine.config import EngineConfig
from engine.protocol.events import (
    Confirmed,
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    Tail,
    Welcome,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options
from engine.server.bridge import Bridge

CONFIG = EngineConfig(models_folder="", cache_folder="", log_folder="", runtime_folder="")
DIED = failure(FailureKind.ENGINE_DIED, "file")


class FakeClient:
    """Remembers what was asked; the test tells the story, from whatever thread it likes."""

    def __init__(self, config: EngineConfig, tell: Callable[[Event], None], *, name: str = "gui") -> None:
        self.tell = tell
        self.asked: list[str] = []
        self.num_restarts = 0
        self._ids = itertools.count(1)

    def start(self) -> None:
        self.tell(Welcome(engine_pid=1, protocol_version=1))

    def close(self) -> None: ...

    def restart(self) -> None:
        self.num_restarts += 1
        self.tell(Welcome(engine_pid=2, protocol_version=1))

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        return f"job-{next(self._ids)}"

    def cancel(self, job: JobId) -> None:
        self.asked.append(f"cancel {job}")


def run(story: Callable[[Bridge, FakeClient], object]) -> FakeClient:
    """Play a coroutine of a story over an open bridge."""

    async def play() -> FakeClient:
        bridge = Bridge(CONFIG, FakeClient)  # type: ignore[arg-type]
        bridge.open()
        client = bridge.client
        assert isinstance(client, FakeClient)
        await asyncio.sleep(0)
        await story(bridge, client)  # type: ignore[misc]
        await bridge.close()
        return client

    return asyncio.run(play())


def test_a_job_is_told_in_order_by_another_thread_and_ends() -> None:
    async def story(bridge: Bridge, client: FakeClient) -> None:
        with bridge.transcribe("a.wav", Options()) as job:
            told: list[Event] = [
                Tail(job=job.id, text="a"),
                Confirmed(job=job.id, delta="b"),
                JobDone(job=job.id),
            ]
            await asyncio.to_thread(lambda: [client.tell(event) for event in told])
            assert [event async for event in job] == told
            assert job.failure is None
        assert bridge.num_jobs == 0
        assert client.asked == [], "what has ended is not cancelled"

    run(story)


def test_leaving_a_job_cancels_it_and_nothing_more_is_heard() -> None:
    async def story(bridge: Bridge, client: FakeClient) -> None:
        with bridge.transcribe("a.wav", Options()) as job:
            pass
        client.tell(JobCancelled(job=job.id))
        await asyncio.sleep(0)
        assert bridge.num_jobs == 0
        assert client.asked == [f"cancel {job.id}"]

    run(story)


def test_a_lost_engine_is_started_again_and_its_jobs_have_failed() -> None:
    async def story(bridge: Bridge, client: FakeClient) -> None:
        assert bridge.has_engine
        with bridge.transcribe("a.wav", Options()) as job:
            client.tell(JobFailed(job=job.id, failure=DIED))
            client.tell(EngineLost(failure=DIED))
            assert [type(event) async for event in job] == [JobFailed]
            assert job.failure == DIED
        while not client.num_restarts:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        assert bridge.has_engine

    assert run(story).num_restarts == 1


def test_an_engine_that_is_lost_again_and_again_is_started_less_and_less_hastily() -> None:
    async def story(bridge: Bridge, client: FakeClient) -> None:
        client.tell(EngineLost(failure=DIED))
        while client.num_restarts < 1:
            await asyncio.sleep(0.01)
        client.tell(EngineLost(failure=DIED))
        await asyncio.sleep(0.1)
        assert client.num_restarts == 1, "the second time waits a second"
        assert not bridge.has_engine

    run(story)


def test_when_the_server_ends_every_reader_is_told() -> None:
    async def story(bridge: Bridge, client: FakeClient) -> None:
        with bridge.transcribe("a.wav", Options()) as job:
            bridge.end_all()
            assert [type(event) async for event in job] == [JobFailed]
        assert client.asked == [f"cancel {job.id}"]

    run(story)
