"""Every family that is here is served, and found by its checkpoints' architecture."""

from __future__ import annotations

import pytest

from engine.adapters import FAMILIES, import_families, read_architectures, resolve_family
from engine.config import default_config
from tests.helpers.tiny_qwen3 import NATIVE


def test_an_engine_serves_all_families() -> None:
    assert default_config().families == FAMILIES


@pytest.mark.parametrize(
    ("architecture", "family"),
    [
        ("WhisperForConditionalGeneration", "Whisper"),
        ("WhisperSpec", "Whisper"),
        ("Qwen3ASRForConditionalGeneration", "Qwen3ASR"),
        # Refused with a sentence by the family, not unknown.
        ("Qwen3ASRForTokenClassification", "Qwen3ASR"),
    ],
)
def test_a_family_is_found_by_part_of_an_architecture(architecture: str, family: str) -> None:
    import_families()
    assert resolve_family([architecture], "model")[0] == family


def test_a_checkpoint_of_the_second_family_is_known_by_its_folder() -> None:
    import_families()
    assert resolve_family(read_architectures(NATIVE), "model")[0] == "Qwen3ASR"
