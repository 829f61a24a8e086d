"""Reads the small files of a checkpoint, and none that is larger than such a file ever is. Torch-free."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

MAX_CONFIG_BYTES: Final = 32 * 1024 * 1024
"""Index files of the largest sharded models stay below 10 MB."""
MAX_VOCABULARY_BYTES: Final = 64 * 1024 * 1024


def read_text(path: Path, max_bytes: int) -> str:
    """Return what a file says in UTF-8. Raises OSError, ValueError where it is too large or no text."""
    if path.stat().st_size > max_bytes:
        raise ValueError(f"{path.name} is larger than {max_bytes} bytes")
    return path.read_text(encoding="utf-8")


def read_object(path: Path, max_bytes: int) -> dict[str, Any]:
    """Return the object that a JSON file holds. Raises OSError, ValueError."""
    value = json.loads(read_text(path, max_bytes))
    if not isinstance(value, dict):
        raise ValueError(f"{path.name} does not hold an object")
    return value
