"""Steps come in few sizes, and every row has its place in one."""

from __future__ import annotations

import pytest

from engine.adapters.whisper.buckets import Bucket, Limits, choose_bucket, place_rows, split_batch
from engine.adapters.whisper.groups import NewTokens

LIMITS = Limits(num_windows=12, max_tokens=448)


def alone(*windows: int, past: int = 30) -> list[NewTokens]:
    return [
        NewTokens(row=20 + window, window=window, past=past, count=1, num_frames=1500) for window in windows
    ]


def beams(window: int, num_beams: int = 5) -> list[NewTokens]:
    return [
        NewTokens(row=5 * window + beam, window=window, past=30, count=1, num_frames=1500)
        for beam in range(num_beams)
    ]


@pytest.mark.parametrize(
    ("windows", "num_windows"),
    [((0,), 1), ((1,), 2), ((0, 2), 4), ((3,), 4), ((4,), 8), ((8,), 12), ((11,), 12)],
)
def test_windows_are_counted_from_the_first_in_powers_of_two(
    windows: tuple[int, ...], num_windows: int
) -> None:
    assert choose_bucket(alone(*windows), LIMITS) == Bucket(num_windows, 1, 64)


@pytest.mark.parametrize(
    ("past", "num_positions"), [(0, 64), (63, 64), (64, 128), (127, 128), (255, 256), (256, 448), (447, 448)]
)
def test_the_new_token_counts_among_the_remembered(past: int, num_positions: int) -> None:
    bucket = choose_bucket(alone(0, past=past), LIMITS)
    assert bucket is not None
    assert bucket.num_positions == num_positions


def test_a_short_model_has_no_larger_size_than_itself() -> None:
    assert choose_bucket(alone(0), Limits(num_windows=1, max_tokens=60)) == Bucket(1, 1, 60)


def test_beams_share_a_window_and_single_rows_beside_them_get_empty_places() -> None:
    rows = [*beams(1), *alone(0), *beams(2, num_beams=3)]
    bucket = choose_bucket(rows, LIMITS)
    assert bucket == Bucket(4, 5, 64)
    assert place_rows(rows, bucket) == [5, 6, 7, 8, 9, 0, 10, 11, 12]


def test_single_rows_lie_where_their_windows_do() -> None:
    rows = alone(2, 0, 3)
    assert place_rows(rows, Bucket(4, 1, 64)) == [2, 0, 3]


def test_more_beams_than_any_size_has_are_left_to_the_ordinary_pass() -> None:
    assert choose_bucket(beams(0, num_beams=6), LIMITS) is None


@pytest.mark.parametrize(
    ("num_windows", "parts"),
    [(1, [(1, 1)]), (3, [(3, 4)]), (8, [(8, 8)]), (9, [(8, 8), (1, 1)]), (22, [(8, 8), (8, 8), (6, 8)])],
)
def test_a_batch_is_split_into_few_parts(num_windows: int, parts: list[tuple[int, int]]) -> None:
    assert split_batch(num_windows, 8) == parts
