"""The Whisper family: OpenAI's models, their distillations and fine-tunes, in either folder format.

Torch-free until an adapter is asked for.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from engine.adapters import register
from engine.adapters.base import AsrAdapter, AsrText, ModelTraits, RuntimeOptions
from engine.adapters.threads import let_idle_threads_sleep
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import Vocabulary, read_vocabulary
from engine.protocol.failures import FailureError, FailureKind, failure

MAX_CHUNK_S: Final = 30.0
"""The window every Whisper was trained on."""
_THIRD_LANGUAGE: Final = "yue"
"""Only vocabularies of the third generation have it, and that came in one size with 32 layers."""
_LOWEST_LARGE_LAYER: Final = 7
"""Of its attention heads that follow the audio, as published; shortened ones have only lower layers."""


@register("Whisper")
class WhisperFamily:
    """Matches `WhisperForConditionalGeneration` and CTranslate2's `WhisperSpec`."""

    def traits(self, folder: Path) -> ModelTraits:
        """Read the languages from the vocabulary. Raises FailureError."""
        vocabulary = read_vocabulary(folder)
        return ModelTraits(
            family="Whisper",
            languages=tuple(vocabulary.special.languages) or ("en",),
            can_translate=vocabulary.is_multilingual and not _is_shortened(folder, vocabulary),
            max_chunk_s=MAX_CHUNK_S,
        )

    def text(self, folder: Path) -> AsrText:
        """Load the vocabulary. Raises FailureError."""
        return WhisperText(read_vocabulary(folder))

    def adapter(self, folder: Path, runtime: RuntimeOptions) -> AsrAdapter:
        """Load the network. Raises FailureError."""
        let_idle_threads_sleep()
        from engine.adapters.whisper.adapter import load_adapter

        return load_adapter(folder, runtime)


def _is_shortened(folder: Path, vocabulary: Vocabulary) -> bool:
    """Say whether most of the decoder was taken away (turbo, Distil-Whisper).

    What is left was trained again, on transcripts alone: asked to translate, it transcribes. CTranslate2's
    `config.json` has no sizes, but names heads by their layers. Raises FailureError.
    """
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if "decoder_layers" in config:
            return int(config["decoder_layers"]) < int(config["encoder_layers"])
        layers = [int(layer) for layer, _ in config.get("alignment_heads") or ()]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, f"{folder}: {error}")) from error
    is_third = _THIRD_LANGUAGE in vocabulary.special.languages
    return is_third and bool(layers) and max(layers) < _LOWEST_LARGE_LAYER
