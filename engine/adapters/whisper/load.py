"""Builds the Whisper network out of a checkpoint's weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.adapters.base import RuntimeOptions
from engine.adapters.checkpoint import Checkpoint, open_checkpoint
from engine.adapters.graphs import CudaRecorder
from engine.adapters.runtime import Runtime, apply_threads, choose_runtime, out_of_memory_raised
from engine.adapters.weight_cache import WeightCache, cache_path
from engine.adapters.weights import WeightReader
from engine.adapters.whisper.config import Dimensions, read_config
from engine.adapters.whisper.layers import Conv, DecoderBlock, EncoderBlock
from engine.adapters.whisper.model import AudioEncoder, TextDecoder, Whisper


def load_whisper(folder: Path, options: RuntimeOptions) -> Whisper:
    """Read the checkpoint in `folder` and put it where `options` say. Raises FailureError, OutOfMemory."""
    runtime = choose_runtime(options)
    apply_threads(runtime)
    checkpoint = open_checkpoint(folder)
    config = read_config(checkpoint)
    with torch.inference_mode(), out_of_memory_raised():
        cache = WeightCache(_cache_path(options, folder, runtime))
        weights = _Weights(checkpoint, runtime, cache)
        network = Whisper(config, runtime, _encoder(weights, config.dims), _decoder(weights, config.dims))
        cache.save()
        if runtime.device.type == "cuda":
            network.record_with(CudaRecorder(runtime.device))
        return network


def _cache_path(options: RuntimeOptions, folder: Path, runtime: Runtime) -> Path | None:
    """Return where quantised weights are kept; others are in the checkpoint as they are needed."""
    formats = runtime.formats
    form = f"{formats.name} {formats.encoder} {formats.remembered}"
    return cache_path(options.cache_folder, folder, form) if formats.is_quantised else None


class _Weights(WeightReader):
    """Takes weights by name, checks their shapes and puts them into their final form."""

    def __init__(self, checkpoint: Checkpoint, runtime: Runtime, cache: WeightCache) -> None:
        # Checkpoints saved from the bare network lack the prefix.
        prefix = "model." if any(name.startswith("model.") for name in checkpoint.tensors) else ""
        super().__init__(checkpoint, runtime, cache, lambda name: prefix + name)
        self.encoder = runtime.formats.encoder
        """What the encoder's projections are made of; `decoder` likewise, int8 where it is quantised."""
        self.decoder = torch.int8 if runtime.formats.is_quantised else runtime.formats.text
        self.remembered = runtime.formats.remembered
        """What the decoder's attention to its own text is made of."""

    def conv(self, name: str, n_out: int, n_in: int) -> Conv:
        def weight() -> Tensor:
            return self.take(f"{name}.weight", n_out, n_in, 3).transpose(1, 2).reshape(n_out, 3 * n_in)

        bias = self.take(f"{name}.bias", n_out)
        return Conv(self.projection(name, self.encoder, weight, bias, has_gelu=True))

    def attention(self, name: str, width: int, n_head: int) -> AttentionWeights:
        """Return the projections of an attention, queries with the scores' scale already in them.

        The scale, head_dim ** -0.5, is a power of two and so exact for heads of 64, as all published
        Whispers have. Keys have no bias.
        """
        scale = (width // n_head) ** -0.5
        return AttentionWeights(
            q=lambda: self.take(f"{name}.q_proj.weight", width, width) * scale,
            q_bias=self.take(f"{name}.q_proj.bias", width) * scale,
            k=lambda: self.take(f"{name}.k_proj.weight", width, width),
            v=lambda: self.take(f"{name}.v_proj.weight", width, width),
            v_bias=self.take(f"{name}.v_proj.bias", width),
        )


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """Of queries, keys and values; made only when asked for."""

    q: Callable[[], Tensor]
    q_bias: Tensor
    k: Callable[[], Tensor]
    v: Callable[[], Tensor]
    v_bias: Tensor

    def qkv(self) -> Tensor:
        """Return all three stacked."""
        return torch.cat([self.q(), self.k(), self.v()])

    def qkv_bias(self) -> Tensor:
        return torch.cat([self.q_bias, torch.zeros_like(self.v_bias), self.v_bias])


def _encoder(weights: _Weights, dims: Dimensions) -> AudioEncoder:
    width = dims.n_audio_state
    return AudioEncoder(
        conv1=weights.conv("encoder.conv1", width, dims.n_mels),
        conv2=weights.conv("encoder.conv2", width, width),
        positional_embedding=weights.take("encoder.embed_positions.weight", dims.n_audio_ctx, width),
        blocks=[_encoder_block(weights, f"encoder.layers.{n}", dims) for n in range(dims.n_audio_layer)],
        ln_post=weights.norm("encoder.layer_norm", width),
    )


def _encoder_block(weights: _Weights, name: str, dims: Dimensions) -> EncoderBlock:
    width, n_mlp, kind = dims.n_audio_state, weights.num_rows(f"{name}.fc1.weight"), weights.encoder
    own = weights.attention(f"{name}.self_attn", width, dims.n_audio_head)
    return EncoderBlock(
        n_head=dims.n_audio_head,
        attn_ln=weights.norm(f"{name}.self_attn_layer_norm", width),
        qkv=weights.projection(f"{name}.self_attn.qkv", kind, own.qkv, own.qkv_bias()),
        out=weights.linear(f"{name}.self_attn.out_proj", kind, width, width),
        mlp_ln=weights.norm(f"{name}.final_layer_norm", width),
        mlp_in=weights.linear(f"{name}.fc1", kind, n_mlp, width, has_gelu=True),
        mlp_out=weights.linear(f"{name}.fc2", kind, width, n_mlp),
    )


def _decoder(weights: _Weights, dims: Dimensions) -> TextDecoder:
    width, name = dims.n_text_state, "decoder.embed_tokens.weight"
    embedding = weights.embedding(name, dims.n_vocab, width)
    return TextDecoder(
        token_embedding=embedding,
        positional_embedding=weights.take("decoder.embed_positions.weight", dims.n_text_ctx, width),
        blocks=[_decoder_block(weights, f"decoder.layers.{n}", dims) for n in range(dims.n_text_layer)],
        ln=weights.norm("decoder.layer_norm", width),
        logits=weights.projection("decoder.logits", weights.decoder, lambda: embedding, None),
    )


def _decoder_block(weights: _Weights, name: str, dims: Dimensions) -> DecoderBlock:
    width, n_head, kind = dims.n_text_state, dims.n_text_head, weights.decoder
    n_mlp = weights.num_rows(f"{name}.fc1.weight")
    own = weights.attention(f"{name}.self_attn", width, n_head)
    cross = weights.attention(f"{name}.encoder_attn", width, n_head)
    return DecoderBlock(
        n_head=n_head,
        attn_ln=weights.norm(f"{name}.self_attn_layer_norm", width),
        qkv=weights.projection(f"{name}.self_attn.qkv", weights.remembered, own.qkv, own.qkv_bias()),
        out=weights.linear(f"{name}.self_attn.out_proj", weights.remembered, width, width),
        cross_attn_ln=weights.norm(f"{name}.encoder_attn_layer_norm", width),
        cross_q=weights.projection(f"{name}.encoder_attn.q", kind, cross.q, cross.q_bias),
        # Applied to whole windows, as the encoder's own.
        cross_k=weights.by_channel(f"{name}.encoder_attn.k", weights.encoder, cross.k),
        cross_v=weights.projection(f"{name}.encoder_attn.v", weights.encoder, cross.v, cross.v_bias),
        cross_out=weights.linear(f"{name}.encoder_attn.out_proj", kind, width, width),
        mlp_ln=weights.norm(f"{name}.final_layer_norm", width),
        mlp_in=weights.linear(f"{name}.fc1", kind, n_mlp, width, has_gelu=True),
        mlp_out=weights.linear(f"{name}.fc2", kind, width, n_mlp),
        num_threads=weights.num_threads,
    )
