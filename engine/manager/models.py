"""The folder of models: which of the known ones are here and whole, and where a job finds its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from engine.protocol.transcript import ModelInfo


class ModelStore:
    """Models below one folder, each in a folder named by its catalogue key. Any thread may call it."""

    def __init__(self, folder: Path) -> None: ...

    def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the catalogue, then what else lies in the folder; quick: reads names, sizes and times."""
        raise NotImplementedError

    def resolve(self, model: str) -> Path:
        """Return the folder of a catalogue key or of an absolute path.

        Raises FailureError (model_unknown, model_missing).
        """
        raise NotImplementedError

    def verify(self, model: str, on_progress: Callable[[int, int], None]) -> None:
        """Hash every file of an installed model. Raises FailureError (model_missing, hash_mismatch).

        `on_progress(done_bytes, total_bytes)` may raise to stop it.
        """
        raise NotImplementedError

    def remove(self, model: str) -> None:
        """Delete a catalogue model and what was fetched of it; never a folder of the user's."""
        raise NotImplementedError

    def free_bytes(self) -> int:
        """Return the room left where downloads are kept."""
        raise NotImplementedError
