"""A fixed pool of decoder slots: what every running row remembers of its text and its audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class SlotShape:
    """How much one slot holds."""

    num_layers: int
    num_heads: int
    head_dim: int
    max_tokens: int
    num_frames: int


class KVCache:
    """Keys and values of the decoder, a slot for each running row.

    `self_keys`, `self_values`: (layers, slots, heads, max_tokens, head_dim); of row `r` only
    `[:, r, :, :lengths[r]]` means anything.
    `cross_keys`: (layers, slots, heads, head_dim, frames), transposed for the product with queries;
    `cross_values`: (layers, slots, heads, frames, head_dim).
    Rows are allocated and freed one by one, so decodings join and leave at any step.
    """

    def __init__(self, shape: SlotShape, num_slots: int, dtype: torch.dtype, device: torch.device) -> None:
        """Allocate the pool. Raises OutOfMemory."""
        raise NotImplementedError

    @property
    def num_free(self) -> int:
        """How many rows `allocate` can still give."""
        raise NotImplementedError

    @property
    def lengths(self) -> Sequence[int]:
        """How many tokens each slot holds, by row; 0 where free."""
        raise NotImplementedError

    def allocate(self, num_rows: int) -> list[int]:
        """Take empty rows. Raises OutOfMemory where fewer are free."""
        raise NotImplementedError

    def free(self, rows: Sequence[int]) -> None:
        """Give rows back; what they held is forgotten."""
        raise NotImplementedError

    def truncate(self, row: int, length: int) -> None:
        """Forget all tokens of `row` from index `length` on (a rejected draft)."""
        raise NotImplementedError

    def copy_rows(self, sources: Sequence[int], targets: Sequence[int], *, with_audio: bool) -> None:
        """Let each target remember what its source does; sources may be among the targets (beams).

        Without `with_audio` the cross-attention stays as it is: right while the beams of one chunk change places.
        """
        raise NotImplementedError

    def resize(self, num_slots: int) -> None:
        """Hold at most `num_slots` rows; memory of running rows beyond it goes when they are freed."""
        raise NotImplementedError
