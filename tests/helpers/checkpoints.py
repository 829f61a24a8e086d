"""Makes small model folders of both kinds, whole or broken on purpose, and loads the reference network."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import soundfile
import torch
import transformers
from torch import Tensor
from transformers import GenerationConfig, WhisperConfig, WhisperForConditionalGeneration

from engine.adapters.checkpoint import open_checkpoint
from engine.adapters.ctranslate2 import DTYPES, hugging_face_names
from engine.adapters.whisper.config import Dimensions

LARGE_V3_VOCABULARY = 51_866
LARGE_V3_MELS = 128
transformers.utils.logging.disable_progress_bar()

SAMPLE = Path(__file__).parents[2] / "resources" / "sample.flac"


def recorded_speech() -> np.ndarray:
    """Return the ten-second sample that the program ships: recorded speech, 16 kHz mono float32."""
    samples, rate_hz = soundfile.read(SAMPLE, dtype="float32")
    assert rate_hz == 16_000 and samples.ndim == 1
    return np.asarray(samples)


def write_large_v3_shaped(
    folder: Path, *, width: int = 64, num_layers: int = 2, shard_size: str = "1GB"
) -> Path:
    """Write a Hugging Face folder with random weights and everything large-v3 differs in: mels and ids."""
    torch.manual_seed(3)
    config = WhisperConfig(
        vocab_size=LARGE_V3_VOCABULARY,
        num_mel_bins=LARGE_V3_MELS,
        d_model=width,
        encoder_layers=num_layers,
        decoder_layers=num_layers,
        encoder_attention_heads=width // 32,
        decoder_attention_heads=width // 32,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        init_std=0.1,
    )
    network = WhisperForConditionalGeneration(config)
    network.generation_config = GenerationConfig(
        alignment_heads=[[1, 0], [1, 1]],
        lang_to_id={"<|en|>": 50_259, "<|yue|>": 50_358},
        task_to_id={"translate": 50_359, "transcribe": 50_360},
        no_timestamps_token_id=50_364,
        suppress_tokens=[1, 2, 7, 50_258],
        begin_suppress_tokens=[220, 50_257],
    )
    network.save_pretrained(folder, max_shard_size=shard_size)
    return folder


def write_large_v3_tokenizer(base_folder: Path, folder: Path) -> None:
    """Write base's tokenizer as large-v3 has it: one language more, so all ids behind it are one higher."""
    tokenizer = json.loads((base_folder / "tokenizer.json").read_text(encoding="utf-8"))
    last_language = 50_357
    added = tokenizer["added_tokens"]
    [pattern] = [token for token in added if token["id"] == last_language]
    for token in added:
        token["id"] += token["id"] > last_language
    added.insert(added.index(pattern) + 1, {**pattern, "id": last_language + 1, "content": "<|yue|>"})
    text = json.dumps(tokenizer).replace("50363", "50364")
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")


def reference_network(folder: Path, dims: Dimensions) -> WhisperForConditionalGeneration:
    """Return transformers' network with the weights of `folder`, of either kind, every name accounted for."""
    config = WhisperConfig(
        vocab_size=dims.n_vocab,
        num_mel_bins=dims.n_mels,
        d_model=dims.n_text_state,
        encoder_layers=dims.n_audio_layer,
        decoder_layers=dims.n_text_layer,
        encoder_attention_heads=dims.n_audio_head,
        decoder_attention_heads=dims.n_text_head,
        encoder_ffn_dim=4 * dims.n_audio_state,
        decoder_ffn_dim=4 * dims.n_text_state,
    )
    weights = {name: weight.float() for name, weight in open_checkpoint(folder).tensors.items()}
    weights.setdefault("proj_out.weight", weights["model.decoder.embed_tokens.weight"])
    network = WhisperForConditionalGeneration(config).eval()
    network.load_state_dict(weights, strict=True)
    return network


def write_model_bin(
    path: Path,
    variables: Mapping[str, Tensor],
    aliases: Mapping[str, str] | None = None,
    *,
    version: int = 6,
    specification: str = "WhisperSpec",
) -> None:
    """Write CTranslate2's binary format."""
    parts = [struct.pack("<I", version), _text(specification), struct.pack("<II", 3, len(variables))]
    for name, tensor in variables.items():
        data = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
        parts.append(_text(name) + struct.pack(f"<B{tensor.ndim}I", tensor.ndim, *tensor.shape))
        parts.append(struct.pack("<BI", DTYPES.index(tensor.dtype), len(data)) + data)
    parts.append(struct.pack("<I", len(aliases or {})))
    parts += [_text(alias) + _text(name) for alias, name in (aliases or {}).items()]
    path.write_bytes(b"".join(parts))


def _text(text: str) -> bytes:
    data = text.encode() + b"\0"
    return struct.pack("<H", len(data)) + data


def ctranslate2_variables(hugging_face_folder: Path) -> dict[str, Tensor]:
    """Return a Hugging Face folder's weights as CTranslate2 would store them, fused ones stacked."""
    checkpoint = open_checkpoint(hugging_face_folder)
    num_layers = checkpoint.config["decoder_layers"]
    heads = torch.tensor(checkpoint.config["decoder_attention_heads"], dtype=torch.int16)
    variables = {"encoder/num_heads": heads, "decoder/num_heads": heads}
    for name in _ctranslate2_names(num_layers):
        pieces = hugging_face_names(name)
        if all(piece in checkpoint.tensors or piece.endswith("k_proj.bias") for piece in pieces):
            present = [checkpoint.tensors[piece] for piece in pieces if piece in checkpoint.tensors]
            zeros = torch.zeros_like(present[0])
            stacked = [checkpoint.tensors.get(piece, zeros) for piece in pieces]
            variables[name] = torch.cat(stacked)
    return variables


def _ctranslate2_names(num_layers: int) -> Sequence[str]:
    stems = ["encoder/conv1", "encoder/conv2", "encoder/layer_norm", "encoder/position_encodings"]
    stems += ["decoder/embeddings", "decoder/layer_norm", "decoder/position_encodings"]
    for index in range(num_layers):
        for part in ("encoder", "decoder"):
            layer = f"{part}/layer_{index}"
            stems += [f"{layer}/self_attention/{leaf}" for leaf in ("linear_0", "linear_1", "layer_norm")]
            stems += [f"{layer}/ffn/{leaf}" for leaf in ("linear_0", "linear_1", "layer_norm")]
        cross = f"decoder/layer_{index}/attention"
        stems += [f"{cross}/{leaf}" for leaf in ("linear_0", "linear_1", "linear_2", "layer_norm")]
    leaves = {
        "layer_norm": ("gamma", "beta"),
        "position_encodings": ("encodings",),
        "embeddings": ("weight",),
    }
    return [
        f"{stem}/{leaf}" for stem in stems for leaf in leaves.get(stem.split("/")[-1], ("weight", "bias"))
    ]


def write_ctranslate2_folder(folder: Path, variables: Mapping[str, Tensor]) -> Path:
    """Write a folder as faster-whisper downloads it."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "alignment_heads": [[1, 0], [1, 1]],
        "lang_ids": [50_259, 50_358],
        "suppress_ids": [1, 2, 7, 50_258],
        "suppress_ids_begin": [220, 50_257],
    }
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    aliases = {"decoder/projection/weight": "decoder/embeddings/weight"}
    write_model_bin(folder / "model.bin", variables, aliases)
    return folder
