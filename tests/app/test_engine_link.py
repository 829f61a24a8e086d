"""Events cross from the engine's thread to the window's in batches, and a dead engine comes back."""

from __future__ import annotations

import threading

import pytest
from pytestqt.qtbot import QtBot

from app.engine_link import EngineLink
from engine.config import default_config
from engine.protocol.events import EngineLost, Event, Tail
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options
from tests.helpers.engine_stories import ClientFactory, FakeClient

LOST = EngineLost(failure=failure(FailureKind.ENGINE_DIED, ""))


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Rig:
    def __init__(self) -> None:
        self.factory = ClientFactory({"a.wav": [lambda job: [Tail(job=job, text="x")]]})
        self.clock = Clock()
        self.link = EngineLink(default_config(), make_client=self.factory, clock=self.clock)
        assert self.factory.client is not None
        self.client: FakeClient = self.factory.client
        self.batches: list[list[Event]] = []
        self.link.events.connect(self.batches.append)


@pytest.fixture
def rig(qtbot: QtBot) -> Rig:
    return Rig()


def test_many_events_of_another_thread_arrive_in_order_in_one_batch(rig: Rig, qtbot: QtBot) -> None:
    told = [Tail(job="job", text=str(number)) for number in range(1000)]

    def tell() -> None:
        for event in told:
            rig.client.on_event(event)

    thread = threading.Thread(target=tell)
    with qtbot.wait_signal(rig.link.events):
        thread.start()
        # The window is busy meanwhile; everything waits for it and comes at once.
        thread.join()
    assert rig.batches == [told]


def test_events_that_come_while_a_batch_is_handled_make_the_next(rig: Rig, qtbot: QtBot) -> None:
    def answer(_batch: list[Event]) -> None:
        if len(rig.batches) == 1:
            rig.client.on_event(Tail(job="b", text=""))

    rig.link.events.connect(answer)
    rig.client.on_event(Tail(job="a", text=""))
    qtbot.wait_until(lambda: len(rig.batches) == 2)
    assert rig.batches == [[Tail(job="a", text="")], [Tail(job="b", text="")]]


def test_events_arrive_on_the_thread_of_the_link(rig: Rig, qtbot: QtBot) -> None:
    threads: list[threading.Thread] = []
    rig.link.events.connect(lambda _batch: threads.append(threading.current_thread()))
    with qtbot.wait_signal(rig.link.events):
        other = threading.Thread(target=rig.client.on_event, args=(Tail(job="a", text=""),))
        other.start()
    other.join()
    assert threads == [threading.current_thread()]


def test_a_lost_engine_is_started_again_three_times_a_minute(rig: Rig, qtbot: QtBot) -> None:
    for number in (1, 2, 3):
        rig.clock.now_s += 1
        with qtbot.wait_signal(rig.link.events):
            rig.client.on_event(LOST)
        assert rig.client.num_restarts == number
    with qtbot.wait_signal(rig.link.given_up) as given_up:
        rig.client.on_event(LOST)
    assert given_up.args == [LOST.failure]
    assert rig.client.num_restarts == 3


def test_asking_for_it_starts_the_engine_again(rig: Rig, qtbot: QtBot) -> None:
    for _ in range(4):
        with qtbot.wait_signal(rig.link.events):
            rig.client.on_event(LOST)
    rig.link.restart()
    assert rig.client.num_restarts == 4
    with qtbot.wait_signal(rig.link.events):
        rig.client.on_event(LOST)
    assert rig.client.num_restarts == 5


def test_an_engine_that_dies_now_and_then_is_always_started_again(rig: Rig, qtbot: QtBot) -> None:
    for _ in range(6):
        rig.clock.now_s += 30
        with qtbot.wait_signal(rig.link.events):
            rig.client.on_event(LOST)
    assert rig.client.num_restarts == 6


def test_requests_go_to_the_client(rig: Rig) -> None:
    link, client = rig.link, rig.client
    link.start()
    assert client.is_started
    assert link.transcribe("/media/a.wav", Options(), 16_000) == client.asked[0].job
    assert client.asked[0].resume_at_sample == 16_000
    jobs = [
        link.probe("p"),
        link.list_models(),
        link.download_model("d"),
        link.verify_model("v"),
        link.remove_model("r"),
        link.diagnose(),
    ]
    assert len(set(jobs)) == 6
    assert [what for what, _ in client.models] == [
        "probe",
        "list",
        "download",
        "verify",
        "remove",
        "diagnose",
    ]
    link.cancel(jobs[0])


def test_nothing_is_told_after_closing(rig: Rig, qtbot: QtBot) -> None:
    rig.client.on_event(LOST)
    rig.link.close()
    rig.client.on_event(LOST)
    qtbot.wait(1)
    assert rig.batches == []
    assert rig.client.is_closed
    assert rig.client.num_restarts == 0
