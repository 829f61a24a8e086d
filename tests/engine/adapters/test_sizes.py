"""A matrix has as many rows as it needs while they are few, and one of a few sizes from there on."""

from __future__ import annotations

from engine.adapters.sizes import FEW_ROWS, FREE_ROWS, padding_for


def test_the_rows_of_a_step_are_as_many_as_they_are() -> None:
    assert all(padding_for(num_rows) == 0 for num_rows in range(1, FREE_ROWS + 1))


def test_many_rows_come_in_few_sizes_and_none_is_left_out() -> None:
    sizes = {num_rows + padding_for(num_rows) for num_rows in range(FREE_ROWS + 1, 449)}
    assert sizes == {24, 32, 40, 48, 56, 64, 128, 192, 256, 320, 384, 448}
    assert all(0 <= padding_for(num_rows) < FEW_ROWS for num_rows in range(1, 449))
