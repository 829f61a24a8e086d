"""What a decoder remembers of its audio, and how it attends to it: floats, or bytes with scales.

A decoder reads all of this anew for every token, so its size is what a step of many rows costs. The sums
of a row never depend on which other rows share its pass, nor on the number of threads.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final, Protocol, TypeAlias

import torch
from torch import Tensor

from engine.adapters.crew import share_weight, use_threads
from engine.adapters.pages import lazy_zeros
from engine.adapters.sizes import pad_rows

_SCALE_BYTES: Final = 8
"""Behind each row of bytes: its scale and its smallest value, float32."""
_FEW_TOKENS: Final = 5
"""Of one window: for more, the window's bytes are turned into floats first. (2 cores, a layer of base: 8
tokens 0.6 ms and 0.3) Five beams still are summed as one is, to the same bit."""
_KEPT_LAYOUTS: Final = 8

_Layout: TypeAlias = tuple[Tensor, Tensor]
"""Which rows each sum goes over, one sum after the other, and where each sum begins, and the last ends."""


class CrossCache(Protocol):
    """Keys and values of the windows of one layer."""

    def write(self, window: int, keys: Tensor, values: Tensor) -> None:
        """Keep what was computed from one window: (frames, heads, head_dim) each."""
        ...

    def attend(self, q: Tensor, windows: slice, num_frames: int, num_threads: int) -> tuple[Tensor, Tensor]:
        """Return what is heard, as `q`, and where: (windows, tokens, heads, frames), each summing to 1.

        `q`, (windows, tokens, heads, head_dim), has the scores' scale in it. Frames behind the first
        `num_frames` are not heard. At most `num_threads` work.
        """
        ...

    def shrink(self, num_windows: int) -> None:
        """Give back the memory behind the first `num_windows`."""
        ...


def make_cross_cache(
    num_windows: int, num_heads: int, num_frames: int, head_dim: int, dtype: torch.dtype, device: torch.device
) -> CrossCache:
    """Return an empty one of these sizes; of bytes where `dtype` is uint8. Raises what torch does."""
    if dtype == torch.uint8:
        return ByteCross(num_windows, num_heads, num_frames, head_dim)
    return FloatCross(num_windows, num_heads, num_frames, head_dim, dtype, device)


class FloatCross:
    """Keeps floats; attends by matrix products. (windows, heads, frames, head_dim)"""

    def __init__(
        self,
        num_windows: int,
        num_heads: int,
        num_frames: int,
        head_dim: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        size = (num_windows, num_heads, num_frames, head_dim)
        # Zeros, because a masked position still takes part in products, and 0 × NaN is NaN.
        self.keys = lazy_zeros(size, dtype, device, is_dense=True)
        self.values = lazy_zeros(size, dtype, device, is_dense=True)

    def write(self, window: int, keys: Tensor, values: Tensor) -> None:
        """Keep one window's."""
        self.keys[window, :, : len(keys)] = keys.transpose(0, 1)
        self.values[window, :, : len(values)] = values.transpose(0, 1)

    def attend(self, q: Tensor, windows: slice, num_frames: int, num_threads: int) -> tuple[Tensor, Tensor]:
        """Attend to several windows at once."""
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

    Keys have one scale for each of their numbers, over all frames, values one for each frame (KIVI,
    arxiv.org/abs/2402.02750: single numbers of keys are large in all frames). So scores are a sum of
    rows of a table, weighted by the query, and what is heard is one weighted by the scores; torch has
    such sums for embeddings, and they read half the bytes of 16-bit floats, faster.
    """

    def __init__(self, num_windows: int, num_heads: int, num_frames: int, head_dim: int) -> None:
        self._num_frames = num_frames
        cpu = torch.device("cpu")
        keys = (num_windows, num_heads * head_dim, num_frames + _SCALE_BYTES)
        values = (num_windows, num_heads, num_frames, head_dim + _SCALE_BYTES)
        self._keys = lazy_zeros(keys, torch.uint8, cpu, is_dense=True)
        self._values = lazy_zeros(values, torch.uint8, cpu, is_dense=True)

    def write(self, window: int, keys: Tensor, values: Tensor) -> None:
        """Round one window's to bytes."""
        num_frames = len(keys)
        packed = _pack(keys.float().flatten(1).T)
        self._keys[window, :, :num_frames] = packed[:, :num_frames]
        self._keys[window, :, self._num_frames :] = packed[:, num_frames:]
        packed = _pack(values.transpose(0, 1).flatten(0, 1).float())
        self._values[window, :, :num_frames] = packed.view(-1, num_frames, packed.shape[-1])

    def attend(self, q: Tensor, windows: slice, num_frames: int, num_threads: int) -> tuple[Tensor, Tensor]:
        """Attend to several windows at once, or to one after the other for many tokens."""
        q = q.float()
        with use_threads(num_threads):
            if q.shape[1] <= _FEW_TOKENS:
                return self._sum(q, windows, num_frames)
            numbers = range(windows.start, windows.stop)
            each = [self._multiply(*one, num_frames) for one in zip(q, numbers, strict=True)]
        heard, weights = zip(*each, strict=True)
        return torch.stack(heard), torch.stack(weights)

    def _sum(self, q: Tensor, windows: slice, num_frames: int) -> tuple[Tensor, Tensor]:
        """Attend by one weighted sum for each head of each token."""
        num_windows, num_tokens, num_heads, head_dim = q.shape
        of_keys = _lay_out(num_windows, num_tokens, num_heads, head_dim, head_dim)
        of_values = _lay_out(num_windows, num_tokens, num_heads, self._num_frames, num_frames)
        scores = _sum_rows(self._keys[windows].flatten(0, 1), of_keys, q)
        weights = scores[:, :num_frames].softmax(-1)
        heard = _sum_rows(self._values[windows].flatten(0, 2), of_values, weights)
        return heard.view(q.shape), weights.view(num_windows, num_tokens, num_heads, num_frames)

    def _multiply(self, q: Tensor, window: int, num_frames: int) -> tuple[Tensor, Tensor]:
        """Attend to one window by matrix products: `q` is (tokens, heads, head_dim)."""
        num_heads, head_dim = q.shape[1:]
        keys = _unpack(self._keys[window]).view(num_heads, head_dim, -1)[..., :num_frames]
        values = _unpack(self._values[window].flatten(0, 1)).view(num_heads, -1, head_dim)[:, :num_frames]
        weights = torch.bmm(q.transpose(0, 1), keys).softmax(-1)
        return torch.bmm(weights, values).transpose(0, 1), weights.transpose(0, 1)

    def shrink(self, num_windows: int) -> None:
        """Keep the first windows."""
        self._keys = self._keys[:num_windows].clone()
        self._values = self._values[:num_windows].clone()


@cache
def can_keep_bytes() -> bool:
    """Say whether this torch sums rows of bytes."""
    try:
        rows = torch.tensor([[0.0, 1.0, 2.0, 255.0], [0.0, 255.0, 1.0, 3.0]])
        layout = (torch.tensor([0, 1], dtype=torch.int32), torch.tensor([0, 2], dtype=torch.int32))
        total = _sum_rows(_pack(rows), layout, torch.tensor([1.0, 2.0]))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return total.tolist() == [[0.0, 511.0, 4.0, 261.0]]


@lru_cache(maxsize=_KEPT_LAYOUTS)
def _lay_out(num_windows: int, num_tokens: int, num_heads: int, num_rows: int, num_used: int) -> _Layout:
    """Lay out sums over the first `num_used` of `num_rows` rows that each head of a window has.

    Sums go by window, token and head. A batch mostly has the layout of the step before.
    """
    heads = torch.arange(num_windows * num_heads, dtype=torch.int32).view(num_windows, 1, num_heads, 1)
    rows = heads * num_rows + torch.arange(num_used, dtype=torch.int32)
    rows = rows.expand(-1, num_tokens, -1, -1).flatten()
    return rows, torch.arange(0, len(rows) + 1, num_used, dtype=torch.int32)


def _sum_rows(table: Tensor, layout: _Layout, weights: Tensor) -> Tensor:
    """Return (sums, width) float32 of rows of `table`, each times its weight."""
    rows, starts = layout
    total: Tensor = torch.ops.quantized.embedding_bag_byte_rowwise_offsets(
        table, rows, starts, False, 0, False, weights.reshape(-1), None, True
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
