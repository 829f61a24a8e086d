"""The Whisper network: audio states from log-mel, and tokens for many rows at once.

Parts are named as in the reference implementation (github.com/openai/whisper).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from engine.adapters.base import RuntimeOptions
from engine.adapters.kv import KVCache
from engine.adapters.whisper.config import WhisperConfig


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one forward pass of the decoder gives; valid until the next pass is only `logits`' storage."""

    logits: Tensor
    """(asked-for positions, vocabulary), float32, rows in the order they were passed."""
    attention: Tensor | None
    """(tokens of all rows in order, alignment heads, frames): cross-attention weights, each summing to 1."""


class Whisper:
    """A loaded network. Which other rows share a pass does not change a row's numbers."""

    config: WhisperConfig
    device: torch.device
    dtype: torch.dtype

    def new_cache(self, num_slots: int) -> KVCache:
        """Return an empty pool for this network. Raises OutOfMemory."""
        raise NotImplementedError

    def encode(self, mel: Tensor) -> Tensor:
        """Return audio states, (batch, 1500, width), of `mel`, (batch, mels, 3000). Raises OutOfMemory."""
        raise NotImplementedError

    def listen(self, cache: KVCache, rows: Sequence[int], states: Tensor) -> None:
        """Let `rows` attend to `states`, (rows, 1500, width): fills their cross-attention.

        Raises OutOfMemory.
        """
        raise NotImplementedError

    def prefill(
        self,
        cache: KVCache,
        rows: Sequence[int],
        prompts: Sequence[Sequence[int]],
        *,
        logits_at: Sequence[Sequence[int]] | None = None,
        with_attention: bool = False,
    ) -> Decoded:
        """Append `prompts`, of any lengths ≥ 1, to `rows` and return logits.

        `logits_at` names positions within each prompt, negative ones from its end; without it there
        is one row of logits each: the last position's. Raises OutOfMemory; ValueError where a row's
        tokens exceed `n_text_ctx`.
        """
        raise NotImplementedError

    def step(
        self, cache: KVCache, rows: Sequence[int], tokens: Sequence[int], *, with_attention: bool = False
    ) -> Decoded:
        """Append one token to each of `rows`; logits are (rows, vocabulary). Raises as `prefill`."""
        raise NotImplementedError


def load_whisper(folder: Path, runtime: RuntimeOptions) -> Whisper:
    """Read the checkpoint in `folder` and put it where `runtime` says. Raises FailureError."""
    raise NotImplementedError
