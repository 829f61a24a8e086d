"""Rows of a pass are laid out by window and share products where that changes nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.adapters.text_groups import TextGroup
from engine.adapters.whisper.groups import NewTokens, group_rows, group_windows, lay_out


def new_tokens(row: int, window: int, past: int, count: int, num_frames: int = 1500) -> NewTokens:
    return NewTokens(row, window, past, count, num_frames)


def groups_of(*rows: tuple[int, int, int]) -> list[TextGroup]:
    """Group rows given as (row, past, count), each with a window of its own."""
    return group_rows([new_tokens(row, row, *rest) for row, *rest in rows], 448, like=torch.zeros(()))


def visible(group: TextGroup) -> Tensor:
    return group.mask[:, 0] == 0


def test_a_layout_finds_each_rows_tokens_whatever_the_order_of_the_rows() -> None:
    layout = lay_out([new_tokens(5, 5, 0, 3), new_tokens(2, 2, 0, 2), new_tokens(9, 9, 0, 1)])
    assert layout.order == (1, 0, 2)
    assert layout.find([(0, -1), (0, -1), (0, -1)]) == [2, 4, 0, 1, 5, 5]
    assert layout.find_all() == [2, 3, 4, 0, 1, 5]


def test_single_tokens_of_neighbouring_slots_share_a_product() -> None:
    [group] = groups_of((2, 30, 1), (3, 7, 1), (4, 15, 1))
    assert (group.num_blocks, group.slots, group.tokens) == (3, slice(2, 5), slice(0, 3))
    assert group.num_positions == 32
    assert visible(group).sum(-1).flatten().tolist() == [31, 8, 16]
    assert group.slot_index.tolist() == [2, 3, 4]
    assert group.position_index.tolist() == [30, 7, 15]


def test_a_gap_between_slots_ends_a_group() -> None:
    groups = groups_of((0, 4, 1), (2, 4, 1), (3, 9, 1))
    assert [(group.slots, group.tokens) for group in groups] == [
        (slice(0, 1), slice(0, 1)),
        (slice(2, 4), slice(1, 3)),
    ]


def test_several_tokens_share_only_with_rows_in_the_same_state() -> None:
    groups = groups_of((0, 0, 4), (1, 0, 4), (2, 0, 7), (3, 6, 4))
    assert [(group.num_blocks, group.num_tokens, group.num_positions) for group in groups] == [
        (2, 4, 4),
        (1, 7, 7),
        (1, 4, 10),
    ]
    assert visible(groups[0])[1].tolist() == torch.ones(4, 4).tril().bool().tolist()
    assert groups[2].position_index.tolist() == [6, 7, 8, 9]


def test_padding_ends_where_a_row_ends() -> None:
    [group] = group_rows([new_tokens(0, 0, 98, 1)], 100, like=torch.zeros(()))
    assert group.num_positions == 100


def test_rows_that_hear_the_same_window_are_one_product_with_it() -> None:
    beams = [new_tokens(row, 3, 20, 1) for row in (0, 1, 2)]
    more = [new_tokens(row, 4, 35, 1) for row in (7, 8, 9)]
    alone = [new_tokens(5, 5, 8, 1), new_tokens(6, 6, 9, 1), new_tokens(4, 9, 9, 1)]
    groups = group_windows([*beams, *more, *alone])
    assert [(group.windows, group.num_tokens, group.tokens) for group in groups] == [
        ((3, 4), 3, slice(0, 6)),
        ((5, 6, 9), 1, slice(6, 9)),
    ]


def test_windows_of_different_lengths_share_no_product() -> None:
    rows = [new_tokens(2, 2, 5, 1, 750), new_tokens(3, 3, 5, 1, 750), new_tokens(4, 4, 5, 1)]
    groups = group_windows(rows)
    assert [(group.windows, group.num_frames) for group in groups] == [((2, 3), 750), ((4,), 1500)]


def test_beams_stay_together_whatever_the_order_of_their_rows() -> None:
    rows = [new_tokens(8, 1, 5, 1), new_tokens(0, 2, 5, 1), new_tokens(3, 1, 5, 1)]
    assert lay_out(rows).order == (2, 0, 1)


def test_a_row_that_comes_twice_goes_through_the_pass_in_two_rounds() -> None:
    rows = [new_tokens(4, 4, 30, 1), new_tokens(4, 4, 31, 1), new_tokens(2, 2, 9, 1), new_tokens(3, 3, 8, 1)]
    layout = lay_out(rows)
    assert layout.order == (2, 3, 0, 1)
    assert layout.find_all() == [2, 3, 0, 1]
    first, second = group_rows([rows[index] for index in layout.order], 448, like=torch.zeros(()))
    assert (first.slots, first.tokens) == (slice(2, 5), slice(0, 3))
    assert (second.slots, second.tokens) == (slice(4, 5), slice(3, 4))
    assert visible(second).sum() == 32
    [heard] = group_windows([rows[index] for index in layout.order])
    assert heard.windows == (2, 3, 4, 4)
