"""Clients that keep up, clients that do not, and clients that fall silent."""

from __future__ import annotations

import msgspec

from engine.manager.clients import SILENCE_S, AwakeClock, Clients
from engine.protocol import PROTOCOL_VERSION
from engine.protocol.events import Confirmed, Progress, Tail
from engine.protocol.requests import Hello


class FakePipe:
    """Takes messages while `room` lasts, and says whether it was closed."""

    def __init__(self) -> None:
        self.room = 1_000
        self.got: list[msgspec.Struct] = []
        self.is_closed = False

    def put(self, message: msgspec.Struct) -> bool:
        if self.room == 0:
            return False
        self.room -= 1
        self.got.append(message)
        return True

    def close(self, linger_s: float = 2.0) -> None:
        self.is_closed = True


def attached() -> tuple[Clients, FakePipe]:
    pipe = FakePipe()
    clients = Clients(lambda _address: pipe)
    hello = Hello(client="gui", address="x", protocol_version=PROTOCOL_VERSION, pid=1)
    clients.attach(hello, now_s=0.0)
    return clients, pipe


def test_a_full_pipe_keeps_events_in_order_and_merges_tails() -> None:
    clients, pipe = attached()
    pipe.room = 0
    for event in (
        Tail(job="j", text="he"),
        Confirmed(job="j", delta="hello"),
        Tail(job="j", text="wor"),
        Progress(job="j", done=1, total=2),
        Progress(job="j", done=2, total=2),
        Confirmed(job="j", delta=" world"),
    ):
        clients.tell("gui", event)
    assert clients.is_stalled("gui")
    pipe.room = 100
    clients.flush()
    assert pipe.got == [
        Confirmed(job="j", delta="hello"),
        Tail(job="j", text="wor"),
        Progress(job="j", done=2, total=2),
        Confirmed(job="j", delta=" world"),
    ]
    assert not clients.is_stalled("gui")


def test_an_event_never_overtakes_those_that_wait() -> None:
    clients, pipe = attached()
    pipe.room = 0
    clients.tell("gui", Confirmed(job="j", delta="a"))
    pipe.room = 1
    clients.tell("gui", Confirmed(job="j", delta="b"))
    clients.flush()
    assert pipe.got == [Confirmed(job="j", delta="a")]


def test_silence_is_death_and_a_sign_of_life_is_not() -> None:
    clients, _ = attached()
    clients.heard("gui", now_s=5.0)
    assert clients.silent(5.0 + SILENCE_S) == []
    assert clients.silent(5.1 + SILENCE_S) == ["gui"]


def test_a_client_that_says_hello_again_is_still_told_what_waits_for_it() -> None:
    clients, pipe = attached()
    pipe.room = 0
    clients.tell("gui", Confirmed(job="j", delta="a"))
    clients.attach(Hello(client="gui", address="x", protocol_version=PROTOCOL_VERSION, pid=1), now_s=50.0)
    assert clients.silent(50.0) == []
    pipe.room = 5
    clients.flush()
    assert pipe.got == [Confirmed(job="j", delta="a")]
    assert not pipe.is_closed


def test_a_detached_client_is_told_nothing() -> None:
    clients, pipe = attached()
    clients.detach("gui")
    clients.tell("gui", Tail(job="j", text="x"))
    assert pipe.is_closed
    assert pipe.got == []
    assert "gui" not in clients


def test_closing_gives_what_waits_a_last_chance() -> None:
    clients, pipe = attached()
    pipe.room = 0
    clients.tell("gui", Confirmed(job="j", delta="a"))
    pipe.room = 5
    clients.close()
    assert pipe.got == [Confirmed(job="j", delta="a")]
    assert pipe.is_closed


def test_the_computers_sleep_is_nobodys_silence() -> None:
    clock = AwakeClock(100.0, longest_turn_s=2.0)
    clock.turn(100.5)
    clock.turn(8 * 3600.0)
    assert clock.now_s == 2.5
