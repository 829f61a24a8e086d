"""Versions and machine, as every process of ours can tell them: nothing private, nothing to load."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from typing import Final

PACKAGES: Final = (
    "torch",
    "tokenizers",
    "onnxruntime",
    "av",
    "numpy",
    "pyzmq",
    "msgspec",
    "huggingface_hub",
    "PySide6-Essentials",
    "PySide6-Addons",
    "sounddevice",
)
"""What the program stands on, not what its tests do; all of it is in the packages, too."""


def machine_facts() -> Iterator[tuple[str, str]]:
    """Yield (name, value) lines in reading order."""
    frozen = " (frozen)" if getattr(sys, "frozen", False) else ""
    yield "jamak", version_of("jamak") + frozen
    yield "python", f"{platform.python_version()} ({platform.python_implementation()})"
    yield "system", f"{platform.platform()} {platform.machine()}"
    yield "processors", str(os.cpu_count())
    for package in PACKAGES:
        yield package, version_of(package)


def graphics_card() -> str:
    """Return name, driver and memory of the NVIDIA cards, as their own tool tells them; takes a second."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return "none found (there is no nvidia-smi)"
    asked = [tool, "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"nvidia-smi does not answer ({type(error).__name__})"
    lines = [line.strip() for line in (told.stdout or told.stderr).splitlines() if line.strip()]
    return "; ".join(lines) if lines else "none found"


def version_of(package: str) -> str:
    """Return the installed version of `package`."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"
