"""Files are owed a part of the time that live work takes, within bounds."""

from __future__ import annotations

import pytest

from engine.scheduler.shares import FILE_SHARE, MOST_S, WORTH_S, Shares


def test_files_are_next_when_enough_is_owed_and_until_it_is_paid() -> None:
    shares = Shares()
    assert not shares.are_files_next
    shares.live_took(WORTH_S / FILE_SHARE * 1.01)
    assert shares.are_files_next
    shares.files_took(WORTH_S / 2)
    assert not shares.are_files_next


def test_turns_of_no_length_end_too() -> None:
    shares = Shares()
    shares.live_took(1.0)
    for _ in range(1000):
        shares.files_took(0.0)
    assert not shares.are_files_next


@pytest.mark.parametrize("live_s", [10.0, 1000.0])
def test_neither_side_saves_up(live_s: float) -> None:
    shares = Shares()
    shares.live_took(live_s)
    shares.files_took(MOST_S)
    assert not shares.are_files_next
    shares.files_took(1000.0)
    shares.live_took((MOST_S + WORTH_S) / FILE_SHARE * 1.01)
    assert shares.are_files_next
