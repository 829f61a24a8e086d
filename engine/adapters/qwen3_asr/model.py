"""The Qwen3-ASR network: audio tokens from log-mel windows, and a text model that reads both.

The encoder sees windows of eight seconds that know nothing of one another, and the text model reads from
front to back: so what was computed for the beginning of some audio stays right when more follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.growing_kv import GrowingKV, RowShape
from engine.adapters.layers import LayerNorm, Projection
from engine.adapters.qwen3_asr.config import CHUNK_FRAMES, TOKENS_PER_CHUNK, Qwen3Config
from engine.adapters.qwen3_asr.layers import Conv2d, DecoderBlock, EncoderBlock, RMSNorm
from engine.adapters.qwen3_asr.passes import POSITION_STEP, Pass, PassPlanner
from engine.adapters.runtime import Runtime, out_of_memory_raised


@dataclass(frozen=True, slots=True)
class AudioEncoder:
    """Convolutions over single seconds, then attention within a window, then the text model's width."""

    convs: Sequence[Conv2d]
    conv_out: Projection
    positions: Tensor
    """(13, width): they begin anew every second."""
    blocks: Sequence[EncoderBlock]
    norm: LayerNorm
    project_in: Projection
    project_out: Projection

    def __call__(self, mel: Tensor) -> Tensor:
        """Return (tokens, text width) of one window's `mel`, (mels, frames)."""
        frames = mel.shape[1]
        padded = F.pad(mel, (0, -frames % CHUNK_FRAMES))
        chunks = padded.view(mel.shape[0], -1, CHUNK_FRAMES).transpose(0, 1)
        x = chunks[:, None].to(self.convs[0].weight.dtype)
        for conv in self.convs:
            x = conv(x)
        num_chunks, channels, mels, times = x.shape
        x = x.permute(0, 3, 1, 2).reshape(num_chunks * times, channels * mels)
        x = self.conv_out.window(x).view(num_chunks, times, -1) + self.positions
        x = x.flatten(0, 1)[: num_audio_tokens(frames)]
        for block in self.blocks:
            x = block(x)
        return self.project_out.window(F.gelu(self.project_in.window(self.norm(x))))


@dataclass(frozen=True, slots=True)
class TextModel:
    """Token embedding, blocks, and a way out: to the vocabulary, or to an aligner's places in time."""

    embedding: Tensor
    """(vocabulary, width)"""
    blocks: Sequence[DecoderBlock]
    norm: RMSNorm
    head: Projection


class Qwen3Asr:
    """A loaded network. Which other rows share a pass does not change a row's numbers."""

    def __init__(self, config: Qwen3Config, runtime: Runtime, encoder: AudioEncoder, text: TextModel) -> None:
        self.config = config
        self.runtime = runtime
        self._encoder = encoder
        self._text = text
        self._planner = PassPlanner(config.text.head_dim, config.text.rope_theta, runtime.device)

    @property
    def device(self) -> torch.device:
        """Where the network is; inputs may be anywhere."""
        return self.runtime.device

    @property
    def row_shape(self) -> RowShape:
        """What the text model remembers of a token."""
        text = self.config.text
        return RowShape(
            num_layers=text.num_layers,
            num_heads=text.num_kv_heads,
            head_dim=text.head_dim,
            max_tokens=text.max_tokens - text.max_tokens % POSITION_STEP,
        )

    def new_cache(self, num_slots: int) -> GrowingKV:
        """Return an empty pool for this network. Raises OutOfMemory."""
        return GrowingKV(self.row_shape, num_slots, self.runtime.formats.audio, self.device)

    @torch.inference_mode()
    def encode(self, mel: Tensor) -> Tensor:
        """Return (tokens, text width) of one window's `mel`, (128, 1 ≤ frames ≤ a window's).

        Raises OutOfMemory.
        """
        with out_of_memory_raised():
            return self._encoder(mel.to(self.device))

    @torch.inference_mode()
    def embed(self, ids: Sequence[int]) -> Tensor:
        """Return (ids, width)."""
        index = torch.tensor(list(ids), dtype=torch.long, device=self.device)
        return self._text.embedding[index].to(self.runtime.formats.text)

    @torch.inference_mode()
    def read(self, cache: GrowingKV, row: int, x: Tensor) -> Tensor:
        """Append `x`, (tokens ≥ 1, width), to `row` and return the last states, (tokens, width).

        Tokens see what `row` holds and one another, from front to back. Raises OutOfMemory, the row then
        holds what it held before; ValueError where it would be longer than the network's positions.
        """
        past = cache.length(row)
        cache.make_room(past + len(x))
        with out_of_memory_raised():
            states = self._forward(
                cache, x.to(self.runtime.formats.text), self._planner.solo(row, past, len(x))
            )
        cache.set_length(row, past + len(x))
        return states

    @torch.inference_mode()
    def step(self, cache: GrowingKV, rows: Sequence[int], tokens: Sequence[int]) -> Tensor:
        """Append one token to each of `rows` and return logits, (rows, vocabulary). Raises as `read`."""
        pasts = [cache.length(row) for row in rows]
        cache.make_room(max(pasts) + 1)
        with out_of_memory_raised():
            this = self._planner.together(rows, pasts)
            states = self._forward(cache, self.embed([tokens[index] for index in this.order]), this)
            places = torch.empty(len(rows), dtype=torch.long)
            places[list(this.order)] = torch.arange(len(rows))
            logits = self.head(states[places.to(self.device)])
        for row, past in zip(rows, pasts, strict=True):
            cache.set_length(row, past + 1)
        return logits

    @torch.inference_mode()
    def head(self, states: Tensor) -> Tensor:
        """Return what `states`, (tokens, width), say: (tokens, vocabulary or labels) float32."""
        return self._text.head.rows(states).float()

    def _forward(self, cache: GrowingKV, x: Tensor, this: Pass) -> Tensor:
        for block, layer in zip(self._text.blocks, cache.layers, strict=True):
            x = block(x, this, layer)
        return self._text.norm(x)


def num_audio_tokens(frames: int) -> int:
    """Return how many tokens the encoder makes of so many mel frames: 13 of a second, fewer of a part."""
    full, part = divmod(frames, CHUNK_FRAMES)
    for _ in range(3):
        part = (part + 1) // 2
    return full * TOKENS_PER_CHUNK + part
