"""Times as people read them."""

from __future__ import annotations

import pytest

from app.ui.clock import clock_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00"), (59.99, "0:59"), (61, "1:01"), (3599, "59:59"), (3600, "1:00:00"), (-1, "0:00")],
)
def test_seconds_are_cut_not_rounded_and_hours_come_when_needed(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text


def test_all_times_of_a_long_recording_can_have_hours() -> None:
    assert clock_text(61, with_hours=True) == "0:01:01"
