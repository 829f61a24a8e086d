"""Qwen3-ASR networks of any size with random weights, made in memory."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from engine.adapters.base import RuntimeOptions
from engine.adapters.checkpoint import Checkpoint
from engine.adapters.qwen3_asr.config import AudioDimensions, Qwen3Config, TextDimensions, read_config
from engine.adapters.qwen3_asr.load import build_network
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.tensors import Tensors, WeightSource
from tests.helpers.tiny_qwen3 import NATIVE

Shape = tuple[int, ...]


def random_network(config: Qwen3Config, *, dtype: str = "float32", num_threads: int = 1) -> Qwen3Asr:
    """Return a network whose weights follow from their names alone; what it says means nothing."""
    sources = {name: WeightSource(shape, _maker(name, shape)) for name, shape in shapes(config).items()}
    checkpoint = Checkpoint(Path("random"), {}, {}, Tensors(sources))
    options = RuntimeOptions(device="cpu", dtype=dtype, num_threads=num_threads)
    return build_network(checkpoint, config, options)


def small_config(*, width: int, num_layers: int) -> Qwen3Config:
    """Return the tiny model's configuration with a text model of another size."""
    tiny = read_config(NATIVE)
    text = replace(
        tiny.text,
        width=width,
        num_hidden=3 * width,
        num_layers=num_layers,
        num_heads=8,
        num_kv_heads=4,
        head_dim=64,
    )
    return replace(tiny, text=text, audio=replace(tiny.audio, num_out=width))


def published_config() -> Qwen3Config:
    """Return the sizes of Qwen3-ASR-0.6B."""
    tiny = read_config(NATIVE)
    audio = AudioDimensions(
        width=896,
        num_layers=18,
        num_heads=14,
        num_hidden=3584,
        num_channels=480,
        num_out=1024,
        window_frames=800,
    )
    text = TextDimensions(
        width=1024,
        num_hidden=3072,
        num_layers=28,
        num_heads=16,
        num_kv_heads=8,
        head_dim=128,
        num_vocab=151_936,
        max_tokens=65_536,
        rope_theta=1e6,
        norm_eps=1e-6,
        is_tied=True,
    )
    return replace(tiny, audio=audio, text=text)


def shapes(config: Qwen3Config) -> dict[str, Shape]:
    """Return the shape of each weight by its native name."""
    audio, text = config.audio, config.text
    tower, model, projector = "model.audio_tower", "model.language_model", "model.multi_modal_projector"
    found: dict[str, Shape] = {}

    def linear(name: str, n_out: int, n_in: int, *, has_bias: bool) -> None:
        found[f"{name}.weight"] = (n_out, n_in)
        if has_bias:
            found[f"{name}.bias"] = (n_out,)

    channels = audio.num_channels
    for index, n_in in ((1, 1), (2, channels), (3, channels)):
        found[f"{tower}.conv2d{index}.weight"] = (channels, n_in, 3, 3)
        found[f"{tower}.conv2d{index}.bias"] = (channels,)
    linear(f"{tower}.conv_out", audio.width, channels * 16, has_bias=False)
    for layer in range(audio.num_layers):
        name = f"{tower}.layers.{layer}"
        for part in ("q_proj", "k_proj", "v_proj", "out_proj"):
            linear(f"{name}.self_attn.{part}", audio.width, audio.width, has_bias=True)
        linear(f"{name}.fc1", audio.num_hidden, audio.width, has_bias=True)
        linear(f"{name}.fc2", audio.width, audio.num_hidden, has_bias=True)
        for norm in ("self_attn_layer_norm", "final_layer_norm"):
            found[f"{name}.{norm}.weight"] = found[f"{name}.{norm}.bias"] = (audio.width,)
    found[f"{tower}.ln_post.weight"] = found[f"{tower}.ln_post.bias"] = (audio.width,)
    linear(f"{projector}.linear_1", audio.width, audio.width, has_bias=True)
    linear(f"{projector}.linear_2", audio.num_out, audio.width, has_bias=True)
    found[f"{model}.embed_tokens.weight"] = (text.num_vocab, text.width)
    found[f"{model}.norm.weight"] = (text.width,)
    for layer in range(text.num_layers):
        name = f"{model}.layers.{layer}"
        own = f"{name}.self_attn"
        linear(f"{own}.q_proj", text.num_heads * text.head_dim, text.width, has_bias=False)
        linear(f"{own}.k_proj", text.num_kv_heads * text.head_dim, text.width, has_bias=False)
        linear(f"{own}.v_proj", text.num_kv_heads * text.head_dim, text.width, has_bias=False)
        linear(f"{own}.o_proj", text.width, text.num_heads * text.head_dim, has_bias=False)
        found[f"{own}.q_norm.weight"] = found[f"{own}.k_norm.weight"] = (text.head_dim,)
        for part in ("gate_proj", "up_proj"):
            linear(f"{name}.mlp.{part}", text.num_hidden, text.width, has_bias=False)
        linear(f"{name}.mlp.down_proj", text.width, text.num_hidden, has_bias=False)
        for norm in ("input_layernorm", "post_attention_layernorm"):
            found[f"{name}.{norm}.weight"] = (text.width,)
    return found


def _maker(name: str, shape: Shape) -> Callable[[], Tensor]:
    def make() -> Tensor:
        if "norm" in name or "ln_post" in name:
            return torch.ones(shape) if name.endswith("weight") else torch.zeros(shape)
        generator = torch.Generator().manual_seed(zlib.crc32(name.encode()))
        return torch.randn(shape, generator=generator) / math.sqrt(math.prod(shape[1:]) or 1)

    return make
