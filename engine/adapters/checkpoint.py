"""Reads a model folder of either kind, Hugging Face or CTranslate2, without running anything in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import Tensor


class Tensors(Mapping[str, Tensor]):
    """The weights by their Hugging Face names; read from the mapped file when asked for, and not kept."""

    def __getitem__(self, name: str) -> Tensor:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        raise NotImplementedError

    def __len__(self) -> int:
        raise NotImplementedError

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a weight's shape without reading it. Raises KeyError."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """An open model folder."""

    folder: Path
    config: Mapping[str, Any]
    """`config.json`; for CTranslate2 with the head counts under their Hugging Face names added."""
    generation: Mapping[str, Any]
    """`generation_config.json`, empty where there is none."""
    tensors: Tensors


def open_checkpoint(folder: Path) -> Checkpoint:
    """Open `folder`: safetensors (one file or shards with an index) or CTranslate2's `model.bin`.

    Nothing is unpickled, and no size in a file is believed before it is checked against the file's own.
    Raises FailureError: model_missing where there is no model, model_broken with the reason in `detail`.
    """
    raise NotImplementedError
