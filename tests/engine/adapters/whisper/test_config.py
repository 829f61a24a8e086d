"""Sizes and special ids are taken from the checkpoint's own files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.adapters.checkpoint import open_checkpoint
from engine.adapters.whisper.config import Dimensions, read_config
from engine.protocol.failures import FailureError, FailureKind
from tests.helpers.checkpoints import ctranslate2_variables, write_ctranslate2_folder, write_large_v3_shaped

DIMENSIONS = Dimensions(128, 1500, 64, 2, 2, 51_866, 448, 64, 2, 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_large_v3_shaped(tmp_path / "large-v3")


def change(folder: Path, file: str, **changes: object) -> None:
    path = folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_both_kinds_of_folder_say_the_same(folder: Path, tmp_path: Path) -> None:
    config = read_config(open_checkpoint(folder))
    assert config.dims == DIMENSIONS
    assert config.alignment_heads == ((1, 0), (1, 1))
    assert config.suppress_ids == (1, 2, 7, 50_258)
    assert config.suppress_ids_begin == (220, 50_257)
    assert config.language_ids == (50_259, 50_358)
    assert config.is_multilingual
    other = write_ctranslate2_folder(tmp_path / "ctranslate2", ctranslate2_variables(folder))
    assert read_config(open_checkpoint(other)) == config


@pytest.mark.parametrize("heads", [None, [], [[25, 3], [1, 0]]])
def test_without_usable_alignment_heads_the_upper_half_of_the_layers_aligns(
    folder: Path, heads: object
) -> None:
    change(folder, "generation_config.json", alignment_heads=heads)
    assert read_config(open_checkpoint(folder)).alignment_heads == ((1, 0), (1, 1))


def test_ids_may_stand_in_the_older_place(folder: Path) -> None:
    (folder / "generation_config.json").unlink()
    change(folder, "config.json", suppress_tokens=[-1, 5], begin_suppress_tokens=None)
    config = read_config(open_checkpoint(folder))
    assert (config.suppress_ids, config.suppress_ids_begin, config.language_ids) == ((5,), (), ())


@pytest.mark.parametrize("heads", [0, 3, -2, "many", None])
def test_a_number_of_heads_that_cannot_be_is_refused(folder: Path, heads: object) -> None:
    change(folder, "config.json", decoder_attention_heads=heads)
    with pytest.raises(FailureError) as caught:
        read_config(open_checkpoint(folder))
    assert caught.value.failure.kind is FailureKind.MODEL_BROKEN


@pytest.mark.weights
def test_the_default_model_says_what_it_is(whisper_base: Path) -> None:
    config = read_config(open_checkpoint(whisper_base))
    assert config.dims == Dimensions(80, 1500, 512, 8, 6, 51_865, 448, 512, 8, 6)
    assert config.alignment_heads[0] == (3, 1)
    assert len(config.language_ids) == 99


@pytest.mark.weights
def test_the_english_model_is_not_multilingual(whisper_tiny_en: Path) -> None:
    config = read_config(open_checkpoint(whisper_tiny_en))
    assert config.dims.n_vocab == 51_864
    assert not config.is_multilingual
