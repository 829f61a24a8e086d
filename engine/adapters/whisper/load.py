"""Builds the Whisper network out of a checkpoint's weights."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.adapters.base import RuntimeOptions
from engine.adapters.checkpoint import Checkpoint, open_checkpoint
from engine.adapters.runtime import apply_threads, choose_runtime, out_of_memory_raised
from engine.adapters.whisper.config import Dimensions, read_config
from engine.adapters.whisper.layers import Conv, DecoderBlock, EncoderBlock, LayerNorm, Linear
from engine.adapters.whisper.model import AudioEncoder, TextDecoder, Whisper


def load_whisper(folder: Path, options: RuntimeOptions) -> Whisper:
    """Read the checkpoint in `folder` and put it where `options` say. Raises FailureError, OutOfMemory."""
    runtime = choose_runtime(options)
    apply_threads(runtime)
    checkpoint = open_checkpoint(folder)
    config = read_config(checkpoint)
    with torch.inference_mode(), out_of_memory_raised():
        weights = _Weights(checkpoint, runtime.dtype, runtime.device)
        return Whisper(config, runtime, _encoder(weights, config.dims), _decoder(weights, config.dims))


class _Weights:
    """Takes weights by name, checks their shapes and puts them into their final form."""

    def __init__(self, checkpoint: Checkpoint, dtype: torch.dtype, device: torch.device) -> None:
        self._checkpoint = checkpoint
        self._dtype, self._device = dtype, device
        # Checkpoints saved from the bare network lack the prefix.
        self._prefix = "model." if any(name.startswith("model.") for name in checkpoint.tensors) else ""

    def take(self, name: str, *shape: int) -> Tensor:
        """Return a weight. Raises FailureError where it is missing or of another shape."""
        full_name = self._prefix + name
        if full_name not in self._checkpoint.tensors:
            raise self._checkpoint.broken(f"{full_name} is missing")
        found = self._checkpoint.tensors.shape(full_name)
        if found != shape:
            raise self._checkpoint.broken(f"{full_name} has shape {found}, not {shape}")
        return self._checkpoint.tensors[full_name].to(self._device, self._dtype)

    def num_rows(self, name: str) -> int:
        """Return a weight's first dimension, 0 where it is missing."""
        full_name = self._prefix + name
        known = full_name in self._checkpoint.tensors
        return self._checkpoint.tensors.shape(full_name)[0] if known else 0

    def linear(self, name: str, n_out: int, n_in: int) -> Linear:
        return Linear(self.take(f"{name}.weight", n_out, n_in), self.take(f"{name}.bias", n_out))

    def conv(self, name: str, n_out: int, n_in: int) -> Conv:
        return Conv(self.take(f"{name}.weight", n_out, n_in, 3), self.take(f"{name}.bias", n_out))

    def norm(self, name: str, width: int) -> LayerNorm:
        return LayerNorm(self.take(f"{name}.weight", width), self.take(f"{name}.bias", width))

    def attention(self, name: str, width: int, n_head: int) -> AttentionWeights:
        """Return the projections of an attention, queries with the scores' scale already in them.

        The scale, head_dim ** -0.5, is a power of two and so exact for heads of 64, as all published
        Whispers have. Keys have no bias.
        """
        scale = (width // n_head) ** -0.5
        key = self.take(f"{name}.k_proj.weight", width, width)
        value_bias = self.take(f"{name}.v_proj.bias", width)
        return AttentionWeights(
            q=self.take(f"{name}.q_proj.weight", width, width) * scale,
            q_bias=self.take(f"{name}.q_proj.bias", width) * scale,
            kv=torch.cat([key, self.take(f"{name}.v_proj.weight", width, width)]),
            kv_bias=torch.cat([torch.zeros_like(value_bias), value_bias]),
        )


@dataclass(frozen=True, slots=True)
class AttentionWeights:
    """Queries apart, keys and values stacked."""

    q: Tensor
    q_bias: Tensor
    kv: Tensor
    kv_bias: Tensor

    def qkv(self) -> Linear:
        """Return all three as one layer."""
        return Linear(torch.cat([self.q, self.kv]), torch.cat([self.q_bias, self.kv_bias]))


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
    width, n_mlp = dims.n_audio_state, weights.num_rows(f"{name}.fc1.weight")
    return EncoderBlock(
        n_head=dims.n_audio_head,
        attn_ln=weights.norm(f"{name}.self_attn_layer_norm", width),
        qkv=weights.attention(f"{name}.self_attn", width, dims.n_audio_head).qkv(),
        out=weights.linear(f"{name}.self_attn.out_proj", width, width),
        mlp_ln=weights.norm(f"{name}.final_layer_norm", width),
        mlp_in=weights.linear(f"{name}.fc1", n_mlp, width),
        mlp_out=weights.linear(f"{name}.fc2", width, n_mlp),
    )


def _decoder(weights: _Weights, dims: Dimensions) -> TextDecoder:
    width = dims.n_text_state
    return TextDecoder(
        token_embedding=Linear(weights.take("decoder.embed_tokens.weight", dims.n_vocab, width), None),
        positional_embedding=weights.take("decoder.embed_positions.weight", dims.n_text_ctx, width),
        blocks=[_decoder_block(weights, f"decoder.layers.{n}", dims) for n in range(dims.n_text_layer)],
        ln=weights.norm("decoder.layer_norm", width),
    )


def _decoder_block(weights: _Weights, name: str, dims: Dimensions) -> DecoderBlock:
    width, n_head = dims.n_text_state, dims.n_text_head
    n_mlp = weights.num_rows(f"{name}.fc1.weight")
    cross = weights.attention(f"{name}.encoder_attn", width, n_head)
    return DecoderBlock(
        n_head=n_head,
        attn_ln=weights.norm(f"{name}.self_attn_layer_norm", width),
        qkv=weights.attention(f"{name}.self_attn", width, n_head).qkv(),
        out=weights.linear(f"{name}.self_attn.out_proj", width, width),
        cross_attn_ln=weights.norm(f"{name}.encoder_attn_layer_norm", width),
        cross_q=Linear(cross.q, cross.q_bias),
        cross_kv=Linear(cross.kv, cross.kv_bias),
        cross_out=weights.linear(f"{name}.encoder_attn.out_proj", width, width),
        mlp_ln=weights.norm(f"{name}.final_layer_norm", width),
        mlp_in=weights.linear(f"{name}.fc1", n_mlp, width),
        mlp_out=weights.linear(f"{name}.fc2", width, n_mlp),
    )
