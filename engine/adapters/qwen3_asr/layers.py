"""The parts a Qwen3-ASR network is built of; plain objects over tensors, nothing to train."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.growing_kv import LayerKV
from engine.adapters.layers import LayerNorm, Projection
from engine.adapters.qwen3_asr.passes import Pass
from engine.adapters.text_groups import TextGroup

_LARGEST_HALF: Final = torch.finfo(torch.float16).max - 1000


@dataclass(frozen=True, slots=True)
class RMSNorm:
    """Normalises the last axis by its root mean square."""

    weight: Tensor
    eps: float

    def __call__(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


@dataclass(frozen=True, slots=True)
class Conv2d:
    """A convolution that halves both time and frequency."""

    weight: Tensor
    """(out, in, 3, 3)"""
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Return (batch, out, mels / 2, frames / 2), rounded up, of (batch, in, mels, frames)."""
        return F.gelu(F.conv2d(x, self.weight, self.bias, stride=2, padding=1))


@dataclass(frozen=True, slots=True)
class EncoderBlock:
    """Self-attention over one window, then the feed-forward part."""

    attn_norm: LayerNorm
    qkv: Projection
    """Queries, keys and values, stacked."""
    out: Projection
    mlp_norm: LayerNorm
    mlp_in: Projection
    mlp_out: Projection
    num_heads: int

    def __call__(self, x: Tensor) -> Tensor:
        """Return (tokens, width) of `x`, (tokens, width)."""
        tokens, width = x.shape
        qkv = self.qkv.window(self.attn_norm(x)).view(1, tokens, 3, self.num_heads, width // self.num_heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v)
        x = x + self.out.window(attended.transpose(1, 2).reshape(tokens, width))
        x = x + self.mlp_out.window(F.gelu(self.mlp_in.window(self.mlp_norm(x))))
        return x.clamp(-_LARGEST_HALF, _LARGEST_HALF) if x.dtype == torch.float16 else x


@dataclass(frozen=True, slots=True)
class DecoderBlock:
    """Causal attention in which several queries share a key, then the gated feed-forward part."""

    attn_norm: RMSNorm
    qkv: Projection
    """Queries, keys and values, stacked; there are fewer keys and values than queries."""
    q_norm: RMSNorm
    k_norm: RMSNorm
    out: Projection
    mlp_norm: RMSNorm
    gate_up: Projection
    """The gate and what passes it, stacked."""
    down: Projection
    num_heads: int
    num_kv_heads: int

    def __call__(self, x: Tensor, this: Pass, cache: LayerKV) -> Tensor:
        """Return (tokens, width) of `x`, (tokens, width), and remember the tokens' keys and values."""
        apply = _apply_alone if this.is_solo else _apply_rows
        q, k, v = self._qkv(apply(self.qkv, self.attn_norm(x)), this)
        attended = torch.cat([self._attend(q, k, v, group, cache) for group in this.groups])
        x = x + apply(self.out, attended.to(x.dtype))
        gate, up = apply(self.gate_up, self.mlp_norm(x)).chunk(2, dim=-1)
        return x + apply(self.down, F.silu(gate) * up)

    def _qkv(self, qkv: Tensor, this: Pass) -> tuple[Tensor, Tensor, Tensor]:
        """Return queries (tokens, heads, head_dim), keys and values, with positions turned in."""
        last_q, last_k = self.num_heads, self.num_heads + self.num_kv_heads
        heads = qkv.view(qkv.shape[0], last_k + self.num_kv_heads, -1)
        q, k, v = heads[:, :last_q], heads[:, last_q:last_k], heads[:, last_k:]
        return _turn(self.q_norm(q), this), _turn(self.k_norm(k), this), v

    def _attend(self, q: Tensor, k: Tensor, v: Tensor, group: TextGroup, cache: LayerKV) -> Tensor:
        """Return (tokens of the group, heads × head_dim)."""
        at = group.tokens
        cache.keys[group.slot_index, :, group.position_index] = k[at].to(cache.keys.dtype)
        cache.values[group.slot_index, :, group.position_index] = v[at].to(cache.values.dtype)
        keys = cache.keys[group.slots, :, : group.num_positions].flatten(0, 1)
        values = cache.values[group.slots, :, : group.num_positions].flatten(0, 1)
        num_kv, head_dim = self.num_kv_heads, q.shape[-1]
        shared = self.num_heads // num_kv
        # Queries that share a key lie one below the other: one product for each key head of each row.
        by_key = q[at].view(group.num_blocks, group.num_tokens, num_kv, shared, head_dim)
        by_key = by_key.permute(0, 2, 3, 1, 4).reshape(-1, shared * group.num_tokens, head_dim)
        scores = _scores(by_key.to(keys.dtype), keys) * head_dim**-0.5
        masked = scores.view(group.num_blocks, num_kv * shared, group.num_tokens, -1).add_(group.mask)
        attended = torch.bmm(masked.softmax(-1).view_as(scores).to(values.dtype), values)
        by_token = attended.view(group.num_blocks, num_kv, shared, group.num_tokens, head_dim)
        return by_token.permute(0, 3, 1, 2, 4).reshape(group.num_blocks * group.num_tokens, -1)


def _scores(q: Tensor, keys: Tensor) -> Tensor:
    """Return (batch, queries, keys) float32: products of each query with each key.

    The same steps for one token and for many: a fused kernel takes half the time for many, but rounds
    otherwise, and a draft that is checked in one pass would not always say what single steps say.
    """
    if keys.dtype is torch.float32:
        return torch.bmm(q, keys.transpose(1, 2))
    # Keys times queries, not the other way round: three times as fast for one query in bfloat16.
    return torch.bmm(keys, q.transpose(1, 2)).transpose(1, 2).contiguous().float()


def _turn(x: Tensor, this: Pass) -> Tensor:
    """Turn pairs of numbers by an angle that grows with the position (rotary embedding, Su et al. 2021)."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = this.cos.to(x.dtype), this.sin.to(x.dtype)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


def _apply_alone(projection: Projection, x: Tensor) -> Tensor:
    return projection.window(x)


def _apply_rows(projection: Projection, x: Tensor) -> Tensor:
    return projection.rows(x)
