"""What a Whisper checkpoint says of itself: sizes of the network and the ids it treats specially.

Ids that are words of the vocabulary (start of transcript, timestamps, tasks) are not here: the
vocabulary itself is their home (`text.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.adapters.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Dimensions:
    """Sizes of the network, named as in the reference implementation."""

    n_mels: int
    n_audio_ctx: int
    """Encoded frames of a window: 1500, each 0.02 s."""
    n_audio_state: int
    n_audio_head: int
    n_audio_layer: int
    n_vocab: int
    n_text_ctx: int
    """The most tokens a row can hold, prompt included: 448."""
    n_text_state: int
    n_text_head: int
    n_text_layer: int


@dataclass(frozen=True, slots=True)
class WhisperConfig:
    """Everything about a checkpoint that is not a weight and not its vocabulary."""

    dims: Dimensions
    alignment_heads: tuple[tuple[int, int], ...]
    """(layer, head) of the cross-attention that follows the audio, for word times."""
    suppress_ids: tuple[int, ...]
    """Never generated."""
    suppress_ids_begin: tuple[int, ...]
    """Not generated as the first token (blank, end of text)."""
    language_ids: tuple[int, ...]
    """Ids of the language tokens; meaningless where the model is not multilingual."""

    @property
    def is_multilingual(self) -> bool:
        """English-only vocabularies are one token shorter (51864), which is how the reference tells."""
        return self.dims.n_vocab >= 51_865


def read_config(checkpoint: Checkpoint) -> WhisperConfig:
    """Derive the record from shapes and the small files; raises FailureError where they make no sense.

    The keys are those of Hugging Face's `generation_config.json` (or its older home, `config.json`)
    and of CTranslate2's `config.json`.
    """
    try:
        dims = _dimensions(checkpoint)
        settings = {**checkpoint.config, **checkpoint.generation}
        languages = settings.get("lang_to_id")
        return WhisperConfig(
            dims=dims,
            alignment_heads=_alignment_heads(settings.get("alignment_heads"), dims),
            suppress_ids=_ids(settings, "suppress_ids", "suppress_tokens"),
            suppress_ids_begin=_ids(settings, "suppress_ids_begin", "begin_suppress_tokens"),
            language_ids=tuple(int(token) for token in languages.values())
            if isinstance(languages, dict)
            else _ids(settings, "lang_ids"),
        )
    except KeyError as error:
        raise checkpoint.broken(f"{error} is missing") from error
    except (TypeError, ValueError) as error:
        raise checkpoint.broken(str(error)) from error


def _dimensions(checkpoint: Checkpoint) -> Dimensions:
    shape = {name.removeprefix("model."): checkpoint.tensors.shape(name) for name in checkpoint.tensors}
    n_audio_state, n_mels, _ = shape["encoder.conv1.weight"]
    n_audio_ctx, _ = shape["encoder.embed_positions.weight"]
    n_vocab, n_text_state = shape["decoder.embed_tokens.weight"]
    n_text_ctx, _ = shape["decoder.embed_positions.weight"]
    dims = Dimensions(
        n_mels=n_mels,
        n_audio_ctx=n_audio_ctx,
        n_audio_state=n_audio_state,
        n_audio_head=int(checkpoint.config["encoder_attention_heads"]),
        n_audio_layer=sum(name.startswith("encoder.") and name.endswith("fc1.weight") for name in shape),
        n_vocab=n_vocab,
        n_text_ctx=n_text_ctx,
        n_text_state=n_text_state,
        n_text_head=int(checkpoint.config["decoder_attention_heads"]),
        n_text_layer=sum(name.startswith("decoder.") and name.endswith("fc1.weight") for name in shape),
    )
    for width, heads in ((n_audio_state, dims.n_audio_head), (n_text_state, dims.n_text_head)):
        if heads < 1 or width % heads:
            raise ValueError(f"{heads} attention heads do not divide {width}")
    return dims


def _ids(settings: Mapping[str, Any], *keys: str) -> tuple[int, ...]:
    """Return the ids under the first of `keys` that is there; -1 is a placeholder in some old files."""
    for key in keys:
        if settings.get(key) is not None:
            return tuple(int(token) for token in settings[key] if int(token) >= 0)
    return ()


def _alignment_heads(heads: Any, dims: Dimensions) -> tuple[tuple[int, int], ...]:
    """Return the given heads that exist; else all of the upper half of the layers, as the reference does.

    Distilled checkpoints were seen with the list of their teacher, whose layers they do not have.
    """
    given = [(int(layer), int(head)) for layer, head in heads or ()]
    existing = tuple(
        (layer, head)
        for layer, head in given
        if 0 <= layer < dims.n_text_layer and 0 <= head < dims.n_text_head
    )
    if existing and len(existing) == len(given):
        return existing
    upper_half = range(dims.n_text_layer // 2, dims.n_text_layer)
    return tuple((layer, head) for layer in upper_half for head in range(dims.n_text_head))
