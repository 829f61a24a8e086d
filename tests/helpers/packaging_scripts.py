"""The scripts that build packages, as modules: a library has their folder's name, so it is no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent.parent.parent / "packaging"


def load(name: str) -> ModuleType:
    """Return `packaging/NAME.py`."""
    spec = importlib.util.spec_from_file_location(f"jamak_packaging_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
