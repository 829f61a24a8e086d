"""A fixed pool of decoder slots: what every running row remembers of its text and its audio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import Tensor

from engine.adapters.base import OutOfMemory
from engine.adapters.runtime import Formats, out_of_memory_raised


@dataclass(frozen=True, slots=True)
class SlotShape:
    """How much one slot holds."""

    num_layers: int
    num_heads: int
    head_dim: int
    max_tokens: int
    num_frames: int


@dataclass(slots=True)
class LayerCache:
    """All slots of one layer; consecutive slots are one matrix product without copying."""

    self_keys: Tensor
    """(slots, heads, max_tokens, head_dim), likewise `self_values`; finite everywhere."""
    self_values: Tensor
    cross_keys: Tensor
    """(slots, heads, frames, head_dim), likewise `cross_values`."""
    cross_values: Tensor


class KVCache:
    """Keys and values of the decoder, a slot for each running row.

    Rows are allocated and freed one by one, so decodings join and leave at any step; the lowest
    free slots are taken first, so that running rows stay close together. Whoever attends to a row
    must stop at its length: behind it lies what the slot held before.
    """

    def __init__(self, shape: SlotShape, num_slots: int, formats: Formats, device: torch.device) -> None:
        """Allocate the pool; a CPU gives its pages only as slots are used. Raises OutOfMemory."""
        self.shape = shape
        self._num_slots = num_slots
        self._lengths = [0] * num_slots
        self._used: set[int] = set()
        heads = (num_slots, shape.num_heads)
        text, audio = (*heads, shape.max_tokens, shape.head_dim), (*heads, shape.num_frames, shape.head_dim)
        sizes = [(text, formats.text)] * 2 + [(audio, formats.audio)] * 2
        with out_of_memory_raised():
            # Zeros, because a masked position still takes part in products, and 0 × NaN is NaN.
            self.layers = [
                LayerCache(*(_zeros(size, dtype, device) for size, dtype in sizes))
                for _ in range(shape.num_layers)
            ]

    @property
    def num_slots(self) -> int:
        """How many rows may be in use at once."""
        return self._num_slots

    @property
    def num_free(self) -> int:
        """How many rows `allocate` can still give."""
        return max(0, self._num_slots - len(self._used))

    def length(self, row: int) -> int:
        """Return how many tokens `row` holds."""
        return self._lengths[row]

    def set_length(self, row: int, length: int) -> None:
        """Say how many tokens `row` holds: more after a pass wrote them, fewer to reject a draft."""
        self._lengths[row] = length

    def allocate(self, num_rows: int) -> list[int]:
        """Take empty rows, in rising order. Raises OutOfMemory where fewer are free."""
        if num_rows > self.num_free:
            raise OutOfMemory(f"{num_rows} rows wanted, {self.num_free} free")
        unused = [row for row in range(len(self._lengths)) if row not in self._used]
        rows = unused[:num_rows]
        self._used.update(rows)
        return rows

    def free(self, rows: Sequence[int]) -> None:
        """Give rows back; what they held is forgotten."""
        self._used.difference_update(rows)
        for row in rows:
            self._lengths[row] = 0
        self._shrink()

    def copy_rows(self, sources: Sequence[int], targets: Sequence[int], *, with_audio: bool) -> None:
        """Let each target remember what its source does; sources may be among the targets (beams).

        Without `with_audio` the cross-attention stays: right while beams of one chunk change places.
        """
        lengths = [self._lengths[row] for row in sources]
        used = max(lengths, default=0)
        to, of = list(targets), list(sources)
        with torch.inference_mode(), out_of_memory_raised():
            for layer in self.layers:
                for text in (layer.self_keys, layer.self_values):
                    text[to, :, :used] = text[of, :, :used]
                for audio in (layer.cross_keys, layer.cross_values) if with_audio else ():
                    audio[to] = audio[of]
        for row, length in zip(targets, lengths, strict=True):
            self._lengths[row] = length

    def resize(self, num_slots: int) -> None:
        """Hold at most `num_slots` rows; rows in use beyond it live on until they are freed.

        A pool only shrinks: more than it was made with is not to be had.
        """
        self._num_slots = min(num_slots, len(self._lengths))
        self._shrink()

    def _shrink(self) -> None:
        """Give back the storage behind the last slot that is still wanted, one tensor at a time."""
        wanted = max(self._num_slots, max(self._used, default=-1) + 1)
        if wanted == len(self._lengths):
            return
        self._lengths = self._lengths[:wanted]
        with torch.inference_mode(), out_of_memory_raised():
            for layer in self.layers:
                for field in fields(layer):
                    setattr(layer, field.name, getattr(layer, field.name)[:wanted].clone())


def _zeros(size: Sequence[int], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return zeros; on a CPU in pages that take no memory before they are written.

    Torch writes its own zeros, so that every slot would take its memory at once.
    """
    if device.type != "cpu":
        return torch.zeros(size, dtype=dtype, device=device)
    return torch.from_numpy(np.zeros(math.prod(size) * dtype.itemsize, np.uint8)).view(dtype).view(size)
