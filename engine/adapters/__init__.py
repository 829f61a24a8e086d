"""The registry: which family of models reads a checkpoint, found by its architecture string.

Torch-free: the manager asks for limits and languages, the detokenizer for text, and only a
scheduler for the adapter itself.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

from engine.adapters.base import AsrAdapter, AsrText, ModelTraits, RuntimeOptions
from engine.protocol.failures import FailureError, FailureKind, failure

FAMILIES: Final = ("engine.adapters.whisper", "engine.adapters.qwen3_asr")
"""Modules that register a family when imported. A new family adds its own here."""


class Family(Protocol):
    """What a model family registers: three ways into its folder, of which only one needs torch."""

    def traits(self, folder: Path) -> ModelTraits:
        """Read limits and languages from the checkpoint's small files. Raises FailureError."""
        ...

    def text(self, folder: Path) -> AsrText:
        """Load the vocabulary; never imports torch. Raises FailureError."""
        ...

    def adapter(self, folder: Path, runtime: RuntimeOptions) -> AsrAdapter:
        """Load the network. Raises FailureError."""
        ...


_families: dict[str, Family] = {}


def register(architecture: str) -> Callable[[type[Family]], type[Family]]:
    """Register a family for checkpoints whose architecture string contains `architecture`."""

    def add(family: type[Family]) -> type[Family]:
        _families[architecture] = family()
        return family

    return add


def import_families(modules: tuple[str, ...] = FAMILIES) -> None:
    """Import the modules that register families; importing twice is harmless."""
    for module in modules:
        importlib.import_module(module)


def resolve_family(architectures: list[str], subject: str) -> tuple[str, Family]:
    """Return the registered key and family that one of `architectures` contains.

    Raises FailureError (model_broken) where none does: an unknown architecture is never taken for Whisper.
    """
    for architecture in architectures:
        for key, family in _families.items():
            if key in architecture:
                return key, family
    detail = f"architectures {architectures!r}, known: {sorted(_families)}"
    raise FailureError(failure(FailureKind.MODEL_BROKEN, subject, detail))


def family(key: str) -> Family:
    """Return the family registered as `key`."""
    return _families[key]


def read_architectures(folder: Path) -> list[str]:
    """Return the architecture strings of the checkpoint in `folder`.

    A CTranslate2 folder has none in its `config.json`; its `model.bin` names its specification,
    which is returned instead ("WhisperSpec"). Raises FailureError.
    """
    config_path = folder / "config.json"
    try:
        if not config_path.is_file():
            raise FailureError(failure(FailureKind.MODEL_MISSING, folder.name, str(folder)))
        config = json.loads(config_path.read_text(encoding="utf-8"))
        architectures = config.get("architectures") if isinstance(config, dict) else None
        if isinstance(architectures, list):
            return [str(name) for name in architectures]
        with (folder / "model.bin").open("rb") as file:
            head = file.read(256)
    except (OSError, ValueError) as error:
        raise FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, f"{folder}: {error}")) from error
    length = int.from_bytes(head[4:6], "little")
    return [head[6 : 6 + max(0, length - 1)].decode("ascii", "replace")]
