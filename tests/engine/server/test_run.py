"""Where uploads lie: a folder for each server, gone with it or, where it was killed, with a later one."""

from __future__ import annotations

import os
from pathlib import Path

from engine.server.run import folder_below


def test_a_server_leaves_nothing_behind(tmp_path: Path) -> None:
    with folder_below(tmp_path / "uploads") as folder:
        (folder / "sound").write_bytes(b"1")
    assert list((tmp_path / "uploads").iterdir()) == []


def test_what_a_killed_server_left_behind_goes_a_day_later(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    for folder in (old, new):
        folder.mkdir()
        (folder / "sound").write_bytes(b"1")
    os.utime(old, (0, 0))
    with folder_below(tmp_path):
        assert (old.exists(), new.exists()) == (False, True)


def test_a_server_that_was_idle_for_days_keeps_its_folder(tmp_path: Path) -> None:
    with folder_below(tmp_path) as idle:
        os.utime(idle, (0, 0))
        with folder_below(tmp_path) as other:
            assert other != idle
        assert idle.is_dir()
