"""Makes of a model of ours what each peer reads, so that all of them run on the same weights.

Made once, under the cache folder: a checkpoint of OpenAI's program, a folder of transformers, and a file
of whisper.cpp in 16-bit floats, as that project publishes base. (ggml's layout: github.com/ggml-org/
whisper.cpp, models/README.md)
"""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors.torch import save_file
from torch import Tensor

from engine.adapters.checkpoint import open_checkpoint
from engine.adapters.whisper.config import WhisperConfig, read_config
from engine.adapters.whisper.features import mel_filters
from engine.adapters.whisper.vocabulary import Vocabulary, read_vocabulary
from engine.config import cache_folder

_GGML_MAGIC = 0x67676D6C
_FLOAT32, _FLOAT16 = 0, 1


class Weights(Enum):
    """In which form a peer wants them."""

    CTRANSLATE2 = auto()
    OPENAI = auto()
    TRANSFORMERS = auto()
    GGML = auto()


def prepare_weights(kind: Weights, model_folder: Path) -> Path:
    """Return where the weights of `model_folder` lie in that form; they are made if they are not there."""
    if kind is Weights.CTRANSLATE2:
        if not (model_folder / "model.bin").is_file():
            raise RuntimeError(
                f"faster-whisper reads CTranslate2 folders, which {model_folder.name} is none of"
            )
        return model_folder
    names = {Weights.OPENAI: "openai.pt", Weights.TRANSFORMERS: "transformers", Weights.GGML: "ggml.bin"}
    target = cache_folder() / "bench-peers" / model_folder.name / names[kind]
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name("unfinished-" + target.name)
        {Weights.OPENAI: _write_openai, Weights.TRANSFORMERS: _write_transformers, Weights.GGML: _write_ggml}[
            kind
        ](model_folder, unfinished)
        unfinished.rename(target)
    return target


def _write_openai(folder: Path, target: Path) -> None:
    config = read_config(open_checkpoint(folder))
    dims = {name: getattr(config.dims, name) for name in config.dims.__slots__}
    torch.save({"dims": dims, "model_state_dict": dict(_openai_weights(folder))}, target)


def _openai_weights(folder: Path) -> Iterator[tuple[str, Tensor]]:
    """Yield each weight under OpenAI's name for it."""
    for name, tensor in open_checkpoint(folder).tensors.items():
        if name != "proj_out.weight":
            yield openai_name(name), tensor


def openai_name(name: str) -> str:
    """Return OpenAI's name for what Hugging Face calls `name`."""
    for pattern, replacement in (
        (r"^model\.", ""),
        (r"\.layers\.", ".blocks."),
        (r"self_attn_layer_norm", "attn_ln"),
        (r"encoder_attn_layer_norm", "cross_attn_ln"),
        (r"final_layer_norm", "mlp_ln"),
        (r"self_attn\.", "attn."),
        (r"encoder_attn\.", "cross_attn."),
        (r"q_proj", "query"),
        (r"k_proj", "key"),
        (r"v_proj", "value"),
        (r"out_proj", "out"),
        (r"fc1", "mlp.0"),
        (r"fc2", "mlp.2"),
        (r"^encoder\.layer_norm", "encoder.ln_post"),
        (r"^decoder\.layer_norm", "decoder.ln"),
        (r"embed_tokens", "token_embedding"),
        (r"embed_positions\.weight", "positional_embedding"),
    ):
        name = re.sub(pattern, replacement, name)
    return name


def _write_ggml(folder: Path, target: Path) -> None:
    config, vocabulary = read_config(open_checkpoint(folder)), read_vocabulary(folder)
    with target.open("wb") as file:
        _write_ggml_head(file, config, vocabulary)
        for name, tensor in _openai_weights(folder):
            _write_ggml_tensor(file, name, tensor)


def _write_ggml_head(file: BinaryIO, config: WhisperConfig, vocabulary: Vocabulary) -> None:
    dims = config.dims
    sizes = (dims.n_vocab, dims.n_audio_ctx, dims.n_audio_state, dims.n_audio_head, dims.n_audio_layer)
    sizes += (dims.n_text_ctx, dims.n_text_state, dims.n_text_head, dims.n_text_layer, dims.n_mels)
    file.write(struct.pack("<I11i", _GGML_MAGIC, *sizes, _FLOAT16))
    filters = mel_filters(dims.n_mels).contiguous()
    file.write(struct.pack("<2i", *filters.shape) + filters.numpy().tobytes())
    pieces = vocabulary.pieces[: vocabulary.special.end]
    file.write(struct.pack("<i", len(pieces)))
    for piece in pieces:
        file.write(struct.pack("<i", len(piece)) + piece)


def _write_ggml_tensor(file: BinaryIO, name: str, tensor: Tensor) -> None:
    is_exact = tensor.ndim < 2 or name.endswith("positional_embedding")
    if name in ("encoder.conv1.bias", "encoder.conv2.bias"):
        tensor = tensor.reshape(-1, 1)
    data = (tensor.float() if is_exact else tensor.half()).contiguous().numpy()
    encoded = name.encode()
    kind = _FLOAT32 if is_exact else _FLOAT16
    file.write(struct.pack(f"<3i{data.ndim}i", data.ndim, len(encoded), kind, *data.shape[::-1]))
    file.write(encoded + data.tobytes())


def _write_transformers(folder: Path, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    checkpoint = open_checkpoint(folder)
    config, special = read_config(checkpoint), read_vocabulary(folder).special
    weights = {name: tensor.float().contiguous() for name, tensor in checkpoint.tensors.items()}
    weights.pop("proj_out.weight", None)
    save_file(weights, target / "model.safetensors", {"format": "pt"})
    shutil.copy(folder / "tokenizer.json", target)
    dims = config.dims
    common = {
        "decoder_start_token_id": special.start,
        "bos_token_id": special.end,
        "eos_token_id": special.end,
        "pad_token_id": special.end,
    }
    network: dict[str, Any] = {
        "architectures": ["WhisperForConditionalGeneration"],
        "model_type": "whisper",
        "vocab_size": dims.n_vocab,
        "num_mel_bins": dims.n_mels,
        "d_model": dims.n_text_state,
        "encoder_layers": dims.n_audio_layer,
        "decoder_layers": dims.n_text_layer,
        "encoder_attention_heads": dims.n_audio_head,
        "decoder_attention_heads": dims.n_text_head,
        "encoder_ffn_dim": 4 * dims.n_audio_state,
        "decoder_ffn_dim": 4 * dims.n_text_state,
        "max_source_positions": dims.n_audio_ctx,
        "max_target_positions": dims.n_text_ctx,
        **common,
    }
    is_multilingual = config.is_multilingual
    generation: dict[str, Any] = {
        "alignment_heads": config.alignment_heads,
        "begin_suppress_tokens": config.suppress_ids_begin,
        "suppress_tokens": config.suppress_ids,
        "is_multilingual": is_multilingual,
        "max_initial_timestamp_index": 50,
        "max_length": dims.n_text_ctx,
        "no_timestamps_token_id": special.no_timestamps,
        "prev_sot_token_id": special.previous,
        "return_timestamps": False,
        **common,
    }
    if is_multilingual:
        generation["lang_to_id"] = {f"<|{code}|>": id_ for code, id_ in special.languages.items()}
        generation["task_to_id"] = {"transcribe": special.transcribe, "translate": special.translate}
    contents = {
        "config.json": network,
        "generation_config.json": generation,
        "tokenizer_config.json": {
            "tokenizer_class": "WhisperTokenizer",
            "bos_token": "<|endoftext|>",
            "eos_token": "<|endoftext|>",
            "unk_token": "<|endoftext|>",
            "pad_token": "<|endoftext|>",
        },
        "preprocessor_config.json": {
            "feature_extractor_type": "WhisperFeatureExtractor",
            "feature_size": dims.n_mels,
            "hop_length": 160,
            "n_fft": 400,
            "chunk_length": 30,
            "sampling_rate": 16_000,
            "padding_value": 0.0,
            "return_attention_mask": False,
        },
    }
    for name, content in contents.items():
        (target / name).write_text(json.dumps(content), encoding="utf-8")
