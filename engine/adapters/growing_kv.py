"""Decoder slots that grow with their texts: for networks whose rows have no common length.

A row holds what it was told and what it says, audio included. All slots are as long as the longest
row needs, in steps; on a CPU memory is only taken where something was written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.adapters.base import OutOfMemory
from engine.adapters.pages import lazy_zeros
from engine.adapters.runtime import out_of_memory_raised

USUAL_TOKENS: Final = 1024
"""Slots begin so long: half a minute of speech with its text fits."""
STEP_TOKENS: Final = 256
"""They grow by this much at a time."""


@dataclass(frozen=True, slots=True)
class RowShape:
    """What one token takes, and how many there may be."""

    num_layers: int
    num_heads: int
    head_dim: int
    max_tokens: int

    def token_bytes(self, dtype: torch.dtype) -> int:
        """Return the memory that one remembered token takes."""
        return 2 * self.num_layers * self.num_heads * self.head_dim * dtype.itemsize


@dataclass(slots=True)
class LayerKV:
    """All slots of one layer."""

    keys: Tensor
    """(slots, heads, positions, head_dim), likewise `values`; finite everywhere."""
    values: Tensor


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a row remembers of a few tokens, apart from its slot."""

    content: Tensor
    """(layers, 2, heads, tokens, head_dim)"""

    @property
    def num_tokens(self) -> int:
        return self.content.shape[3]

    @property
    def num_bytes(self) -> int:
        return self.content.nbytes


class GrowingKV:
    """Keys and values of the running rows. Whoever attends to a row must stop at its length."""

    def __init__(self, shape: RowShape, num_slots: int, dtype: torch.dtype, device: torch.device) -> None:
        """Start with short slots. Raises OutOfMemory."""
        self.shape = shape
        self._num_slots = num_slots
        self._dtype, self._device = dtype, device
        self._lengths = [0] * num_slots
        self._used: set[int] = set()
        self._capacity = min(USUAL_TOKENS, shape.max_tokens)
        self.layers: list[LayerKV] = []
        self._reset()

    @property
    def num_free(self) -> int:
        """How many rows `allocate` can still give."""
        return max(0, self._num_slots - len(self._used))

    @property
    def capacity(self) -> int:
        """How many tokens a slot holds now."""
        return self._capacity

    def length(self, row: int) -> int:
        """Return how many tokens `row` holds."""
        return self._lengths[row]

    def set_length(self, row: int, length: int) -> None:
        """Say how many tokens `row` holds: more after a pass wrote them, fewer to take some back."""
        self._lengths[row] = length

    def allocate(self) -> int:
        """Take the lowest empty row. Raises OutOfMemory where none is free."""
        if not self.num_free:
            raise OutOfMemory("no row is free")
        row = next(row for row in range(len(self._lengths)) if row not in self._used)
        self._used.add(row)
        return row

    def free(self, rows: Sequence[int]) -> None:
        """Give rows back; what they held is forgotten."""
        self._used.difference_update(rows)
        for row in rows:
            self._lengths[row] = 0
        if not self._used and (self._capacity > USUAL_TOKENS or len(self._lengths) != self._num_slots):
            # One long text must not keep every slot long for ever.
            self._lengths = [0] * self._num_slots
            self._capacity = min(USUAL_TOKENS, self.shape.max_tokens)
            self._reset()

    def make_room(self, num_tokens: int) -> None:
        """Let every slot hold so many tokens. Raises OutOfMemory, ValueError beyond `max_tokens`."""
        if num_tokens <= self._capacity:
            return
        if num_tokens > self.shape.max_tokens:
            raise ValueError(f"{num_tokens} tokens in a row of at most {self.shape.max_tokens}")
        grown = min(self.shape.max_tokens, num_tokens + -num_tokens % STEP_TOKENS)
        with torch.inference_mode(), out_of_memory_raised():
            # Layer by layer, so that never more than one is there twice.
            for layer in self.layers:
                layer.keys = self._grown(layer.keys, grown)
                layer.values = self._grown(layer.values, grown)
        self._capacity = grown

    def resize(self, num_slots: int) -> None:
        """Hold at most `num_slots` rows; memory is given back when nothing runs."""
        self._num_slots = min(num_slots, len(self._lengths))
        self.free(())

    def copy_out(self, row: int, start: int, end: int) -> Remembered:
        """Return what `row` remembers of its tokens [start, end)."""
        with torch.inference_mode(), out_of_memory_raised():
            kept = [
                torch.stack([layer.keys[row, :, start:end], layer.values[row, :, start:end]])
                for layer in self.layers
            ]
            return Remembered(torch.stack(kept))

    def copy_in(self, row: int, remembered: Remembered) -> None:
        """Let `row` remember more tokens, which were read behind the very ones that it holds."""
        start = self._lengths[row]
        end = start + remembered.num_tokens
        self.make_room(end)
        with torch.inference_mode(), out_of_memory_raised():
            for layer, (keys, values) in zip(self.layers, remembered.content, strict=True):
                layer.keys[row, :, start:end] = keys
                layer.values[row, :, start:end] = values
        self._lengths[row] = end

    def _grown(self, old: Tensor, capacity: int) -> Tensor:
        new = self._zeros((*old.shape[:2], capacity, old.shape[3]))
        for row in self._used:
            length = self._lengths[row]
            new[row, :, :length] = old[row, :, :length]
        return new

    def _reset(self) -> None:
        shape = self.shape
        size = (len(self._lengths), shape.num_heads, self._capacity, shape.head_dim)
        self.layers.clear()
        with out_of_memory_raised():
            for _ in range(shape.num_layers):
                keys, values = self._zeros(size), self._zeros(size)
                self.layers.append(LayerKV(keys, values))

    def _zeros(self, size: Sequence[int]) -> Tensor:
        """Return zeros: a masked position still takes part in products, and 0 × NaN is NaN."""
        return lazy_zeros(size, self._dtype, self._device, is_dense=False)
