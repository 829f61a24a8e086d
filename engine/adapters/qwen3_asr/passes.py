"""Lays out one pass through the text model: whose tokens, at which positions, seeing what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

POSITION_STEP: Final = 64
"""Remembered positions are padded to a multiple of this, and only rows that are equally long then share a
product: a library sums in another order for another length, and a row's sums must not depend on its
neighbours'. (with MKL, from 300 positions on)"""


@dataclass(frozen=True, slots=True)
class Group:
    """Rows in consecutive slots with equally many new tokens, laid one row behind the other."""

    num_rows: int
    num_tokens: int
    """Of each row."""
    num_positions: int
    """How many remembered positions are looked at, the new ones included."""
    slots: slice
    tokens: slice
    """Where the group's tokens are in the pass."""
    slot_index: Tensor
    """(rows × tokens,): where each token is to be remembered; `position_index` likewise."""
    position_index: Tensor
    mask: Tensor
    """(rows, 1, tokens, positions) float32: -inf for what a token may not see, else 0."""


@dataclass(frozen=True, slots=True)
class Pass:
    """All tokens that go through the text model together."""

    groups: tuple[Group, ...]
    cos: Tensor
    """(tokens, 1, head_dim / 2) float32, likewise `sin`: the turn that belongs to each position."""
    sin: Tensor
    is_solo: bool
    """All tokens are one row's: the pass may take any form, since nobody else is in it."""
    order: tuple[int, ...]
    """The caller's indices of the rows, as they lie in the pass."""


class PassPlanner:
    """Makes passes for one network."""

    def __init__(self, head_dim: int, rope_theta: float, device: torch.device) -> None:
        powers = torch.arange(0, head_dim, 2, dtype=torch.float32, device=device) / head_dim
        self._frequencies = 1.0 / rope_theta**powers
        self._device = device

    def solo(self, slot: int, past: int, num_tokens: int) -> Pass:
        """Return the pass of one row that brings `num_tokens` behind `past` remembered ones."""
        group = self._group([slot], [past], num_tokens, past + num_tokens, first=0)
        return self._pass([group], (0,), is_solo=True)

    def together(self, slots: Sequence[int], pasts: Sequence[int]) -> Pass:
        """Return the pass of rows that bring one token each."""
        order = tuple(sorted(range(len(slots)), key=lambda index: slots[index]))
        padded = [past + 1 + -(past + 1) % POSITION_STEP for past in pasts]
        groups: list[Group] = []
        first = 0
        for place in range(1, len(order) + 1):
            before = order[place - 1]
            if place < len(order) and (slots[order[place]], padded[order[place]]) == (
                slots[before] + 1,
                padded[before],
            ):
                continue
            members = order[first:place]
            own_slots, own_pasts = [slots[n] for n in members], [pasts[n] for n in members]
            groups.append(self._group(own_slots, own_pasts, 1, padded[before], first))
            first = place
        return self._pass(groups, order, is_solo=False)

    def _pass(self, groups: Sequence[Group], order: tuple[int, ...], *, is_solo: bool) -> Pass:
        positions = torch.cat([group.position_index for group in groups])
        angles = (positions[:, None].float() * self._frequencies)[:, None]
        return Pass(tuple(groups), angles.cos(), angles.sin(), is_solo, order)

    def _group(
        self, slots: Sequence[int], pasts: Sequence[int], num_tokens: int, num_positions: int, first: int
    ) -> Group:
        own = torch.tensor(pasts)[:, None] + torch.arange(num_tokens)
        mask = torch.zeros((len(slots), 1, num_tokens, num_positions))
        mask.masked_fill_(torch.arange(num_positions) > own[:, None, :, None], -torch.inf)
        return Group(
            num_rows=len(slots),
            num_tokens=num_tokens,
            num_positions=num_positions,
            slots=slice(slots[0], slots[-1] + 1),
            tokens=slice(first * num_tokens, (first + len(slots)) * num_tokens),
            slot_index=torch.tensor(slots).repeat_interleave(num_tokens).to(self._device),
            position_index=own.flatten().to(self._device),
            mask=mask.to(self._device),
        )
