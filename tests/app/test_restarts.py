"""A dead engine is started again, but not for ever."""

from __future__ import annotations

from app.restarts import Restarts


def test_three_restarts_a_minute_are_allowed() -> None:
    restarts = Restarts()
    assert [restarts.allow(t) for t in (0.0, 1.0, 2.0, 3.0)] == [True, True, True, False]
    assert restarts.allow(60.0), "the first is a minute ago"
    assert not restarts.allow(60.5)


def test_asking_for_the_engine_begins_anew() -> None:
    restarts = Restarts(most=1)
    assert restarts.allow(0.0)
    assert not restarts.allow(1.0)
    restarts.forgive()
    assert restarts.allow(2.0)
