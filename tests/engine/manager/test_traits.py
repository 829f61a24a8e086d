"""What a checkpoint can do is read once, and again when its folder has changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine import adapters
from engine.adapters.base import AsrAdapter, AsrText, ModelTraits, RuntimeOptions
from engine.manager.traits import traits_of
from engine.protocol.failures import FailureError, FailureKind

ARCHITECTURE = "CountedForThisTest"
CONFIG = f'{{"architectures": ["{ARCHITECTURE}"]}}'


class Counted:
    """A family that notes how often it was asked."""

    def __init__(self) -> None:
        self.num_reads = 0

    def traits(self, folder: Path) -> ModelTraits:
        self.num_reads += 1
        languages = ((folder / "languages.txt").read_text().strip(),)
        return ModelTraits(family="counted", languages=languages, can_translate=False, max_chunk_s=30.0)

    def text(self, folder: Path) -> AsrText:
        raise NotImplementedError

    def adapter(self, folder: Path, runtime: RuntimeOptions) -> AsrAdapter:
        raise NotImplementedError


@pytest.fixture
def family(monkeypatch: pytest.MonkeyPatch) -> Counted:
    family = Counted()
    monkeypatch.setitem(adapters._families, ARCHITECTURE, family)
    return family


@pytest.fixture
def folder(tmp_path: Path, family: Counted) -> Path:
    (tmp_path / "config.json").write_text(CONFIG)
    (tmp_path / "languages.txt").write_text("ko")
    return tmp_path


def test_an_unchanged_folder_is_read_once(folder: Path, family: Counted) -> None:
    assert traits_of(folder) == traits_of(folder)
    assert traits_of(folder)[0] == ARCHITECTURE
    assert family.num_reads == 1


def test_a_file_of_the_same_size_that_was_changed_is_seen(folder: Path) -> None:
    assert traits_of(folder)[1].languages == ("ko",)
    path = folder / "languages.txt"
    path.write_text("ja")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    assert traits_of(folder)[1].languages == ("ja",)


def test_a_link_to_nowhere_is_no_file(folder: Path) -> None:
    (folder / "weights").symlink_to(folder / "nowhere")
    assert traits_of(folder)[1].languages == ("ko",)


def test_a_folder_without_a_checkpoint_fails_each_time(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(FailureError) as caught:
            traits_of(tmp_path / "nothing")
        assert caught.value.failure.kind is FailureKind.MODEL_MISSING
