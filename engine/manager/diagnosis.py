"""What to paste into a bug report: versions, machine, folders; nothing private but the paths."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator
from importlib import metadata

from engine.config import EngineConfig

PACKAGES = (
    "jamak",
    "torch",
    "transformers",
    "tokenizers",
    "onnxruntime",
    "silero-vad",
    "av",
    "numpy",
    "pyzmq",
    "msgspec",
    "PySide6-Essentials",
    "sounddevice",
    "soundfile",
)


def machine_facts(config: EngineConfig) -> Iterator[tuple[str, str]]:
    """Yield (name, value) lines in reading order."""
    yield "system", platform.platform()
    yield "python", platform.python_version()
    yield "processors", str(os.cpu_count())
    for package in PACKAGES:
        yield package, _version(package)
    yield "models folder", config.models_folder
    yield "cache folder", config.cache_folder
    yield "log folder", config.log_folder
    yield "device asked for", config.device or "automatic"


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
