"""The Whisper network: audio states from log-mel, and tokens for many rows at once.

Parts are named as in the reference implementation (github.com/openai/whisper).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.adapters.crew import use_threads
from engine.adapters.graphs import Recorder
from engine.adapters.kv import KVCache, SlotShape
from engine.adapters.layers import LayerNorm, Projection
from engine.adapters.runtime import Runtime, out_of_memory_raised
from engine.adapters.whisper.config import WhisperConfig
from engine.adapters.whisper.groups import NewTokens, group_all, lay_out
from engine.adapters.whisper.layers import Conv, DecoderBlock, EncoderBlock
from engine.adapters.whisper.static import StaticNetwork


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one pass of the decoder gives."""

    logits: Tensor
    """(asked-for positions, vocabulary), float32, rows in the order they were passed."""
    attention: Tensor | None
    """(tokens of all rows in order, alignment heads, frames): cross-attention weights, each summing to 1.
    On the CPU, wherever the network is."""


@dataclass(frozen=True, slots=True)
class AudioEncoder:
    """Two convolutions that halve the frames, positions, and transformer blocks."""

    conv1: Conv
    conv2: Conv
    positional_embedding: Tensor
    blocks: Sequence[EncoderBlock]
    ln_post: LayerNorm

    def __call__(self, mel: Tensor) -> Tensor:
        """Return (frames, width) of one window's `mel`, (mels, 2 × frames); it may be a short one."""
        x = self.conv2(self.conv1(mel.T), stride=2)
        x = x + self.positional_embedding[: x.shape[0]]
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


@dataclass(frozen=True, slots=True)
class TextDecoder:
    """Token and position embeddings, transformer blocks, and the embedding again as the way out."""

    token_embedding: Tensor
    """(vocabulary, width)"""
    positional_embedding: Tensor
    blocks: Sequence[DecoderBlock]
    ln: LayerNorm
    logits: Projection
    """The token embedding once more."""


class Whisper:
    """A loaded network. Which other rows share a pass does not change a row's numbers."""

    def __init__(
        self, config: WhisperConfig, runtime: Runtime, encoder: AudioEncoder, decoder: TextDecoder
    ) -> None:
        self.config = config
        self.runtime = runtime
        self._encoder = encoder
        self._decoder = decoder
        self._static: StaticNetwork | None = None
        self._alignment_layers = {layer for layer, _ in config.alignment_heads}
        formats = runtime.formats
        # The decoder's first look at the audio would round it to these numbers anyway.
        self._kept = formats.encoder if formats.encoder.is_floating_point else formats.text

    @property
    def device(self) -> torch.device:
        """Where inputs have to be."""
        return self.runtime.device

    @property
    def described(self) -> str:
        """For people: where and how it runs, and why not faster."""
        if self._static is None:
            return str(self.runtime)
        trouble = self._static.trouble
        return f"{self.runtime}, " + (f"without CUDA graphs ({trouble})" if trouble else "CUDA graphs")

    @property
    def takes_any_size(self) -> bool:
        """Whether a window may be a part of the whole, and a step take several tokens of a row.

        Passes of fixed size hear all of a window, and have one place for each row.
        """
        return self._static is None

    @torch.inference_mode()
    def record_with(self, recorder: Recorder | None) -> None:
        """Encode, and step in caches made from now on, in passes of fixed size; None: no more.

        Raises OutOfMemory.
        """
        with out_of_memory_raised():
            parts = (self.config, self._encoder, self._decoder)
            self._static = StaticNetwork(*parts, recorder) if recorder else None

    @property
    def slot_shape(self) -> SlotShape:
        """What a row and its window are to the decoder."""
        dims = self.config.dims
        return SlotShape(
            num_layers=dims.n_text_layer,
            num_heads=dims.n_text_head,
            head_dim=dims.n_text_state // dims.n_text_head,
            max_tokens=dims.n_text_ctx,
            num_frames=dims.n_audio_ctx,
        )

    def new_cache(self, num_slots: int) -> KVCache:
        """Return an empty pool for this network. Raises OutOfMemory."""
        cache = KVCache(self.slot_shape, num_slots, self.runtime.formats, self.device)
        if self._static is not None:
            with torch.inference_mode(), out_of_memory_raised():
                self._static.serve(cache)
        return cache

    @torch.inference_mode()
    def encode(self, mel: Tensor) -> Tensor:
        """Return audio states, (batch, frames, width), of `mel`, (batch, mels, 2 × frames).

        Frames are 1500, or fewer where it `takes_any_size`. Windows go one by one: so many frames already
        fill the machine, and memory stays that of one. Raises OutOfMemory.
        """
        with out_of_memory_raised():
            if self._static is not None and (states := self._static.encode(mel)) is not None:
                return states
            windows = mel.to(self.device, self.runtime.formats.text)
            return torch.stack([self._encoder(window).to(self._kept) for window in windows])

    @torch.inference_mode()
    def listen(self, cache: KVCache, rows: Sequence[int], states: Sequence[Tensor]) -> None:
        """Let `rows` attend to `states`, (frames, width) each: fills their windows' cross-attention.

        Raises OutOfMemory.
        """
        with out_of_memory_raised():
            for row, window in zip(rows, states, strict=True):
                for block, layer in zip(self._decoder.blocks, cache.layers, strict=True):
                    block.listen(cache.window(row), window, layer)
                cache.set_num_frames(row, len(window))

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
        new = _new_tokens(cache, rows, [len(prompt) for prompt in prompts])
        layout = lay_out(new)
        wanted = layout.find(logits_at or [(-1,)] * len(rows))
        tokens = [token for index in layout.order for token in prompts[index]]
        with out_of_memory_raised():
            with use_threads(self.runtime.num_step_threads):
                x, attention = self._forward(cache, tokens, [new[i] for i in layout.order], with_attention)
            logits = self._decoder.logits.rows(x[wanted]).float()
            if attention is not None:
                attention = attention[layout.find_all()].cpu()
        for item in new:
            cache.set_length(item.row, item.past + item.count)
        return Decoded(logits, attention)

    def step(
        self, cache: KVCache, rows: Sequence[int], tokens: Sequence[int], *, with_attention: bool = False
    ) -> Decoded:
        """Append one token to each of `rows`; logits are (rows, vocabulary). Raises as `prefill`.

        Where it `takes_any_size` a row may come again: its next token sees the one before, and both have the
        numbers that two steps would give.
        """
        if self._static is not None:
            new = _new_tokens(cache, rows, [1] * len(rows))
            with torch.inference_mode(), out_of_memory_raised():
                decoded = self._static.step(cache, new, tokens)
            if decoded is not None:
                for item in new:
                    cache.set_length(item.row, item.past + 1)
                return Decoded(decoded[0], decoded[1].cpu() if with_attention else None)
        return self.prefill(cache, rows, [(token,) for token in tokens], with_attention=with_attention)

    def _forward(
        self, cache: KVCache, tokens: Sequence[int], rows: Sequence[NewTokens], with_attention: bool
    ) -> tuple[Tensor, Tensor | None]:
        """Return the last states, (tokens, width), and the alignment heads' attention if wanted."""
        decoder, dims = self._decoder, self.config.dims
        groups = group_all(rows, cache.shape.max_tokens, like=decoder.positional_embedding)
        positions = torch.cat([group.position_index for group in groups.text])
        ids = torch.tensor(tokens, device=self.device)
        x = decoder.token_embedding[ids] + decoder.positional_embedding[positions]
        layer_weights: dict[int, Tensor] = {}
        for index, (block, layer) in enumerate(zip(decoder.blocks, cache.layers, strict=True)):
            weights = None
            if with_attention and index in self._alignment_layers:
                size = (len(tokens), dims.n_text_head, dims.n_audio_ctx)
                weights = torch.zeros(size, device=self.device)
                layer_weights[index] = weights
            x = block(x, groups, layer, weights)
        attention = None
        if with_attention:
            heads = [layer_weights[layer][:, head] for layer, head in self.config.alignment_heads]
            attention = torch.stack(heads, dim=1)
        return decoder.ln(x), attention


def _new_tokens(cache: KVCache, rows: Sequence[int], counts: Sequence[int]) -> list[NewTokens]:
    """Return what each row brings. Raises ValueError where it brings nothing or too much."""
    new: list[NewTokens] = []
    lengths = {row: cache.length(row) for row in rows}
    for row, count in zip(rows, counts, strict=True):
        new.append(NewTokens(row, cache.window(row), lengths[row], count, cache.num_frames(row)))
        lengths[row] += count
    for item in new:
        if item.count < 1 or item.past + item.count > cache.shape.max_tokens:
            raise ValueError(f"{item.count} tokens behind {item.past} of {cache.shape.max_tokens}")
    return new
