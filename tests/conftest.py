"""What every test may ask for: the models on disk and the wider speech set."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.config import data_folder

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")


def _model(key: str) -> Path:
    for root in (os.environ.get("JAMAK_TEST_MODELS"), data_folder() / "models"):
        if root and (Path(root) / key / "config.json").is_file():
            return Path(root) / key
    pytest.skip(f"{key} is not on disk: `make setup` fetches it")


@pytest.fixture(scope="session")
def whisper_base() -> Path:
    """The folder of the default model."""
    return _model("whisper-base")


@pytest.fixture(scope="session")
def whisper_tiny_en() -> Path:
    """The folder of the small English model."""
    return _model("whisper-tiny.en")


@pytest.fixture(scope="session")
def speech() -> Path:
    """The folder of the wider speech set."""
    folder = os.environ.get("JAMAK_SPEECH_DIR")
    if not folder:
        pytest.skip("JAMAK_SPEECH_DIR is not set")
    return Path(folder)
