"""Newcomers do not keep what runs waiting for long, and are not kept out either."""

from __future__ import annotations

import pytest

from engine.scheduler.pace import MAX_NEWCOMERS, EncodingPace


@pytest.mark.parametrize(
    ("num_windows", "seconds", "expected"),
    [(4, 2.0, 4), (1, 0.9, 2), (4, 100.0, 1), (1, 30.0, 1), (8, 0.1, MAX_NEWCOMERS), (1, 0.0, MAX_NEWCOMERS)],
)
def test_as_many_are_encoded_as_the_pace_allows(num_windows: int, seconds: float, expected: int) -> None:
    pace = EncodingPace()
    pace.note(num_windows, seconds)
    assert pace.max_newcomers == expected


def test_a_few_are_encoded_before_anything_is_known() -> None:
    assert EncodingPace().max_newcomers == 4
