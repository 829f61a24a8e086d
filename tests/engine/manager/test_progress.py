"""The remaining time is said when it can be believed, and counts down."""

from __future__ import annotations

import pytest

from engine.manager.progress import Pace


def test_nothing_is_said_before_a_pace_is_known() -> None:
    pace = Pace()
    assert pace.remaining_s(total_s=600, now_s=0) is None
    pace.update(done_s=0, now_s=0)
    pace.update(done_s=30, now_s=10)
    assert pace.remaining_s(total_s=600, now_s=10) is None


def test_an_even_pace_is_carried_on_and_counts_down() -> None:
    pace = Pace()
    for step in range(5):
        pace.update(done_s=30 * step, now_s=2 * step)
    assert pace.remaining_s(total_s=600, now_s=8) == pytest.approx(32)
    assert pace.remaining_s(total_s=600, now_s=9) == pytest.approx(31)


def test_a_total_that_is_not_known_has_no_remaining_time() -> None:
    pace = Pace()
    for step in range(5):
        pace.update(done_s=30 * step, now_s=2 * step)
    assert pace.remaining_s(total_s=None, now_s=8) is None


def test_a_long_wait_makes_the_estimate_unbelievable() -> None:
    pace = Pace()
    for step in range(5):
        pace.update(done_s=30 * step, now_s=2 * step)
    assert pace.remaining_s(total_s=600, now_s=100) is None


def test_the_pace_of_the_last_minute_counts() -> None:
    pace = Pace()
    now_s = 0.0
    for step in range(150):
        pace.update(done_s=30 * step, now_s=now_s)
        now_s += 30.0 if step < 50 else 1.0
    assert pace.remaining_s(total_s=30 * 149 + 300, now_s=now_s - 1) == pytest.approx(10, rel=0.3)


def test_updates_without_progress_change_nothing() -> None:
    pace = Pace()
    for step in range(5):
        pace.update(done_s=30 * step, now_s=2 * step)
        pace.update(done_s=30 * step, now_s=2 * step + 1)
    assert pace.remaining_s(total_s=600, now_s=8) == pytest.approx(32)


def test_more_done_than_there_is_leaves_nothing() -> None:
    pace = Pace()
    for step in range(5):
        pace.update(done_s=30 * step, now_s=2 * step)
    assert pace.remaining_s(total_s=100, now_s=8) == 0
