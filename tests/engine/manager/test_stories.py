"""Every story ends once, and nothing is told after the ending."""

from __future__ import annotations

import msgspec

from engine.manager.clients import Clients
from engine.manager.stories import Stories
from engine.protocol import PROTOCOL_VERSION
from engine.protocol.events import JobCancelled, JobDone, JobFailed, Tail
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import Hello


class Pipe:
    """Takes everything."""

    def __init__(self) -> None:
        self.got: list[msgspec.Struct] = []

    def put(self, message: msgspec.Struct) -> bool:
        self.got.append(message)
        return True

    def close(self, linger_s: float = 2.0) -> None:
        pass


def stories_with_client() -> tuple[Stories, Pipe]:
    pipe = Pipe()
    clients = Clients(lambda _address: pipe)
    clients.attach(Hello(client="gui", address="x", protocol_version=PROTOCOL_VERSION, pid=1), 0.0)
    return Stories(clients), pipe


def test_nothing_is_told_after_an_ending() -> None:
    stories, pipe = stories_with_client()
    stories.begin("j", "gui")
    stories.tell(Tail(job="j", text="a"), JobCancelled(job="j"), Tail(job="j", text="b"))
    stories.tell(JobDone(job="j"))
    assert pipe.got == [Tail(job="j", text="a"), JobCancelled(job="j")]
    assert not stories.is_open("j")


def test_a_failure_is_an_ending() -> None:
    stories, pipe = stories_with_client()
    stories.begin("j", "gui")
    why = failure(FailureKind.INTERNAL, "x")
    stories.fail("j", why)
    stories.fail("j", why)
    assert pipe.got == [JobFailed(job="j", failure=why)]
    assert len(stories) == 0


def test_jobs_are_known_by_their_client() -> None:
    stories, _ = stories_with_client()
    stories.begin("a", "gui")
    stories.begin("b", "cli")
    assert stories.jobs_of("gui") == ["a"]
    assert not stories.is_stalled("a")
