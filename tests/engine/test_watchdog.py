from __future__ import annotations

import threading
from collections.abc import Sequence

from engine.watchdog import TICK_S, Standstill, Watchdog


def _ticks(standstill: Standstill, turns: Sequence[int | None], limit_s: float) -> list[float]:
    told = [standstill.tick(turn, limit_s) for turn in turns]
    return [seconds for seconds in told if seconds is not None]


def test_a_loop_that_moves_is_never_told() -> None:
    assert _ticks(Standstill(), list(range(100)), 3.0) == []


def test_a_loop_that_waits_for_work_is_never_told() -> None:
    assert _ticks(Standstill(), [None] * 100, 3.0) == []


def test_a_standstill_is_told_once() -> None:
    assert _ticks(Standstill(), [7] * 20, 5.0) == [5.0]


def test_every_new_standstill_is_told() -> None:
    assert _ticks(Standstill(), [7] * 10 + [8] * 10, 5.0) == [5.0, 5.0]


def test_a_turn_after_a_long_wait_begins_at_zero() -> None:
    assert _ticks(Standstill(), [7] * 4 + [None] + [7] * 5, 5.0) == []


def test_a_real_loop_that_stands_still_is_told() -> None:
    told = threading.Event()
    seconds: list[float] = []

    def tell(value: float) -> None:
        seconds.append(value)
        told.set()

    watchdog = Watchdog(TICK_S, tell)
    watchdog.start()
    watchdog.turn()
    assert told.wait(20.0)
    watchdog.close()
    assert seconds == [TICK_S]


def test_patience_and_idleness_end_with_their_blocks() -> None:
    watchdog = Watchdog(1.0, lambda seconds: None)
    with watchdog.patience(300.0):
        assert watchdog._limit_s == 300.0
    assert watchdog._limit_s == 1.0
    with watchdog.idle():
        assert watchdog._is_idle
    assert not watchdog._is_idle
