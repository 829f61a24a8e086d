"""A fixed pool of decoder slots: what every running row remembers of its text and its audio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.adapters.base import OutOfMemory
from engine.adapters.cross_cache import CrossCache, WindowShape, make_cross_cache
from engine.adapters.pages import lazy_zeros
from engine.adapters.runtime import Formats, out_of_memory_raised

_NUM_SPARE: Final = 1


@dataclass(frozen=True, slots=True)
class SlotShape:
    """How much one slot holds."""

    num_layers: int
    num_heads: int
    head_dim: int
    max_tokens: int
    num_frames: int

    @property
    def window(self) -> WindowShape:
        """What its window holds, in each layer."""
        return WindowShape(num_heads=self.num_heads, num_frames=self.num_frames, head_dim=self.head_dim)

    def num_bytes(self, formats: Formats) -> int:
        """Return what a slot with a window takes."""
        text = 2 * self.num_heads * self.head_dim * self.max_tokens * formats.text.itemsize
        return self.num_layers * (text + self.window.num_bytes(formats.cross))


@dataclass(slots=True)
class LayerCache:
    """All slots of one layer. Consecutive rows are one matrix product without copying."""

    self_keys: Tensor
    """(rows, heads, max_tokens, head_dim), likewise `self_values`; finite everywhere."""
    self_values: Tensor
    cross: CrossCache


@dataclass(frozen=True, slots=True)
class Move:
    """One row takes over another one's text; they have the first `num_common` tokens in common already."""

    source: int
    target: int
    num_common: int = 0


class KVCache:
    """Keys and values of the decoder: its text by row, its audio by window.

    Each running row has text of its own; rows that hear the same window (beams) share its audio, which
    is many times larger. Rows are allocated and freed one by one, so decodings join and leave at any
    step; the lowest free places are taken first, so that what runs stays close together. Whoever
    attends to a row must stop at its length: behind it lies what the slot held before.
    """

    def __init__(self, shape: SlotShape, num_slots: int, formats: Formats, device: torch.device) -> None:
        """Allocate the pool; a CPU gives its pages only as slots are used. Raises OutOfMemory."""
        self.shape = shape
        self.storage = 0
        """Counts how often the tensors were exchanged for smaller ones."""
        self._num_slots = num_slots
        self._lengths = [0] * num_slots
        self._windows: dict[int, int] = {}
        """Which window each row in use hears."""
        self._frames = [shape.num_frames] * num_slots
        """How many frames each window holds."""
        text = (num_slots + _NUM_SPARE, shape.num_heads, shape.max_tokens, shape.head_dim)
        with out_of_memory_raised():
            # Zeros, because a masked position still takes part in products, and 0 × NaN is NaN.
            self.layers = [
                LayerCache(
                    self_keys=lazy_zeros(text, formats.text, device, is_dense=False),
                    self_values=lazy_zeros(text, formats.text, device, is_dense=False),
                    cross=make_cross_cache(shape.window, num_slots, formats.cross, device),
                )
                for _ in range(shape.num_layers)
            ]

    @property
    def num_slots(self) -> int:
        """How many rows may be in use at once."""
        return self._num_slots

    @property
    def num_free(self) -> int:
        """How many rows `allocate` can still give."""
        return max(0, self._num_slots - len(self._windows))

    @property
    def num_windows(self) -> int:
        """How many windows there is room for."""
        return len(self._lengths)

    @property
    def spare_row(self) -> int:
        """A row that is nobody's, for passes of fixed size: what is written there is never read."""
        return len(self._lengths)

    def length(self, row: int) -> int:
        """Return how many tokens `row` holds."""
        return self._lengths[row]

    def set_length(self, row: int, length: int) -> None:
        """Say how many tokens `row` holds: more after a pass wrote them, fewer to reject a draft."""
        self._lengths[row] = length

    def window(self, row: int) -> int:
        """Return the window that `row` hears."""
        return self._windows[row]

    def num_frames(self, row: int) -> int:
        """Return how many frames the window that `row` hears holds; behind them lies what it held before."""
        return self._frames[self._windows[row]]

    def set_num_frames(self, row: int, num_frames: int) -> None:
        """Say how many frames the window of `row` holds, after they were written."""
        self._frames[self._windows[row]] = num_frames

    def allocate(self, num_rows: int) -> list[int]:
        """Take empty rows, each with a window of its own, in rising order. Raises OutOfMemory."""
        rows = self._take_rows(num_rows)
        taken = set(self._windows.values())
        windows = [window for window in range(len(self._lengths)) if window not in taken]
        self._windows.update(zip(rows, windows, strict=False))
        return rows

    def allocate_beside(self, row: int, num_rows: int) -> list[int]:
        """Take empty rows that hear what `row` does, in rising order. Raises OutOfMemory."""
        rows = self._take_rows(num_rows)
        self._windows.update(dict.fromkeys(rows, self._windows[row]))
        return rows

    def _take_rows(self, num_rows: int) -> list[int]:
        if num_rows > self.num_free:
            raise OutOfMemory(f"{num_rows} rows wanted, {self.num_free} free")
        return [row for row in range(len(self._lengths)) if row not in self._windows][:num_rows]

    def free(self, rows: Sequence[int]) -> None:
        """Give rows back; what they held is forgotten."""
        for row in rows:
            del self._windows[row]
            self._lengths[row] = 0
        self._shrink()

    def copy_text(self, moves: Sequence[Move]) -> None:
        """Let each target say what its source did; no row is both."""
        if not moves:
            return
        with torch.inference_mode(), out_of_memory_raised():
            if self.layers[0].self_keys.device.type == "cpu":
                self.copy_one_by_one(moves)
            else:
                self.copy_at_once(moves)
        for move in moves:
            self._lengths[move.target] = self._lengths[move.source]

    def copy_one_by_one(self, moves: Sequence[Move]) -> None:
        """Copy what source and target do not have in common: beams part late, so that is little."""
        for move in moves:
            new = slice(move.num_common, self._lengths[move.source])
            for layer in self.layers:
                layer.self_keys[move.target, :, new] = layer.self_keys[move.source, :, new]
                layer.self_values[move.target, :, new] = layer.self_values[move.source, :, new]

    def copy_at_once(self, moves: Sequence[Move]) -> None:
        """Copy whole texts, for a device where each piece of work costs the same, however small it is."""
        rows = torch.tensor([(move.source, move.target) for move in moves])
        sources, targets = rows.to(self.layers[0].self_keys.device).T
        length = max(self._lengths[move.source] for move in moves)
        for layer in self.layers:
            for text in (layer.self_keys[:, :, :length], layer.self_values[:, :, :length]):
                text[targets] = text[sources]

    def resize(self, num_slots: int) -> None:
        """Hold at most `num_slots` rows; rows in use beyond it live on until they are freed.

        A pool only shrinks: more than it was made with is not to be had.
        """
        self._num_slots = min(num_slots, len(self._lengths))
        self._shrink()

    def _shrink(self) -> None:
        """Give back the storage behind the last slot that is still wanted, one tensor at a time."""
        wanted = max(self._num_slots, 1 + max((*self._windows, *self._windows.values()), default=-1))
        if wanted == len(self._lengths):
            return
        self._lengths, self._frames = self._lengths[:wanted], self._frames[:wanted]
        self.storage += 1
        with torch.inference_mode(), out_of_memory_raised():
            for layer in self.layers:
                for name in ("self_keys", "self_values"):
                    setattr(layer, name, getattr(layer, name)[: wanted + _NUM_SPARE].clone())
                layer.cross.shrink(wanted)
