"""Heights of rows: whatever is done to them, the sums are right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.row_heights import RowHeights

_HEIGHT = st.integers(1, 60)


def _assert_is(heights: RowHeights, expected: list[int]) -> None:
    assert len(heights) == len(expected)
    assert heights.total == sum(expected)
    y = 0
    for row, height in enumerate(expected):
        assert heights.height(row) == height
        assert heights.top(row) == y
        assert heights.row_at(y) == row
        assert heights.row_at(y + height - 1) == row
        y += height


@given(
    st.lists(_HEIGHT, max_size=40),
    st.lists(
        st.tuples(st.sampled_from(["insert", "measure", "forget", "cut"]), st.integers(0, 99), _HEIGHT),
        max_size=30,
    ),
)
def test_sums_stay_right_through_any_changes(guesses: list[int], changes: list[tuple[str, int, int]]) -> None:
    heights, expected = RowHeights(), list(guesses)
    heights.reset(guesses)
    for what, where, height in changes:
        if what == "insert":
            row = where % (len(expected) + 1)
            heights.insert(row, height)
            expected.insert(row, height)
        elif what == "cut":
            del expected[where % (len(expected) + 1) :]
            heights.truncate(len(expected))
        elif expected:
            row = where % len(expected)
            (heights.measure if what == "measure" else heights.forget)(row, height)
            expected[row] = height
    _assert_is(heights, expected)


def test_a_row_is_a_guess_until_measured_and_again_when_forgotten() -> None:
    heights = RowHeights()
    heights.reset([10, 10])
    assert not heights.is_measured(1)
    heights.measure(1, 25)
    assert heights.is_measured(1)
    heights.insert(1, 10)
    assert (heights.is_measured(1), heights.is_measured(2)) == (False, True)
    heights.forget(2, 12)
    assert not heights.is_measured(2)
    assert heights.total == 32


def test_places_outside_belong_to_the_nearest_row() -> None:
    heights = RowHeights()
    heights.reset([10, 10, 10])
    assert heights.row_at(-5) == 0
    assert heights.row_at(999) == 2


def test_no_rows_cover_nothing() -> None:
    with pytest.raises(IndexError):
        RowHeights().row_at(0)
