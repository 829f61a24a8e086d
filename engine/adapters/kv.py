"""A fixed pool of decoder slots: what every running row remembers of its text and its audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.adapters.base import OutOfMemory
from engine.adapters.runtime import out_of_memory_raised


@dataclass(frozen=True, slots=True)
class SlotShape:
    """How much one slot holds."""

    num_layers: int
    num_heads: int
    head_dim: int
    max_tokens: int
    num_frames: int


@dataclass(frozen=True, slots=True)
class LayerViews:
    """One row's share of one layer, ready for matrix products: no indexing is left for the step."""

    self_keys: Tensor
    """(heads, max_tokens, head_dim); `self_values` likewise."""
    self_values: Tensor
    cross_keys: Tensor
    """(heads, frames, head_dim); `cross_values` likewise."""
    cross_values: Tensor


class _Slot:
    """The storage of one row. `text` and `audio`: (layers, keys and values, heads, positions, head_dim)."""

    def __init__(self, shape: SlotShape, dtype: torch.dtype, device: torch.device) -> None:
        per_slot = (shape.num_layers, 2, shape.num_heads)
        self.text = torch.empty((*per_slot, shape.max_tokens, shape.head_dim), dtype=dtype, device=device)
        self.audio = torch.empty((*per_slot, shape.num_frames, shape.head_dim), dtype=dtype, device=device)
        self.length = 0
        self.is_used = False
        self.views = [
            LayerViews(text[0], text[1], audio[0], audio[1])
            for text, audio in zip(self.text, self.audio, strict=True)
        ]


class KVCache:
    """Keys and values of the decoder, a slot for each running row.

    Rows are allocated and freed one by one, so decodings join and leave at any step. Each row has
    storage of its own and is attended to only up to its length: what a slot held before is never
    seen, no row's numbers depend on another's, and a smaller pool needs no copying.
    """

    def __init__(self, shape: SlotShape, num_slots: int, dtype: torch.dtype, device: torch.device) -> None:
        """Allocate the pool; a CPU gives its pages only as slots are used. Raises OutOfMemory."""
        self._shape, self._dtype, self._device = shape, dtype, device
        self._slots: list[_Slot] = []
        self._num_slots = 0
        self.resize(num_slots)

    @property
    def num_slots(self) -> int:
        """How many rows may be in use at once."""
        return self._num_slots

    @property
    def num_free(self) -> int:
        """How many rows `allocate` can still give."""
        return max(0, self._num_slots - sum(slot.is_used for slot in self._slots))

    @property
    def max_tokens(self) -> int:
        """The most tokens a row can hold."""
        return self._shape.max_tokens

    def length(self, row: int) -> int:
        """Return how many tokens `row` holds."""
        return self._slots[row].length

    def set_length(self, row: int, length: int) -> None:
        """Say how many tokens `row` holds: more after a pass wrote them, fewer to reject a draft."""
        self._slots[row].length = length

    def views(self, row: int) -> Sequence[LayerViews]:
        """Return `row`'s storage, layer by layer."""
        return self._slots[row].views

    def allocate(self, num_rows: int) -> list[int]:
        """Take empty rows. Raises OutOfMemory where fewer are free."""
        if num_rows > self.num_free:
            raise OutOfMemory(f"{num_rows} rows wanted, {self.num_free} free")
        unused = [row for row, slot in enumerate(self._slots) if not slot.is_used]
        rows = unused[:num_rows]
        for row in rows:
            self._slots[row].is_used = True
            self._slots[row].length = 0
        return rows

    def free(self, rows: Sequence[int]) -> None:
        """Give rows back; what they held is forgotten."""
        for row in rows:
            self._slots[row].is_used = False
        self._drop_unneeded()

    def copy_rows(self, sources: Sequence[int], targets: Sequence[int], *, with_audio: bool) -> None:
        """Let each target remember what its source does; sources may be among the targets (beams).

        Without `with_audio` the cross-attention stays: right while beams of one chunk change places.
        """
        moves = [
            (source, target) for source, target in zip(sources, targets, strict=True) if source != target
        ]
        lengths = [self._slots[source].length for source, _ in moves]
        with out_of_memory_raised():
            texts = [
                self._slots[source].text[..., :length, :].clone()
                for (source, _), length in zip(moves, lengths, strict=True)
            ]
            audios = [self._slots[source].audio.clone() for source, _ in moves] if with_audio else []
        for (_, target), text, length in zip(moves, texts, lengths, strict=True):
            self._slots[target].text[..., :length, :] = text
            self._slots[target].length = length
        for (_, target), audio in zip(moves, audios, strict=False):
            self._slots[target].audio.copy_(audio)

    def resize(self, num_slots: int) -> None:
        """Hold at most `num_slots` rows; rows in use beyond it live on until they are freed.

        Raises OutOfMemory where more are wanted than fit; the pool then stays as it was.
        """
        missing = num_slots - len(self._slots)
        with out_of_memory_raised():
            self._slots += [_Slot(self._shape, self._dtype, self._device) for _ in range(missing)]
        self._num_slots = num_slots
        self._drop_unneeded()

    def _drop_unneeded(self) -> None:
        """Give back the storage of unused rows at the end that are more than the pool may hold."""
        while len(self._slots) > self._num_slots and not self._slots[-1].is_used:
            self._slots.pop()
