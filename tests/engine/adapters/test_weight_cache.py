"""Weights are made once, found again, and never believed when they are not the model's own."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.adapters.weight_cache import WeightCache, cache_path


class Recipe:
    """Makes a tensor and counts how often it had to."""

    def __init__(self, value: float = 1.0) -> None:
        self.value = value
        self.num_made = 0

    def __call__(self) -> Tensor:
        self.num_made += 1
        return torch.full((3, 1000), self.value)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "whisper-small-one"
    folder.mkdir()
    (folder / "model.bin").write_bytes(bytes(range(256)) * 2000)
    return folder


def path_of(tmp_path: Path, model: Path, form: str = "int8") -> Path:
    path = cache_path(str(tmp_path / "cache"), model, form)
    assert path is not None
    return path


def use(path: Path | None, recipe: Recipe) -> Tensor:
    cache = WeightCache(path)
    tensor = cache.take("layer.weight", recipe)
    cache.save()
    return tensor


def test_a_second_start_makes_nothing(tmp_path: Path, model: Path) -> None:
    recipe, path = Recipe(), path_of(tmp_path, model)
    assert torch.equal(use(path, recipe), use(path, recipe))
    assert recipe.num_made == 1


def test_other_weights_or_another_form_are_another_file(tmp_path: Path, model: Path) -> None:
    first = path_of(tmp_path, model)
    assert path_of(tmp_path, model, "bfloat16") != first
    status = (model / "model.bin").stat()
    (model / "model.bin").write_bytes(bytes(255 - number for number in range(256)) * 2000)
    os.utime(model / "model.bin", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path_of(tmp_path, model) != first


def test_without_a_folder_nothing_is_kept(model: Path) -> None:
    recipe, path = Recipe(), cache_path(None, model, "int8")
    use(path, recipe)
    use(path, recipe)
    assert (path, recipe.num_made) == (None, 2)


def test_a_damaged_file_is_made_anew(tmp_path: Path, model: Path) -> None:
    recipe, path = Recipe(), path_of(tmp_path, model)
    use(path, recipe)
    whole = path.read_bytes()
    for damaged in (whole[:-1] + b"\xff", whole[: len(whole) // 2], b"", b"no weights"):
        path.write_bytes(damaged)
        before = recipe.num_made
        assert torch.equal(use(path, recipe), torch.ones(3, 1000))
        assert recipe.num_made == before + 1
        assert path.read_bytes() == whole


def test_only_the_newest_file_of_a_model_is_kept(tmp_path: Path, model: Path) -> None:
    other = path_of(tmp_path, model).with_name("whisper-small-0123.safetensors")
    use(path_of(tmp_path, model, "old"), Recipe())
    use(other, Recipe())
    use(path_of(tmp_path, model, "new"), Recipe())
    assert sorted((tmp_path / "cache" / "weights").iterdir()) == sorted(
        [other, path_of(tmp_path, model, "new")]
    )


def test_a_folder_that_cannot_be_written_costs_only_time(tmp_path: Path, model: Path) -> None:
    recipe, path = Recipe(), path_of(tmp_path, model)
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert torch.equal(use(path, recipe), torch.ones(3, 1000))
    assert (tmp_path / "cache").is_file()


def test_a_table_to_look_up_is_the_same_and_made_anew_where_it_is_damaged(
    tmp_path: Path, model: Path
) -> None:
    recipe, path = Recipe(), path_of(tmp_path, model)
    for _ in range(2):
        cache = WeightCache(path)
        assert torch.equal(cache.look_up("table", recipe)[1], torch.ones(1000))
        cache.save()
    assert recipe.num_made == 1
    content = path.read_bytes()
    path.write_bytes(content[:-4] + b"\x00\x00\x00\x40")
    assert torch.equal(WeightCache(path).look_up("table", recipe), torch.ones(3, 1000))
    assert recipe.num_made == 2
