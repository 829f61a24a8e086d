"""What a machine can bear is told before anything is fetched."""

from __future__ import annotations

from engine.adapters.catalog import CATALOG
from engine.manager.capacity import needed_bytes


def test_every_model_of_the_catalogue_says_what_it_takes() -> None:
    needed = {model.key: needed_bytes(model.num_parameters) for model in CATALOG}
    assert needed["whisper-base"] == 996_000_000
    for model in CATALOG:
        need = needed[model.key]
        assert need is not None
        # The weights are held at least once, in no more bytes than the file has and no fewer than a quarter.
        assert model.download_bytes // 4 < need
    assert 3.5e9 < (needed["qwen3-asr-0.6b"] or 0) < 4.0e9
    assert 8.5e9 < (needed["qwen3-asr-1.7b"] or 0) < 9.0e9


def test_a_companion_only_adds_to_what_its_model_takes() -> None:
    assert needed_bytes(917_772_980, is_companion=True) == 1_835_545_960


def test_of_an_unknown_size_nothing_is_claimed() -> None:
    assert needed_bytes(0) is None
