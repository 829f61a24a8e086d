"""Starts that fail are counted on the disk; after two of them the settings are not trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.settings import Settings, save
from app.start_record import StartRecord, settings_for_start


def test_failed_starts_are_counted_until_one_succeeds(tmp_path: Path) -> None:
    path = tmp_path / "starts.json"
    assert [StartRecord(path).begin() for _ in range(3)] == [0, 1, 2]
    StartRecord(path).succeed()
    assert StartRecord(path).begin() == 0


@pytest.mark.parametrize("content", [b"", b"{", b'{"num_failed": "many"}', b"\xff"])
def test_a_damaged_record_counts_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "starts.json"
    path.write_bytes(content)
    assert StartRecord(path).begin() == 0
    assert StartRecord(path).begin() == 1


def test_a_record_that_cannot_be_kept_prevents_no_start(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    record = StartRecord(tmp_path / "file" / "starts.json")
    assert record.begin() == 0
    record.succeed()


def test_after_two_failed_starts_the_settings_are_put_aside_whole(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    own = Settings(model="whisper-small", text_zoom_percent=150)
    save(own, path)
    assert settings_for_start(path, 1).loaded.settings == own
    safe = settings_for_start(path, 2)
    assert safe.loaded.settings == Settings()
    assert safe.kept == tmp_path / "settings.kept-1.json"
    assert settings_for_start(safe.kept, 0).loaded.settings == own
    assert settings_for_start(path, 3).kept is None, "there is nothing to put aside any more"
