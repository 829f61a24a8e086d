"""Rows of a decoder pass whose attention to what they remember is one matrix product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class TextGroup:
    """Rows in consecutive slots with equally many new tokens, laid one row behind the other."""

    num_blocks: int
    """Rows."""
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
    """(rows, 1, tokens, positions): -inf for what a token may not see, else 0."""


@dataclass(frozen=True, slots=True)
class MaskKind:
    """The scores that masks are added to."""

    dtype: torch.dtype
    device: torch.device


def make_group(
    first_slot: int, pasts: Sequence[int], num_tokens: int, num_positions: int, start: int, kind: MaskKind
) -> TextGroup:
    """Return the group of rows from `first_slot` on that bring `num_tokens` each behind `pasts`.

    Its tokens begin at `start` of the pass.
    """
    num_rows = len(pasts)
    own = torch.tensor(pasts)[:, None] + torch.arange(num_tokens)
    mask = torch.zeros((num_rows, 1, num_tokens, num_positions), dtype=kind.dtype)
    mask.masked_fill_(torch.arange(num_positions) > own[:, None, :, None], -torch.inf)
    slots = slice(first_slot, first_slot + num_rows)
    return TextGroup(
        num_blocks=num_rows,
        num_tokens=num_tokens,
        num_positions=num_positions,
        slots=slots,
        tokens=slice(start, start + num_rows * num_tokens),
        slot_index=torch.arange(slots.start, slots.stop).repeat_interleave(num_tokens).to(kind.device),
        position_index=own.flatten().to(kind.device),
        mask=mask.to(kind.device),
    )
