"""What a Whisper checkpoint says of itself: sizes of the network and the ids it treats specially.

Ids that are words of the vocabulary (start of transcript, timestamps, tasks) are not here: the
vocabulary itself is their home (`text.py`).
"""

from __future__ import annotations

from dataclasses import dataclass


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
