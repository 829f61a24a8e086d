"""Lays out one pass through the text model: whose tokens, at which positions, seeing what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.adapters.text_groups import MaskKind, TextGroup, make_group

POSITION_STEP: Final = 64
"""Remembered positions are padded to a multiple of this, and only rows that are equally long then share a
product: a library sums in another order for another length, and a row's sums must not depend on its
neighbours'. (with MKL, from 300 positions on)"""


@dataclass(frozen=True, slots=True)
class Pass:
    """All tokens that go through the text model together."""

    groups: tuple[TextGroup, ...]
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
        self._masks = MaskKind(torch.float32, device)

    def solo(self, slot: int, past: int, num_tokens: int) -> Pass:
        """Return the pass of one row that brings `num_tokens` behind `past` remembered ones."""
        group = make_group(slot, [past], num_tokens, past + num_tokens, 0, self._masks)
        return self._pass([group], (0,), is_solo=True)

    def together(self, slots: Sequence[int], pasts: Sequence[int]) -> Pass:
        """Return the pass of rows that bring one token each."""
        order = tuple(sorted(range(len(slots)), key=lambda index: slots[index]))
        padded = [past + 1 + -(past + 1) % POSITION_STEP for past in pasts]
        groups: list[TextGroup] = []
        first = 0
        for place in range(1, len(order) + 1):
            before = order[place - 1]
            if place < len(order) and (slots[order[place]], padded[order[place]]) == (
                slots[before] + 1,
                padded[before],
            ):
                continue
            members = order[first:place]
            own_pasts = [pasts[n] for n in members]
            groups.append(make_group(slots[members[0]], own_pasts, 1, padded[before], first, self._masks))
            first = place
        return self._pass(groups, order, is_solo=False)

    def _pass(self, groups: Sequence[TextGroup], order: tuple[int, ...], *, is_solo: bool) -> Pass:
        positions = torch.cat([group.position_index for group in groups])
        angles = (positions[:, None].float() * self._frequencies)[:, None]
        return Pass(tuple(groups), angles.cos(), angles.sin(), is_solo, order)
