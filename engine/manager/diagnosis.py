"""What to paste into a bug report: versions, machine, folders; nothing private but the paths."""

from __future__ import annotations

from collections.abc import Iterator

from engine import facts
from engine.config import EngineConfig


def machine_facts(config: EngineConfig) -> Iterator[tuple[str, str]]:
    """Yield (name, value) lines in reading order."""
    yield from facts.machine_facts()
    yield "models folder", config.models_folder
    yield "cache folder", config.cache_folder
    yield "log folder", config.log_folder
    yield "device asked for", config.device or "automatic"
