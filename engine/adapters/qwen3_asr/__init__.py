"""Qwen3-ASR: a speech encoder in front of a text model, and its companion, the forced aligner.

Torch-free until an adapter is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.adapters import register
from engine.adapters.base import AsrAdapter, AsrText, ModelTraits, PrefixRollback, RuntimeOptions
from engine.adapters.qwen3_asr.config import Kind, read_config, require_kind
from engine.adapters.qwen3_asr.languages import codes
from engine.adapters.qwen3_asr.text import Qwen3Text
from engine.adapters.qwen3_asr.vocabulary import read_vocabulary
from engine.adapters.threads import let_idle_threads_sleep

MAX_CHUNK_S: Final = 50.0
"""It can hear twenty minutes at once; but memory grows with what is heard, and text should come soon."""


@register("Qwen3ASR")
class Qwen3Family:
    """Matches `Qwen3ASRForConditionalGeneration`, in both layouts."""

    def traits(self, folder: Path) -> ModelTraits:
        """Read the small files. Raises FailureError, also where the folder holds an aligner."""
        config = read_config(folder)
        require_kind(config, Kind.RECOGNISER, folder.name)
        return ModelTraits(
            family="Qwen3ASR",
            languages=codes(config.languages),
            can_translate=False,
            max_chunk_s=MAX_CHUNK_S,
            confirmation=PrefixRollback(),
        )

    def text(self, folder: Path) -> AsrText:
        """Load the vocabulary. Raises FailureError."""
        return Qwen3Text(read_vocabulary(folder, read_config(folder)))

    def adapter(self, folder: Path, runtime: RuntimeOptions) -> AsrAdapter:
        """Load the network. Raises FailureError."""
        let_idle_threads_sleep()
        from engine.adapters.qwen3_asr.adapter import load_adapter

        return load_adapter(folder, runtime)
