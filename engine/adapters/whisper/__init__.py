"""The Whisper family: OpenAI's models, their distillations and fine-tunes, in either folder format.

Torch-free until an adapter is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.adapters import register
from engine.adapters.base import AsrAdapter, AsrText, ModelTraits, RuntimeOptions
from engine.adapters.threads import let_idle_threads_sleep
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import read_vocabulary

MAX_CHUNK_S: Final = 30.0
"""The window every Whisper was trained on."""


@register("Whisper")
class WhisperFamily:
    """Matches `WhisperForConditionalGeneration` and CTranslate2's `WhisperSpec`."""

    def traits(self, folder: Path) -> ModelTraits:
        """Read the languages from the vocabulary. Raises FailureError."""
        vocabulary = read_vocabulary(folder)
        return ModelTraits(
            family="Whisper",
            languages=tuple(vocabulary.special.languages) or ("en",),
            can_translate=vocabulary.is_multilingual,
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
