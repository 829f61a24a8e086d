"""Whether more audio may be fed: never more on its way than the engine should hold."""

from __future__ import annotations

from engine.client.streams import MAX_AHEAD_SAMPLES, Streams
from engine.protocol.events import Backlog


def backlog(decoded: int) -> Backlog:
    return Backlog(job="j", received_samples=decoded, decoded_samples=decoded, seconds=0.0)


def test_a_session_takes_what_it_can_hold_and_more_as_it_is_decoded() -> None:
    streams = Streams()
    streams.open("j", 1000)
    assert streams.may_feed("j", 1000 + MAX_AHEAD_SAMPLES)
    assert not streams.may_feed("j", 1001 + MAX_AHEAD_SAMPLES)
    streams.heard(backlog(5000))
    assert streams.may_feed("j", 5000 + MAX_AHEAD_SAMPLES)


def test_a_session_that_is_over_takes_nothing() -> None:
    streams = Streams()
    assert not streams.may_feed("j", 1)
    streams.open("j", 0)
    streams.close("j")
    streams.heard(backlog(5000))
    assert not streams.may_feed("j", 1)
    streams.close("j")
