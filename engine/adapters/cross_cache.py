"""What a decoder remembers of its audio, and how it attends to it: floats, or bytes with scales.

A decoder reads all of this anew for every token, so its size is what a step of many rows costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import Final, Protocol, TypeAlias

import torch
from torch import Tensor

from engine.adapters.crew import share_weight, use_threads
from engine.adapters.pages import lazy_zeros
from engine.adapters.sizes import pad_rows

BYTES: Final = torch.uint8
"""The dtype that asks for bytes with scales."""
FEW_TOKENS: Final = 5
"""Of one window: for more, the window's bytes are turned into floats first. (2 cores, a layer of base: 8
tokens 0.6 ms and 0.3) As many beams still are summed as one is, to the same bit."""
_SCALE_BYTES: Final = 8
"""Behind each row of bytes: its scale and its smallest value, float32."""
_KEPT_LAYOUTS: Final = 16
"""Two of each kind of pass; those of values take 48 KB a window of base and token."""

_Layout: TypeAlias = tuple[Tensor, Tensor]
"""Row indices, sum after sum, and where each sum begins; behind the last one, where it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowShape:
    """What one window is, in one layer."""

    num_heads: int
    num_frames: int
    """At most."""
    head_dim: int

    def num_bytes(self, dtype: torch.dtype) -> int:
        """Return what keys and values of a window take."""
        width = self.num_heads * self.head_dim
        if dtype == BYTES:
            scales = _SCALE_BYTES * (width + self.num_heads * self.num_frames)
            return 2 * width * self.num_frames + scales
        return 2 * width * self.num_frames * dtype.itemsize


class CrossCache(Protocol):
    """Keys and values of the windows of one layer."""

    def write(self, window: int, keys: Tensor, values: Tensor) -> None:
        """Keep what was computed from one window: keys, (heads, head_dim, frames), and values.

        These are (frames, heads, head_dim).
        """
        ...

    def attend(
        self, q: Tensor, windows: tuple[int, ...], num_frames: int, num_threads: int
    ) -> tuple[Tensor, Tensor]:
        """Return what is heard, (windows, tokens, heads, head_dim), and where.

        That is (windows, tokens, heads, frames), each summing to 1. `q`, of what is heard the shape and
        dtype, has the scores' scale in it. Each of the windows was written with `num_frames`. At most
        `num_threads` work, or as many as do already.
        """
        ...

    def shrink(self, num_windows: int) -> None:
        """Give back the memory behind the first `num_windows`."""
        ...


def make_cross_cache(
    shape: WindowShape, num_windows: int, dtype: torch.dtype, device: torch.device
) -> CrossCache:
    """Return an empty one; of bytes where `dtype` is `BYTES`. Raises what torch does."""
    if dtype == BYTES:
        return ByteCross(shape, num_windows)
    return FloatCross(shape, num_windows, dtype, device)


class FloatCross:
    """Keeps floats; attends by matrix products."""

    def __init__(
        self, shape: WindowShape, num_windows: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        size = (num_windows, shape.num_heads, shape.num_frames, shape.head_dim)
        self.keys = lazy_zeros(size, dtype, device, is_dense=True)
        """(windows, heads, frames, head_dim), likewise `values`."""
        self.values = lazy_zeros(size, dtype, device, is_dense=True)

    def write(self, window: int, keys: Tensor, values: Tensor) -> None:
        """Keep one window's."""
        self.keys[window, :, : len(values)] = keys.transpose(1, 2)
        self.values[window, :, : len(values)] = values.transpose(0, 1)

    def attend(
        self, q: Tensor, windows: tuple[int, ...], num_frames: int, num_threads: int
    ) -> tuple[Tensor, Tensor]:
        """Attend to windows that lie one behind the other at once."""
        each = []
        for first, end in _neighbours(windows):
            lying = slice(windows[first], windows[end - 1] + 1)
            each.append(self._attend(q[first:end], lying, num_frames, num_threads))
        return each[0] if len(each) == 1 else _joined(each)

    def _attend(self, q: Tensor, windows: slice, num_frames: int, num_threads: int) -> tuple[Tensor, Tensor]:
        num_windows, num_tokens, num_heads, head_dim = q.shape
        keys = self.keys[windows, :, :num_frames].flatten(0, 1)
        values = self.values[windows, :, :num_frames].flatten(0, 1)
        by_head = q.to(keys.dtype).transpose(1, 2).reshape(num_windows * num_heads, num_tokens, head_dim)
        # In 16 bits each head of each row is summed by one thread, however many there are.
        with use_threads(max(torch.get_num_threads(), share_weight(keys.nbytes, num_threads))):
            # Keys times queries, not the other way round: twice as fast for one query in bfloat16.
            weights = torch.bmm(keys, pad_rows(by_head).transpose(1, 2)).transpose(1, 2).softmax(-1)
            heard = torch.bmm(weights, values)[:, :num_tokens]
        by_window = (num_windows, num_heads, num_tokens, -1)
        return (
            heard.reshape(by_window).transpose(1, 2).to(q.dtype),
            weights[:, :num_tokens].reshape(by_window).transpose(1, 2),
        )

    def shrink(self, num_windows: int) -> None:
        """Keep the first windows."""
        self.keys = self.keys[:num_windows].clone()
        self.values = self.values[:num_windows].clone()


class ByteCross:
    """Keeps bytes, for a CPU on which `can_keep_bytes()`; attends by weighted sums of rows of a table.

    Keys have one scale for each channel, over all frames, and values one for each frame: single channels
    of keys are large in all frames (KIVI, arxiv.org/abs/2402.02750). So scores are a sum of rows of a
    table, weighted by the query, and what is heard is one weighted by the scores; torch has such sums
    for embeddings, and they read half the bytes of 16-bit floats, faster. (base, 17 recordings in six
    languages: 133 errors, as with keys and values of 32 bits)

    What a row hears depends neither on other rows nor on the number of threads: each sum is one
    thread's, and of many tokens each window is multiplied alone. Takes and gives float32.
    """

    def __init__(self, shape: WindowShape, num_windows: int) -> None:
        self._shape = shape
        cpu = torch.device("cpu")
        width = shape.num_heads * shape.head_dim
        # A short window's rows lie close together, at the beginning of its place.
        keys = (num_windows, width * (shape.num_frames + _SCALE_BYTES))
        values = (num_windows, shape.num_heads, shape.num_frames, shape.head_dim + _SCALE_BYTES)
        self._keys = lazy_zeros(keys, torch.uint8, cpu, is_dense=True)
        self._values = lazy_zeros(values, torch.uint8, cpu, is_dense=True)

    def write(self, window: int, keys: Tensor, values: Tensor) -> None:
        """Round one window's to bytes."""
        num_frames = len(values)
        packed = _pack(keys.float().flatten(0, 1)).flatten()
        self._keys[window, : len(packed)] = packed
        packed = _pack(values.transpose(0, 1).flatten(0, 1).float())
        self._values[window, :, :num_frames] = packed.view(-1, num_frames, packed.shape[-1])

    def attend(
        self, q: Tensor, windows: tuple[int, ...], num_frames: int, num_threads: int
    ) -> tuple[Tensor, Tensor]:
        """Attend to all windows at once where they are whole and asked little, else one by one."""
        is_little = q.shape[1] <= FEW_TOKENS
        with use_threads(num_threads):
            if is_little and num_frames == self._shape.num_frames:
                return self._sum(q, windows, self._keys.view(-1, num_frames + _SCALE_BYTES), windows)
            each = [
                self._sum_one(q[index : index + 1], window, num_frames)
                if is_little
                else self._multiply(q[index : index + 1], window, num_frames)
                for index, window in enumerate(windows)
            ]
        return _joined(each)

    def _sum_one(self, q: Tensor, window: int, num_frames: int) -> tuple[Tensor, Tensor]:
        return self._sum(q, (window,), self._key_table(window, num_frames), (0,))

    def _sum(
        self, q: Tensor, windows: tuple[int, ...], key_table: Tensor, key_places: tuple[int, ...]
    ) -> tuple[Tensor, Tensor]:
        """Attend by one weighted sum for each head of each token.

        `key_places` are where the windows are in the table, which has a row for each channel.
        """
        num_windows, num_tokens, num_heads, head_dim = q.shape
        num_frames = key_table.shape[1] - _SCALE_BYTES
        layout = _lay_out(key_places, num_tokens, num_heads, head_dim, head_dim)
        weights = _sum_rows(key_table, layout, q).softmax(-1)
        layout = _lay_out(windows, num_tokens, num_heads, self._shape.num_frames, num_frames)
        heard = _sum_rows(self._values.flatten(0, 2), layout, weights)
        return heard.view(q.shape), weights.view(num_windows, num_tokens, num_heads, num_frames)

    def _multiply(self, q: Tensor, window: int, num_frames: int) -> tuple[Tensor, Tensor]:
        """Attend to one window by matrix products."""
        num_heads, head_dim = q.shape[2:]
        keys = _unpack(self._key_table(window, num_frames)).view(num_heads, head_dim, num_frames)
        values = _unpack(self._values[window, :, :num_frames].flatten(0, 1)).view(num_heads, -1, head_dim)
        weights = torch.bmm(q[0].transpose(0, 1), keys).softmax(-1)
        heard = torch.bmm(weights, values)
        return heard.transpose(0, 1)[None], weights.transpose(0, 1)[None]

    def _key_table(self, window: int, num_frames: int) -> Tensor:
        """Return a row for each channel of a window, which may be a short one."""
        row_bytes = num_frames + _SCALE_BYTES
        used = self._shape.num_heads * self._shape.head_dim * row_bytes
        return self._keys[window, :used].view(-1, row_bytes)

    def shrink(self, num_windows: int) -> None:
        """Keep the first windows."""
        self._keys = self._keys[:num_windows].clone()
        self._values = self._values[:num_windows].clone()


@cache
def can_keep_bytes() -> bool:
    """Say whether this torch sums rows of bytes, and fast: without FBGEMM it does so one by one."""
    if "fbgemm" not in torch.backends.quantized.supported_engines:
        return False
    try:
        rows = torch.tensor([[0.0, 1.0, 2.0, 255.0], [0.0, 255.0, 1.0, 3.0]])
        layout = (torch.tensor([0, 1], dtype=torch.int32), torch.tensor([0, 2], dtype=torch.int32))
        total = _sum_rows(_pack(rows), layout, torch.tensor([1.0, 2.0]))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return total.tolist() == [[0.0, 511.0, 4.0, 261.0]]


@lru_cache(maxsize=_KEPT_LAYOUTS)
def _lay_out(
    windows: tuple[int, ...], num_tokens: int, num_heads: int, num_rows: int, num_used: int
) -> _Layout:
    """Lay out sums over the first `num_used` of `num_rows` rows that each head of a window has.

    Sums go by window, token and head. Every layer asks for the same, and mostly the next step too.
    """
    first_heads = torch.tensor(windows, dtype=torch.int32).view(-1, 1, 1, 1) * num_heads
    heads = first_heads + torch.arange(num_heads, dtype=torch.int32).view(-1, 1)
    rows = heads * num_rows + torch.arange(num_used, dtype=torch.int32)
    rows = rows.expand(-1, num_tokens, -1, -1).flatten()
    return rows, torch.arange(0, len(rows) + 1, num_used, dtype=torch.int32)


def _neighbours(windows: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of `windows` in which each follows the one before."""
    breaks = [index for index in range(1, len(windows)) if windows[index] != windows[index - 1] + 1]
    return pairwise([0, *breaks, len(windows)])


def _joined(each: Sequence[tuple[Tensor, Tensor]]) -> tuple[Tensor, Tensor]:
    """Return what was heard, and where, of all windows."""
    heard, weights = zip(*each, strict=True)
    return torch.cat(heard), torch.cat(weights)


def _sum_rows(table: Tensor, layout: _Layout, weights: Tensor) -> Tensor:
    """Return (sums, width) float32 of rows of `table`, each times its weight."""
    rows, starts = layout
    total: Tensor = torch.ops.quantized.embedding_bag_byte_rowwise_offsets(
        table, rows, starts, per_sample_weights=weights.reshape(-1), include_last_offset=True
    )
    return total


def _pack(rows: Tensor) -> Tensor:
    """Round each of `rows`, (rows, width) float32, to 256 steps from its smallest to its largest value."""
    packed: Tensor = torch.ops.quantized.embedding_bag_byte_prepack(rows.contiguous())
    return packed


def _unpack(table: Tensor) -> Tensor:
    """Return (rows, width) float32 of what `_pack` made."""
    rows: Tensor = torch.ops.quantized.embedding_bag_byte_unpack(table)
    return rows
