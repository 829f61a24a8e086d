"""Rows of a pass are laid out in slot order and share products where that changes nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.adapters.whisper.groups import Group, NewTokens, group_rows, lay_out


def groups_of(*rows: tuple[int, int, int]) -> list[Group]:
    """Group rows given as (row, past, count)."""
    return group_rows([NewTokens(*row) for row in rows], 448, like=torch.zeros(()))


def visible(group: Group) -> Tensor:
    return group.mask[:, 0] == 0


def test_a_layout_finds_each_rows_tokens_whatever_the_order_of_the_rows() -> None:
    layout = lay_out([5, 2, 9], [3, 2, 1])
    assert layout.order == (1, 0, 2)
    assert layout.find([(0, -1), (0, -1), (0, -1)]) == [2, 4, 0, 1, 5, 5]
    assert layout.find_all() == [2, 3, 4, 0, 1, 5]


def test_single_tokens_of_neighbouring_slots_share_a_product() -> None:
    [group] = groups_of((2, 30, 1), (3, 7, 1), (4, 15, 1))
    assert (group.num_rows, group.slots, group.tokens) == (3, slice(2, 5), slice(0, 3))
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
    assert [(group.num_rows, group.num_tokens, group.num_positions) for group in groups] == [
        (2, 4, 4),
        (1, 7, 7),
        (1, 4, 10),
    ]
    assert visible(groups[0])[1].tolist() == torch.ones(4, 4).tril().bool().tolist()
    assert groups[2].position_index.tolist() == [6, 7, 8, 9]


def test_padding_ends_where_a_row_ends() -> None:
    [group] = group_rows([NewTokens(0, 98, 1)], 100, like=torch.zeros(()))
    assert group.num_positions == 100
