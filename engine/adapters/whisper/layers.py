"""The parts a Whisper network is built of; plain objects over tensors, nothing to train.

A row's numbers must not depend on which rows share its pass, or a file's text would change with the
load. Libraries sum in another order for another size of a matrix; so on a CPU float layers multiply
rows in blocks, and attention pads the remembered positions, to sizes within which the order stays.
Layers in 8-bit integers need no such care. (`engine.adapters.quantised`)
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.crew import SHARED_TEXT_BYTES, share_weight, use_threads
from engine.adapters.kv import LayerCache
from engine.adapters.layers import ByChannel, LayerNorm, Projection
from engine.adapters.text_groups import TextGroup
from engine.adapters.whisper.groups import AudioGroup, Groups


@dataclass(frozen=True, slots=True)
class Conv:
    """A convolution over time, three frames wide: a projection of each frame with its neighbours."""

    projection: Projection
    """Of (3 × in), the earlier frame first, to out; with GELU."""

    def __call__(self, x: Tensor, *, stride: int = 1) -> Tensor:
        """Return (frames // stride, out) of `x`, (frames, in); beyond its ends there are zeros."""
        frames, width = x.shape
        padded = F.pad(x, (0, 0, 1, 1)).contiguous()
        return self.projection.window(padded.as_strided((frames // stride, 3 * width), (stride * width, 1)))


@dataclass(frozen=True, slots=True)
class EncoderBlock:
    """Self-attention over a whole window, then the feed-forward part."""

    attn_ln: LayerNorm
    qkv: Projection
    """Queries (already scaled), keys and values, stacked."""
    out: Projection
    mlp_ln: LayerNorm
    mlp_in: Projection
    mlp_out: Projection
    n_head: int

    def __call__(self, x: Tensor) -> Tensor:
        """Return (frames, width) of `x`, (frames, width), which is used up."""
        frames, width = x.shape
        qkv = self.qkv.window(self.attn_ln(x)).view(1, frames, 3, self.n_head, width // self.n_head)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, scale=1.0)
        x.add_(self.out.window(attended.transpose(1, 2).reshape(frames, width)))
        return x.add_(self.mlp_out.window(self.mlp_in.window(self.mlp_ln(x))))


@dataclass(frozen=True, slots=True)
class DecoderBlock:
    """Causal self-attention, cross-attention to the audio, then the feed-forward part."""

    attn_ln: LayerNorm
    qkv: Projection
    """Queries (already scaled), keys and values, stacked."""
    out: Projection
    cross_attn_ln: LayerNorm
    cross_q: Projection
    """Queries, already scaled."""
    cross_k: ByChannel
    """Keys of the audio, channel after channel, as it is attended to. `cross_v` its values."""
    cross_v: Projection
    cross_out: Projection
    mlp_ln: LayerNorm
    mlp_in: Projection
    """With GELU; likewise in the encoder."""
    mlp_out: Projection
    n_head: int
    num_threads: int
    """For attention, which is bound by memory; the rest of a step may run on fewer."""

    def listen(self, window: int, states: Tensor, cache: LayerCache) -> None:
        """Write the keys and values of a window's `states`, (frames, width)."""
        frames, width = states.shape
        keys = self.cross_k.channels(states).view(self.n_head, width // self.n_head, frames)
        values = self.cross_v.window(states).view(frames, self.n_head, width // self.n_head)
        cache.cross.write(window, keys, values)

    def __call__(self, x: Tensor, groups: Groups, cache: LayerCache, weights: Tensor | None) -> Tensor:
        """Return (tokens, width) of `x`, (tokens, width), and remember the tokens' keys and values.

        Into `weights`, (tokens, heads, frames), goes what each head attends to.
        """
        qkv = self.qkv.rows(self.attn_ln(x)).view(x.shape[0], 3, self.n_head, -1)
        x = x + self.out.rows(torch.cat([self._self_attention(qkv, group, cache) for group in groups.text]))
        q = self.cross_q.rows(self.cross_attn_ln(x)).view(x.shape[0], self.n_head, -1)
        x = x + self.cross_out.rows(
            torch.cat([self._cross_attention(q, group, cache, weights) for group in groups.audio])
        )
        return x + self.mlp_out.rows(self.mlp_in.rows(self.mlp_ln(x)))

    def _self_attention(self, qkv: Tensor, group: TextGroup, cache: LayerCache) -> Tensor:
        """Return (tokens of the group, width) of `qkv`, (tokens, 3, heads, head_dim)."""
        q, k, v = qkv[group.tokens].unbind(1)
        cache.self_keys[group.slot_index, :, group.position_index] = k
        cache.self_values[group.slot_index, :, group.position_index] = v
        keys = cache.self_keys[group.slots, :, : group.num_positions].flatten(0, 1)
        values = cache.self_values[group.slots, :, : group.num_positions].flatten(0, 1)
        # A head of a row is one thread's, however many there are.
        num_threads = share_weight(keys.nbytes, self.num_threads, SHARED_TEXT_BYTES)
        with use_threads(max(torch.get_num_threads(), num_threads)):
            scores = torch.bmm(self._by_head(q, group), keys.transpose(1, 2))
            scores.view(group.num_blocks, self.n_head, group.num_tokens, -1).add_(group.mask)
            heard = torch.bmm(scores.softmax(-1), values)
        return self._by_token(heard, group)

    def _cross_attention(
        self, q: Tensor, group: AudioGroup, cache: LayerCache, weights: Tensor | None
    ) -> Tensor:
        """Return (tokens of the group, width) of `q`, (tokens, heads, head_dim)."""
        of_group = q[group.tokens].view(len(group.windows), group.num_tokens, self.n_head, -1)
        heard, attended = cache.cross.attend(of_group, group.windows, group.num_frames, self.num_threads)
        if weights is not None:
            weights[group.tokens, :, : group.num_frames] = attended.flatten(0, 1)
        return heard.reshape(len(group.windows) * group.num_tokens, -1)

    def _by_head(self, x: Tensor, group: TextGroup) -> Tensor:
        """Turn (tokens of the group, heads, head_dim) into (blocks × heads, tokens of a block, head_dim)."""
        by_row = x.reshape(group.num_blocks, group.num_tokens, self.n_head, -1)
        return by_row.transpose(1, 2).reshape(group.num_blocks * self.n_head, group.num_tokens, -1)

    def _by_token(self, x: Tensor, group: TextGroup) -> Tensor:
        """Turn (blocks × heads, tokens of a block, head_dim) into (tokens of the group, width)."""
        by_row = x.view(group.num_blocks, self.n_head, group.num_tokens, -1).transpose(1, 2)
        return by_row.reshape(group.num_blocks * group.num_tokens, -1)
