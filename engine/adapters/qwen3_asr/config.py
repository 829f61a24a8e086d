"""What a Qwen3-ASR checkpoint says of itself, in either of its two layouts. Torch-free.

The native layout has `audio_config` and `text_config` side by side; the original repository keeps both
in `thinker_config`. Every value is checked: the reference program takes another model's defaults for
what it does not find, and then writes nonsense without a warning.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from pathlib import Path
from typing import Any, Final

from engine.adapters.small_files import MAX_CONFIG_BYTES, read_object
from engine.protocol.failures import FailureError, FailureKind, failure

log = logging.getLogger(__name__)

MODEL_TYPE: Final = "qwen3_asr"
CHUNK_FRAMES: Final = 100
"""One second of mel frames: what the convolutions see at once. Baked into the published processor."""
TOKENS_PER_CHUNK: Final = 13
NUM_MELS: Final = 128
USUAL_ROPE_THETA: Final = 1e6
_ALIGNER_ARCHITECTURE: Final = "Qwen3ASRForTokenClassification"
_ALIGNER_TYPE: Final = "qwen3_forced_aligner"


class Kind(Enum):
    """What a checkpoint is for."""

    RECOGNISER = auto()
    ALIGNER = auto()


class Layout(Enum):
    """How its files name things."""

    NATIVE = auto()
    ORIGINAL = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioDimensions:
    """Sizes of the encoder."""

    width: int
    num_layers: int
    num_heads: int
    num_hidden: int
    """Of the feed-forward part."""
    num_channels: int
    """Of the convolutions."""
    num_out: int
    """Width of what the projector gives: the text model's."""
    window_frames: int
    """Mel frames that see one another: 800, 8 seconds."""

    @property
    def window_tokens(self) -> int:
        return self.window_frames // CHUNK_FRAMES * TOKENS_PER_CHUNK


@dataclass(frozen=True, slots=True, kw_only=True)
class TextDimensions:
    """Sizes of the text model, a Qwen3."""

    width: int
    num_hidden: int
    num_layers: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    num_vocab: int
    max_tokens: int
    """Positions it was trained on."""
    rope_theta: float
    norm_eps: float
    is_tied: bool
    """The token embedding is also the way out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Qwen3Config:
    """Everything about a checkpoint that is not a weight and not its vocabulary."""

    kind: Kind
    layout: Layout
    audio: AudioDimensions
    text: TextDimensions
    audio_id: int
    """Stands in the prompt for one token of audio."""
    stop_ids: frozenset[int]
    timestamp_id: int | None
    """Of an aligner: the mark whose place in time is asked for."""
    segment_s: float
    """Of an aligner: how far apart the places in time are that it can name."""
    languages: tuple[str, ...]
    """Names the checkpoint lists; empty where it lists none."""


def read_config(folder: Path) -> Qwen3Config:
    """Read the small files in `folder`.

    Raises FailureError: model_missing where there is no checkpoint, model_unsupported where it is one that
    cannot be run, model_broken where the files make no sense.
    """
    config_path = folder / "config.json"
    if not config_path.is_file():
        raise FailureError(failure(FailureKind.MODEL_MISSING, folder.name, str(folder)))
    try:
        config = read_object(config_path, MAX_CONFIG_BYTES)
        return _parse(_Found(folder.name, config, _optional(folder / "generation_config.json")), folder)
    except KeyError as error:
        raise broken(folder, f"{error} is missing from config.json") from error
    except (OSError, TypeError, ValueError, AttributeError) as error:
        raise broken(folder, str(error)) from error


def require_kind(config: Qwen3Config, kind: Kind, name: str) -> None:
    """Raise FailureError where a recogniser was given for an aligner, or the other way round."""
    if config.kind is kind:
        return
    wrong = FailureKind.MODEL_IS_ALIGNER if kind is Kind.RECOGNISER else FailureKind.MODEL_NO_ALIGNER
    raise FailureError(failure(wrong, name, f"it is a {config.kind.name.lower()}"))


def broken(folder: Path, detail: str) -> FailureError:
    """Return the error for a checkpoint whose parts do not fit together."""
    return FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, f"{folder}: {detail}"))


def unsupported(name: str, detail: str) -> FailureError:
    """Return the error for a checkpoint that is whole and cannot be run here."""
    return FailureError(failure(FailureKind.MODEL_UNSUPPORTED, name, detail))


@dataclass(frozen=True, slots=True)
class _Found:
    """The small files as they are."""

    name: str
    config: Mapping[str, Any]
    generation: Mapping[str, Any]

    @property
    def is_original(self) -> bool:
        return "thinker_config" in self.config

    @property
    def inner(self) -> Mapping[str, Any]:
        """What holds the two parts' settings."""
        inner: Mapping[str, Any] = self.config["thinker_config"] if self.is_original else self.config
        return inner

    def setting(self, name: str) -> Any:
        """Return a setting that original checkpoints keep outside or inside; None where it is nowhere."""
        return self.inner[name] if name in self.inner else self.config.get(name)


def _parse(found: _Found, folder: Path) -> Qwen3Config:
    config, inner = found.config, found.inner
    if config.get("model_type") != MODEL_TYPE:
        raise unsupported(found.name, f"model_type is {config.get('model_type')!r}, not {MODEL_TYPE!r}")
    if "audio_config" not in inner or "text_config" not in inner:
        raise unsupported(found.name, "neither thinker_config nor audio_config and text_config")
    kind = _kind(found)
    audio = _audio_dimensions(found, inner["audio_config"])
    text = _text_dimensions(found, inner["text_config"])
    if audio.num_out != text.width:
        raise ValueError(f"the encoder gives {audio.num_out} numbers, the text model takes {text.width}")
    _check_features(found.name, folder)
    timestamp_id = found.setting("timestamp_token_id")
    return Qwen3Config(
        kind=kind,
        layout=Layout.ORIGINAL if found.is_original else Layout.NATIVE,
        audio=audio,
        text=text,
        audio_id=int(inner["audio_token_id"]),
        stop_ids=_stop_ids(found),
        timestamp_id=int(timestamp_id) if timestamp_id is not None else None,
        segment_s=_segment_ms(found, folder) / 1000.0,
        languages=tuple(str(name) for name in config.get("support_languages") or ()),
    )


def _kind(found: _Found) -> Kind:
    """Tell an aligner from a recogniser: the original files name the same architecture for both."""
    architectures = found.config.get("architectures") or ()
    is_aligner = (
        _ALIGNER_ARCHITECTURE in architectures
        or (found.is_original and found.inner.get("classify_num") is not None)
        or found.inner.get("model_type") == _ALIGNER_TYPE
    )
    return Kind.ALIGNER if is_aligner else Kind.RECOGNISER


def _audio_dimensions(found: _Found, audio: Mapping[str, Any]) -> AudioDimensions:
    wanted: Mapping[str, object] = {
        "num_mel_bins": NUM_MELS,
        "n_window": CHUNK_FRAMES // 2,
        "activation_function": "gelu",
        "scale_embedding": False,
    }
    _require(found.name, audio, wanted)
    dims = AudioDimensions(
        width=_count(audio["d_model"]),
        num_layers=_count(audio["encoder_layers"]),
        num_heads=_count(audio["encoder_attention_heads"]),
        num_hidden=_count(audio["encoder_ffn_dim"]),
        num_channels=_count(audio["downsample_hidden_size"]),
        num_out=_count(audio["output_dim"]),
        window_frames=_count(audio["n_window_infer"]),
    )
    if dims.window_frames % CHUNK_FRAMES:
        raise unsupported(found.name, f"n_window_infer is {dims.window_frames}, not whole seconds")
    if dims.width % dims.num_heads or dims.width % 2:
        raise ValueError(f"{dims.num_heads} attention heads do not divide {dims.width}")
    return dims


def _text_dimensions(found: _Found, text: Mapping[str, Any]) -> TextDimensions:
    _require(found.name, text, {"model_type": "qwen3", "hidden_act": "silu", "attention_bias": False})
    if text.get("use_sliding_window"):
        raise unsupported(found.name, "use_sliding_window is set")
    is_tied = text.get("tie_word_embeddings", found.setting("tie_word_embeddings"))
    dims = TextDimensions(
        width=_count(text["hidden_size"]),
        num_hidden=_count(text["intermediate_size"]),
        num_layers=_count(text["num_hidden_layers"]),
        num_heads=_count(text["num_attention_heads"]),
        num_kv_heads=_count(text["num_key_value_heads"]),
        head_dim=_count(text["head_dim"]),
        num_vocab=_count(text["vocab_size"]),
        max_tokens=_count(text["max_position_embeddings"]),
        rope_theta=_rope_theta(found, text),
        norm_eps=float(text["rms_norm_eps"]),
        # Where nothing is said, as in the reference: every published recogniser is.
        is_tied=is_tied is None or bool(is_tied),
    )
    if dims.num_heads % dims.num_kv_heads or dims.head_dim % 2:
        raise ValueError(f"{dims.num_kv_heads} key heads do not divide {dims.num_heads}")
    return dims


def _rope_theta(found: _Found, text: Mapping[str, Any]) -> float:
    """Return the base of the rotary positions: without it every text would be slightly wrong.

    The original files add sections for three coordinates (mrope), which are all equal for audio and text:
    then they are plain positions. Positions that are scaled are another model.
    """
    parameters = text.get("rope_parameters") or text.get("rope_scaling") or {}
    kind = parameters.get("rope_type", parameters.get("type", "default"))
    if kind != "default":
        raise unsupported(found.name, f"rope_type is {kind!r}")
    theta = parameters.get("rope_theta", text.get("rope_theta"))
    if theta is None:
        raise KeyError("rope_theta")
    if float(theta) != USUAL_ROPE_THETA:
        log.warning("rope_theta is %s; published checkpoints have %s", theta, USUAL_ROPE_THETA)
    return float(theta)


def _require(name: str, settings: Mapping[str, Any], wanted: Mapping[str, object]) -> None:
    """Raise FailureError where a setting is not the only value that the network here implements."""
    for key, value in wanted.items():
        if settings.get(key, value) != value:
            raise unsupported(name, f"{key} is {settings[key]!r}, not {value!r}")


def _check_features(name: str, folder: Path) -> None:
    """Raise FailureError where the checkpoint wants to hear something else than is computed here."""
    processor = _optional(folder / "processor_config.json").get("feature_extractor")
    features = processor or _optional(folder / "preprocessor_config.json")
    wanted = {"feature_size": NUM_MELS, "sampling_rate": 16_000, "n_fft": 400, "hop_length": 160}
    _require(name, features, wanted)


def _stop_ids(found: _Found) -> frozenset[int]:
    ids = found.generation.get("eos_token_id", found.setting("eos_token_id"))
    if ids is None:
        return frozenset()
    return frozenset(int(id_) for id_ in (ids if isinstance(ids, list) else [ids]))


def _segment_ms(found: _Found, folder: Path) -> float:
    value = found.setting("timestamp_segment_time")
    processor = _optional(folder / "processor_config.json")
    return float(value if value is not None else processor.get("timestamp_segment_time", 80))


def _count(value: Any) -> int:
    number = int(value)
    if number < 1 or number > 1 << 24:
        raise ValueError(f"{value!r} is no size")
    return number


def _optional(path: Path) -> dict[str, Any]:
    return read_object(path, MAX_CONFIG_BYTES) if path.is_file() else {}
