"""Choices are kept whole, and a damaged file costs no more than itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, Theme, UiLanguage, load, save
from engine.protocol.failures import FailureError, FailureKind
from engine.protocol.transcript import Task


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    assert load(tmp_path / "settings.json").settings == Settings()


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "new" / "settings.json"
    chosen = Settings(
        model="whisper-small",
        language="ko",
        theme=Theme.DARK,
        ui_language=UiLanguage.KOREAN,
        task=Task.TRANSLATE,
    )
    save(chosen, path)
    save(chosen, path)
    assert load(path).settings == chosen
    assert [p.name for p in path.parent.iterdir()] == ["settings.json"]


def test_fields_of_other_versions_are_no_damage(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"version": 0, "model": "whisper-tiny", "from_the_future": [1]}')
    loaded = load(path)
    assert loaded.settings == Settings(model="whisper-tiny")
    assert loaded.set_aside is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"theme": "plaid"}', b"\xff\xfe\x00"])
def test_a_damaged_file_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    loaded = load(path)
    assert loaded.settings == Settings()
    assert loaded.set_aside == tmp_path / "settings.damaged-1.json"
    assert loaded.set_aside.read_bytes() == content
    path.write_bytes(content)
    assert load(path).set_aside == tmp_path / "settings.damaged-2.json"


def test_a_folder_in_place_of_the_file_is_not_fatal(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.mkdir()
    assert load(path).settings == Settings()
    with pytest.raises(FailureError) as caught:
        save(Settings(), path)
    assert caught.value.failure.kind is FailureKind.DISK_FULL
    assert list(tmp_path.iterdir()) == [path], "nothing is left behind"


def test_the_options_are_those_of_a_new_row() -> None:
    options = Settings(model="m", language="ko", initial_prompt="", hotwords="Jamak", vad=False).options()
    assert (options.model, options.language, options.initial_prompt, options.hotwords, options.vad) == (
        "m",
        "ko",
        None,
        "Jamak",
        False,
    )
