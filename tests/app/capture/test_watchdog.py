"""Every way a stream goes wrong is noticed, and none that is right is taken for wrong."""

from __future__ import annotations

import msgspec
import pytest

from app.capture.watchdog import Verdict, Vitals, judge, num_missing

FINE = Vitals(
    opened_s=0.0,
    first_block_s=0.5,
    last_block_s=20.0,
    check_s=9.0,
    num_since_check=11 * 16_000,
    long_check_s=9.0,
    num_since_long_check=11 * 16_000,
    rate_hz=16_000,
)


def vitals(**changes: object) -> Vitals:
    return msgspec.structs.replace(FINE, **changes)


@pytest.mark.parametrize(
    ("changes", "now_s", "verdict"),
    [
        ({}, 20.1, Verdict.FINE),
        ({}, 20.9, Verdict.FINE),
        ({}, 21.1, Verdict.STALLED),
        ({"is_active": False}, 20.1, Verdict.ENDED),
        ({"is_elsewhere": True}, 20.1, Verdict.MOVED),
        ({"is_elsewhere": True, "is_active": False}, 20.1, Verdict.MOVED),
        ({"first_block_s": None, "last_block_s": None}, 2.9, Verdict.FINE),
        ({"first_block_s": None, "last_block_s": None}, 3.1, Verdict.STALLED),
        ({"num_since_check": int(11 * 16_000 * 0.97)}, 20.1, Verdict.LOSING),
        ({"num_since_check": int(11 * 16_000 * 0.985)}, 20.1, Verdict.FINE),
        ({"num_since_check": int(11 * 16_000 * 0.985), "has_overflowed": True}, 20.1, Verdict.LOSING),
        ({"num_since_check": 11 * 16_000 - 800, "has_overflowed": True}, 20.1, Verdict.FINE),
        ({"num_since_check": 0, "check_s": 12.0}, 20.1, Verdict.FINE),
    ],
)
def test_a_stream_is_judged(changes: dict[str, object], now_s: float, verdict: Verdict) -> None:
    assert judge(vitals(**changes), now_s) is verdict


def test_what_is_missing_is_counted_to_the_sample() -> None:
    assert num_missing(vitals(num_since_check=11 * 16_000 - 5_000), 20.1) == 5_000
    assert num_missing(FINE, 20.1) == 0
    assert num_missing(vitals(last_block_s=None, first_block_s=None), 20.1) == 0


LONG = vitals(
    last_block_s=130.0,
    check_s=125.0,
    num_since_check=5 * 16_000,
    long_check_s=10.0,
    num_since_long_check=120 * 16_000,
)


@pytest.mark.parametrize(
    ("share", "is_missing"), [(1.0, False), (0.999, False), (0.996, False), (0.994, True), (0.98, True)]
)
def test_little_by_little_counts_over_two_minutes_and_a_clock_that_drifts_does_not(
    share: float, is_missing: bool
) -> None:
    come = int(120 * 16_000 * share)
    vital = msgspec.structs.replace(LONG, num_since_long_check=come)
    assert num_missing(vital, 130.1) == (120 * 16_000 - come if is_missing else 0)
    assert judge(vital, 130.1) is (Verdict.LOSING if is_missing else Verdict.FINE)


def test_what_went_before_a_greater_loss_is_counted_with_it() -> None:
    vital = vitals(
        num_since_check=11 * 16_000 - 5_000,
        long_check_s=-21.0,
        num_since_long_check=41 * 16_000 - 7_000,
    )
    assert num_missing(vital, 20.1) == 7_000


def test_two_minutes_are_not_judged_before_they_are_over() -> None:
    vital = msgspec.structs.replace(LONG, long_check_s=11.0, num_since_long_check=118 * 16_000)
    assert judge(vital, 130.1) is Verdict.FINE
