"""Versions and machine, as every process of ours can tell them: nothing private, nothing to load."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Final

PACKAGES: Final = (
    "torch",
    "transformers",
    "tokenizers",
    "onnxruntime",
    "silero-vad",
    "av",
    "numpy",
    "pyzmq",
    "msgspec",
    "huggingface_hub",
    "PySide6-Essentials",
    "PySide6-Addons",
    "sounddevice",
    "soundfile",
)
"""What the program stands on, and what a report of trouble should name."""


def machine_facts() -> Iterator[tuple[str, str]]:
    """Yield (name, value) lines in reading order."""
    frozen = " (frozen)" if getattr(sys, "frozen", False) else ""
    yield "jamak", version_of("jamak") + frozen
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", f"{platform.platform()} {platform.machine()}"
    yield "processors", str(os.cpu_count())
    for package in PACKAGES:
        yield package, version_of(package)


def version_of(package: str) -> str:
    """Return the installed version of `package`."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
