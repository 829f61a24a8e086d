"""The parts a Whisper network is built of; plain objects over tensors, nothing to train.

A row's numbers must not depend on which rows share its pass, or a file's text would change with the
load. So attention runs row by row, and the rows of a linear layer are multiplied in blocks of one
size: libraries sum in another order for another number of rows, within a block they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.kv import LayerViews

_BLOCK_ROWS: Final = 8
"""The largest block that is as quick a row as any on a CPU (float32, AVX-512: 29 µs for 8 rows of
512 → 512 and 111 µs for 16); the smallest is half of it, since single rows take another routine."""


@dataclass(frozen=True, slots=True)
class Span:
    """The new tokens of one row: `[start, stop)` in the pass, behind `past` remembered ones."""

    start: int
    stop: int
    past: int
    views: Sequence[LayerViews]


@dataclass(frozen=True, slots=True)
class Linear:
    """`x @ weight.T + bias`."""

    weight: Tensor
    """(out, in)"""
    bias: Tensor | None

    def window(self, x: Tensor) -> Tensor:
        """Apply to the frames of one whole window, (frames, in): always the same number of rows."""
        return F.linear(x, self.weight, self.bias)

    def rows(self, x: Tensor) -> Tensor:
        """Apply to (rows, in), any number of rows, each with the same result in any company."""
        num_rows = x.shape[0]
        if x.device.type != "cpu":
            return F.linear(x, self.weight, self.bias)
        blocks = [self._block(x[at : at + _BLOCK_ROWS]) for at in range(0, num_rows, _BLOCK_ROWS)]
        return blocks[0] if len(blocks) == 1 else torch.cat(blocks)

    def _block(self, x: Tensor) -> Tensor:
        num_rows = x.shape[0]
        size = _BLOCK_ROWS // 2 if num_rows <= _BLOCK_ROWS // 2 else _BLOCK_ROWS
        if num_rows < size:
            x = F.pad(x, (0, 0, 0, size - num_rows))
        return F.linear(x, self.weight, self.bias)[:num_rows]


@dataclass(frozen=True, slots=True)
class Conv:
    """A convolution over time, three frames wide."""

    weight: Tensor
    """(out, in, 3)"""
    bias: Tensor

    def __call__(self, x: Tensor, *, stride: int = 1) -> Tensor:
        """Return (out, frames // stride) of `x`, (in, frames)."""
        return F.conv1d(x, self.weight, self.bias, stride=stride, padding=1)


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Normalises each position over its width."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


@dataclass(frozen=True, slots=True)
class EncoderBlock:
    """Self-attention over a whole window, then the feed-forward part."""

    attn_ln: LayerNorm
    qkv: Linear
    """Queries (already scaled), keys and values, stacked."""
    out: Linear
    mlp_ln: LayerNorm
    mlp_in: Linear
    mlp_out: Linear
    n_head: int

    def __call__(self, x: Tensor) -> Tensor:
        """Return (frames, width) of `x`, (frames, width)."""
        frames, width = x.shape
        qkv = self.qkv.window(self.attn_ln(x)).view(1, frames, 3, self.n_head, width // self.n_head)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, scale=1.0)
        x = x + self.out.window(attended.transpose(1, 2).reshape(frames, width))
        return x + self.mlp_out.window(F.gelu(self.mlp_in.window(self.mlp_ln(x))))


@dataclass(frozen=True, slots=True)
class DecoderBlock:
    """Causal self-attention, cross-attention to the audio, then the feed-forward part."""

    index: int
    attn_ln: LayerNorm
    qkv: Linear
    """Queries (already scaled), keys and values, stacked."""
    out: Linear
    cross_attn_ln: LayerNorm
    cross_q: Linear
    """Queries, already scaled."""
    cross_kv: Linear
    """Keys and values of the audio, stacked."""
    cross_out: Linear
    mlp_ln: LayerNorm
    mlp_in: Linear
    mlp_out: Linear
    n_head: int

    def listen(self, states: Tensor, views: LayerViews) -> None:
        """Write the keys and values of one window's `states`, (frames, width)."""
        frames, width = states.shape
        kv = self.cross_kv.window(states).view(frames, 2, self.n_head, width // self.n_head)
        views.cross_keys.copy_(kv[:, 0].transpose(0, 1))
        views.cross_values.copy_(kv[:, 1].transpose(0, 1))

    def __call__(self, x: Tensor, spans: Sequence[Span], weights: Tensor | None) -> Tensor:
        """Return (tokens, width) of `x`, (tokens, width), and remember the tokens' keys and values.

        Into `weights`, (heads, tokens, frames), goes what each head attended to.
        """
        x = x + self.out.rows(self._self_attention(self.qkv.rows(self.attn_ln(x)), spans))
        x = x + self.cross_out.rows(
            self._cross_attention(self.cross_q.rows(self.cross_attn_ln(x)), spans, weights)
        )
        return x + self.mlp_out.rows(F.gelu(self.mlp_in.rows(self.mlp_ln(x))))

    def _self_attention(self, qkv: Tensor, spans: Sequence[Span]) -> Tensor:
        tokens, width = qkv.shape[0], qkv.shape[1] // 3
        q, k, v = qkv.view(tokens, 3, self.n_head, -1).permute(1, 2, 0, 3)
        attended = torch.empty((tokens, width), dtype=qkv.dtype, device=qkv.device)
        result = attended.view(tokens, self.n_head, -1).transpose(0, 1)
        for span in spans:
            new = slice(span.start, span.stop)
            views, end = span.views[self.index], span.past + span.stop - span.start
            views.self_keys[:, span.past : end] = k[:, new]
            views.self_values[:, span.past : end] = v[:, new]
            scores = q[:, new] @ views.self_keys[:, :end].transpose(1, 2)
            if span.stop - span.start > 1:
                scores += torch.full_like(scores[0], -torch.inf).triu_(span.past + 1)
            result[:, new] = scores.softmax(-1) @ views.self_values[:, :end]
        return attended

    def _cross_attention(self, q: Tensor, spans: Sequence[Span], weights: Tensor | None) -> Tensor:
        tokens = q.shape[0]
        attended = torch.empty_like(q)
        result = attended.view(tokens, self.n_head, -1).transpose(0, 1)
        queries = q.view(tokens, self.n_head, -1).transpose(0, 1)
        for span in spans:
            new, views = slice(span.start, span.stop), span.views[self.index]
            scores = (queries[:, new] @ views.cross_keys.transpose(1, 2)).softmax(-1)
            result[:, new] = scores @ views.cross_values
            if weights is not None:
                weights[:, new] = scores
        return attended
