"""Builds a Qwen3-ASR network, recogniser or forced aligner, out of a checkpoint's weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
import torch
from torch import Tensor

from engine.adapters.base import RuntimeOptions
from engine.adapters.checkpoint import Checkpoint, open_checkpoint
from engine.adapters.layers import Projection
from engine.adapters.quantised import has_bfloat16, is_exact
from engine.adapters.qwen3_asr.config import (
    NUM_MELS,
    TOKENS_PER_CHUNK,
    Kind,
    Layout,
    Qwen3Config,
    broken,
    read_config,
    require_kind,
)
from engine.adapters.qwen3_asr.features import log_mel_windows
from engine.adapters.qwen3_asr.layers import Conv2d, DecoderBlock, EncoderBlock, RMSNorm
from engine.adapters.qwen3_asr.model import AudioEncoder, Qwen3Asr, TextModel
from engine.adapters.runtime import INT8, Runtime, apply_threads, choose_runtime, out_of_memory_raised
from engine.adapters.weight_cache import WeightCache, cache_path
from engine.adapters.weights import WeightReader
from engine.messages import SAMPLE_RATE_HZ

_MAX_TIMESCALE: Final = 10_000.0
_ORIGINAL_NAMES: Final = (
    ("model.audio_tower.", "thinker.audio_tower."),
    ("model.multi_modal_projector.linear_1.", "thinker.audio_tower.proj1."),
    ("model.multi_modal_projector.linear_2.", "thinker.audio_tower.proj2."),
    ("model.language_model.", "thinker.model."),
    ("lm_head.", "thinker.lm_head."),
    ("score.", "thinker.lm_head."),
)
"""Beginnings of names in the native layout, and in the original one. (an aligner has no vocabulary head)"""
_IGNORED_ENDS: Final = ("rotary_emb.inv_freq", "positional_embedding")
"""Some savers write what can be computed, too."""


def load_network(folder: Path, options: RuntimeOptions, kind: Kind) -> Qwen3Asr:
    """Read the checkpoint in `folder`, of either layout, and put it where `options` say.

    Raises OutOfMemory, and FailureError: model_is_aligner or model_no_aligner where it is of another
    kind, model_incomplete, model_unsupported, model_broken. What is returned has heard a silent second.
    """
    config = read_config(folder)
    require_kind(config, kind, folder.name)
    network = build_network(open_checkpoint(folder), config, options)
    _try(network, folder)
    return network


def build_network(checkpoint: Checkpoint, config: Qwen3Config, options: RuntimeOptions) -> Qwen3Asr:
    """Make a network of a checkpoint's weights. Raises OutOfMemory, FailureError."""
    runtime = choose_runtime(_with_dtype(options))
    apply_threads(runtime)
    with torch.inference_mode(), out_of_memory_raised():
        cache = WeightCache(_cache_path(options, checkpoint.folder, runtime))
        weights = WeightReader(checkpoint, runtime, cache, _renamer(config.layout))
        encoder, text = _encoder(weights, config, runtime), _text(weights, config, runtime)
        network = Qwen3Asr(config, runtime, encoder, text)
        if unknown := [name for name in weights.left if not _is_spare(name, config)]:
            raise checkpoint.broken(f"{len(unknown)} weights have no place, {unknown[0]} among them")
        cache.save()
    return network


def _with_dtype(options: RuntimeOptions) -> RuntimeOptions:
    """Choose the number format where nobody did: bfloat16 is what the checkpoints are stored in.

    float16 is too small for some of a large language model's states. 8-bit integers round its
    activations, which have outliers; they are left to processors that know nothing better.
    """
    if options.dtype is not None:
        return options
    is_cpu = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu")).type == "cpu"
    quick = "bfloat16" if not is_cpu or has_bfloat16() else INT8
    dtype = quick if quick != INT8 or is_exact() else "float32"
    return msgspec.structs.replace(options, dtype=dtype)


def _cache_path(options: RuntimeOptions, folder: Path, runtime: Runtime) -> Path | None:
    """Return where quantised weights are kept; others are in the checkpoint as they are needed."""
    formats = runtime.formats
    form = f"qwen3 {formats.name} {formats.encoder}"
    return cache_path(options.cache_folder, folder, form) if formats.is_quantised else None


def _renamer(layout: Layout) -> Callable[[str], str]:
    """Return what turns native names into those of a layout."""
    if layout is Layout.NATIVE:
        return lambda name: name

    def rename(name: str) -> str:
        ours, theirs = next(pair for pair in _ORIGINAL_NAMES if name.startswith(pair[0]))
        return theirs + name.removeprefix(ours)

    return rename


def _is_spare(name: str, config: Qwen3Config) -> bool:
    """Say whether a weight that was not asked for does no harm: a second copy, or a table of constants."""
    is_second_head = config.text.is_tied and name.endswith("lm_head.weight")
    return is_second_head or name.endswith(_IGNORED_ENDS)


def _encoder(weights: WeightReader, config: Qwen3Config, runtime: Runtime) -> AudioEncoder:
    dims, kind, name = config.audio, runtime.formats.encoder, "model.audio_tower"
    # Convolutions in 8-bit integers would save little, and they hear first.
    conv_kind = runtime.formats.text if kind is torch.int8 else kind
    channels = (1, dims.num_channels, dims.num_channels, dims.num_channels)
    convs = [
        Conv2d(
            weights.take(f"{name}.conv2d{n}.weight", channels[n], channels[n - 1], 3, 3).to(conv_kind),
            weights.take(f"{name}.conv2d{n}.bias", channels[n]).to(conv_kind),
        )
        for n in (1, 2, 3)
    ]
    n_in = dims.num_channels * (NUM_MELS // 8)
    projector = "model.multi_modal_projector"
    return AudioEncoder(
        convs=convs,
        conv_out=weights.linear(f"{name}.conv_out", kind, dims.width, n_in, has_bias=False),
        positions=_sinusoids(TOKENS_PER_CHUNK, dims.width).to(runtime.device, conv_kind),
        blocks=[_encoder_block(weights, config, kind, f"{name}.layers.{n}") for n in range(dims.num_layers)],
        norm=weights.norm(f"{name}.ln_post", dims.width),
        project_in=weights.linear(f"{projector}.linear_1", kind, dims.width, dims.width),
        project_out=weights.linear(f"{projector}.linear_2", kind, dims.num_out, dims.width),
    )


def _encoder_block(weights: WeightReader, config: Qwen3Config, kind: torch.dtype, name: str) -> EncoderBlock:
    dims = config.audio
    width, own = dims.width, f"{name}.self_attn"
    parts = [(f"{own}.{part}_proj", width) for part in ("q", "k", "v")]
    bias = torch.cat([weights.take(f"{part}.bias", width) for part, _ in parts])
    return EncoderBlock(
        attn_norm=weights.norm(f"{name}.self_attn_layer_norm", width),
        qkv=weights.stack(f"{own}.qkv", kind, parts, width, bias),
        out=weights.linear(f"{own}.out_proj", kind, width, width),
        mlp_norm=weights.norm(f"{name}.final_layer_norm", width),
        mlp_in=weights.linear(f"{name}.fc1", kind, dims.num_hidden, width),
        mlp_out=weights.linear(f"{name}.fc2", kind, width, dims.num_hidden),
        num_heads=dims.num_heads,
    )


def _text(weights: WeightReader, config: Qwen3Config, runtime: Runtime) -> TextModel:
    dims, name, kind = config.text, "model.language_model", _text_kind(runtime)
    embedding = weights.embedding(f"{name}.embed_tokens.weight", dims.num_vocab, dims.width)
    return TextModel(
        embedding=embedding,
        blocks=[_decoder_block(weights, config, kind, f"{name}.layers.{n}") for n in range(dims.num_layers)],
        norm=RMSNorm(weights.take(f"{name}.norm.weight", dims.width), dims.norm_eps),
        head=_head(weights, config, runtime, embedding),
    )


def _text_kind(runtime: Runtime) -> torch.dtype:
    """Return what the text model's projections are made of."""
    return torch.int8 if runtime.formats.is_quantised else runtime.formats.text


def _head(weights: WeightReader, config: Qwen3Config, runtime: Runtime, embedding: Tensor) -> Projection:
    """Return the way out; an aligner's is small and decides about places, so it is never quantised."""
    dims, kind = config.text, _text_kind(runtime)
    if config.kind is Kind.ALIGNER:
        # How many places there are the head itself says: published files were seen to state another number.
        num_labels = weights.num_rows("score.weight")
        return weights.linear("score", runtime.formats.text, num_labels, dims.width, has_bias=False)
    if dims.is_tied:
        return weights.projection("lm_head", kind, lambda: embedding, None)
    return weights.linear("lm_head", kind, dims.num_vocab, dims.width, has_bias=False)


def _decoder_block(weights: WeightReader, config: Qwen3Config, kind: torch.dtype, name: str) -> DecoderBlock:
    dims, own, mlp = config.text, f"{name}.self_attn", f"{name}.mlp"
    n_q, n_kv = dims.num_heads * dims.head_dim, dims.num_kv_heads * dims.head_dim
    parts = [(f"{own}.q_proj", n_q), (f"{own}.k_proj", n_kv), (f"{own}.v_proj", n_kv)]
    gate_up = [(f"{mlp}.{part}_proj", dims.num_hidden) for part in ("gate", "up")]

    def norm(part: str, width: int) -> RMSNorm:
        return RMSNorm(weights.take(f"{part}.weight", width), dims.norm_eps)

    return DecoderBlock(
        attn_norm=norm(f"{name}.input_layernorm", dims.width),
        qkv=weights.stack(f"{own}.qkv", kind, parts, dims.width),
        q_norm=norm(f"{own}.q_norm", dims.head_dim),
        k_norm=norm(f"{own}.k_norm", dims.head_dim),
        out=weights.linear(f"{own}.o_proj", kind, dims.width, n_q, has_bias=False),
        mlp_norm=norm(f"{name}.post_attention_layernorm", dims.width),
        gate_up=weights.stack(f"{mlp}.gate_up", kind, gate_up, dims.width),
        down=weights.linear(f"{mlp}.down_proj", kind, dims.width, dims.num_hidden, has_bias=False),
        num_heads=dims.num_heads,
        num_kv_heads=dims.num_kv_heads,
    )


def _sinusoids(length: int, width: int) -> Tensor:
    """Return (length, width) float32: sines, then cosines, of falling frequencies (Vaswani et al. 2017)."""
    half = width // 2
    scales = torch.exp(-math.log(_MAX_TIMESCALE) / (half - 1) * torch.arange(half).float())
    angles = torch.arange(length)[:, None] * scales[None, :]
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def _try(network: Qwen3Asr, folder: Path) -> None:
    """Let the network hear a silent second, so that one that cannot work fails here and says why.

    Raises FailureError, OutOfMemory.
    """
    (window,) = log_mel_windows(torch.zeros(SAMPLE_RATE_HZ), network.config.audio.window_frames)
    cache = network.new_cache(1)
    row = cache.allocate()
    try:
        states = network.read(cache, row, network.encode(window))
        is_sound = bool(network.head(states[-1:]).isfinite().all())
    except RuntimeError as error:
        raise broken(folder, f"a silent second does not run: {error}") from error
    if not is_sound:
        raise broken(folder, "a silent second gives numbers that are none")
