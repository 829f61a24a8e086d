"""The Whisper network: audio states from log-mel, and tokens for many rows at once.

Parts are named as in the reference implementation (github.com/openai/whisper).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.kv import KVCache, SlotShape
from engine.adapters.runtime import Runtime, out_of_memory_raised
from engine.adapters.whisper.config import WhisperConfig
from engine.adapters.whisper.layers import Conv, DecoderBlock, EncoderBlock, LayerNorm, Linear, Span


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one pass of the decoder gives."""

    logits: Tensor
    """(asked-for positions, vocabulary), float32, rows in the order they were passed."""
    attention: Tensor | None
    """(tokens of all rows in order, alignment heads, frames): cross-attention weights, each summing to 1."""


@dataclass(frozen=True, slots=True)
class AudioEncoder:
    """Two convolutions that halve the frames, positions, and transformer blocks."""

    conv1: Conv
    conv2: Conv
    positional_embedding: Tensor
    blocks: Sequence[EncoderBlock]
    ln_post: LayerNorm

    def __call__(self, mel: Tensor) -> Tensor:
        """Return (frames, width) of one window's `mel`, (mels, 2 × frames)."""
        x = F.gelu(self.conv1(mel))
        x = F.gelu(self.conv2(x, stride=2))
        x = x.T + self.positional_embedding
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


@dataclass(frozen=True, slots=True)
class TextDecoder:
    """Token and position embeddings, transformer blocks, and the embedding again as the way out."""

    token_embedding: Linear
    positional_embedding: Tensor
    blocks: Sequence[DecoderBlock]
    ln: LayerNorm


class Whisper:
    """A loaded network. Which other rows share a pass does not change a row's numbers."""

    def __init__(
        self, config: WhisperConfig, runtime: Runtime, encoder: AudioEncoder, decoder: TextDecoder
    ) -> None:
        self.config = config
        self.runtime = runtime
        self._encoder = encoder
        self._decoder = decoder
        self._alignment_layers = sorted({layer for layer, _ in config.alignment_heads})

    @property
    def device(self) -> torch.device:
        """Where inputs have to be."""
        return self.runtime.device

    def new_cache(self, num_slots: int) -> KVCache:
        """Return an empty pool for this network. Raises OutOfMemory."""
        dims = self.config.dims
        shape = SlotShape(
            num_layers=dims.n_text_layer,
            num_heads=dims.n_text_head,
            head_dim=dims.n_text_state // dims.n_text_head,
            max_tokens=dims.n_text_ctx,
            num_frames=dims.n_audio_ctx,
        )
        return KVCache(shape, num_slots, self.runtime.dtype, self.device)

    @torch.inference_mode()
    def encode(self, mel: Tensor) -> Tensor:
        """Return audio states, (batch, 1500, width), of `mel`, (batch, mels, 3000). Raises OutOfMemory.

        Windows go one by one: 1500 frames already fill the machine, and memory stays that of one.
        """
        with out_of_memory_raised():
            windows = mel.to(self.device, self.runtime.dtype)
            return torch.stack([self._encoder(window) for window in windows])

    @torch.inference_mode()
    def listen(self, cache: KVCache, rows: Sequence[int], states: Tensor) -> None:
        """Let `rows` attend to `states`, (rows, 1500, width): fills their cross-attention.

        Raises OutOfMemory.
        """
        with out_of_memory_raised():
            for row, window in zip(rows, states, strict=True):
                for block, views in zip(self._decoder.blocks, cache.views(row), strict=True):
                    block.listen(window, views)

    @torch.inference_mode()
    def prefill(
        self,
        cache: KVCache,
        rows: Sequence[int],
        prompts: Sequence[Sequence[int]],
        *,
        logits_at: Sequence[Sequence[int]] | None = None,
        with_attention: bool = False,
    ) -> Decoded:
        """Append `prompts`, of any lengths ≥ 1, to `rows` and return logits.

        `logits_at` names positions within each prompt, negative ones from its end; without it there
        is one row of logits each: the last position's. Raises OutOfMemory, the rows then hold what
        they held before; ValueError where a row's tokens exceed `n_text_ctx`.
        """
        spans = _spans(cache, rows, [len(prompt) for prompt in prompts])
        with out_of_memory_raised():
            x, attention = self._forward(
                [token for prompt in prompts for token in prompt], spans, with_attention
            )
            if logits_at is None:
                wanted = [span.stop - 1 for span in spans]
            else:
                wanted = [
                    (span.start if position >= 0 else span.stop) + position
                    for span, positions in zip(spans, logits_at, strict=True)
                    for position in positions
                ]
            logits = self._decoder.token_embedding.rows(x[wanted]).float()
        for row, span in zip(rows, spans, strict=True):
            cache.set_length(row, span.past + span.stop - span.start)
        return Decoded(logits, attention)

    def step(
        self, cache: KVCache, rows: Sequence[int], tokens: Sequence[int], *, with_attention: bool = False
    ) -> Decoded:
        """Append one token to each of `rows`; logits are (rows, vocabulary). Raises as `prefill`."""
        return self.prefill(cache, rows, [(token,) for token in tokens], with_attention=with_attention)

    def _forward(
        self, tokens: Sequence[int], spans: Sequence[Span], with_attention: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return the last states, (tokens, width), and the alignment heads' attention if wanted."""
        decoder, dims = self._decoder, self.config.dims
        ids = torch.tensor(tokens, device=self.device)
        positions = [span.past + index for span in spans for index in range(span.stop - span.start)]
        x = decoder.token_embedding.weight[ids] + decoder.positional_embedding[positions]
        layer_weights: dict[int, Tensor] = {}
        for block in decoder.blocks:
            weights = None
            if with_attention and block.index in self._alignment_layers:
                weights = x.new_empty((dims.n_text_head, len(tokens), dims.n_audio_ctx))
                layer_weights[block.index] = weights
            x = block(x, spans, weights)
        attention = None
        if with_attention:
            heads = [layer_weights[layer][head] for layer, head in self.config.alignment_heads]
            attention = torch.stack(heads, dim=1).float()
        return decoder.ln(x), attention


def _spans(cache: KVCache, rows: Sequence[int], counts: Sequence[int]) -> list[Span]:
    """Lay the rows' new tokens one behind the other. Raises ValueError."""
    spans: list[Span] = []
    start = 0
    for row, count in zip(rows, counts, strict=True):
        past = cache.length(row)
        if count < 1 or past + count > cache.max_tokens:
            raise ValueError(f"{count} tokens behind {past}: a row holds {cache.max_tokens}")
        spans.append(Span(start, start + count, past, cache.views(row)))
        start += count
    return spans
