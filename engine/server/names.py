"""What models are called at the door: their keys, and OpenAI's names for those who know no others; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

from engine.protocol.transcript import ModelInfo, ModelPhase
from engine.server.errors import ApiError

OPENAI_NAMES: Final = (
    "whisper-1",
    "gpt-4o-transcribe",
    "gpt-4o-mini-transcribe",
    "gpt-transcribe",
)
"""Stand for the server's own choice, so that programs made for OpenAI need no other change."""


@dataclass(frozen=True)
class Named:
    """A model that can be asked for now."""

    id: str
    model: str
    """What the engine calls it (`Options.model`): never anything that a caller wrote."""
    created: int
    """Unix seconds."""

    def body(self) -> dict[str, Any]:
        """Return OpenAI's model object."""
        return {"id": self.id, "object": "model", "created": self.created, "owned_by": "jamak"}


def named_models(known: Sequence[ModelInfo], chosen: str) -> list[Named]:
    """Return the models on this computer and, first of them, the one that is `chosen`, if it is here."""
    found = [
        Named(PurePath(one.folder or one.key).name, one.key, _created(one.folder))
        for one in known
        if one.phase is ModelPhase.INSTALLED and one.is_runnable
    ]
    if PurePath(chosen).is_absolute() and all(one.model != chosen for one in found):
        found.append(Named(PurePath(chosen).name, chosen, _created(chosen)))
    return sorted(found, key=lambda one: one.model != chosen)


def find_model(models: Sequence[Named], asked: str, chosen: str) -> Named:
    """Return the model that is `asked` for by one of its names. Raises ApiError."""
    if asked in OPENAI_NAMES:
        for one in models:
            if one.model == chosen:
                return one
    for one in models:
        if one.id == asked:
            return one
    raise ApiError(
        404,
        f"The model “{asked[:200]}” is not on this computer; GET /v1/models lists those that are.",
        code="model_not_found",
        param="model",
    )


def _created(folder: str | None) -> int:
    try:
        return int(Path(folder or "").stat().st_mtime)
    except OSError:
        return 0
