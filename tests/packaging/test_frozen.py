"""What is different where the program is frozen: how it starts itself, and what it hands on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.paths import resource
from engine.config import default_config
from engine.subprocesses import command, environment
from tests.helpers.packaging_scripts import load


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """This process as PyInstaller's start leaves it, its files in the folder returned."""
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(tmp_path), raising=False)
    monkeypatch.setattr(sys, "executable", "/usr/lib/jamak/jamak")
    return tmp_path


def test_children_are_this_program_again(frozen: Path) -> None:
    assert command("manager") == ["/usr/lib/jamak/jamak", "--role", "manager"]


def test_children_find_their_libraries_anew(frozen: Path) -> None:
    given = environment()
    assert given["PYINSTALLER_RESET_ENVIRONMENT"] == "1"
    assert given["PYTHONUTF8"] == "1"
    assert "PYTHONPATH" not in given or given["PYTHONPATH"] == os.environ.get("PYTHONPATH")


def test_files_that_ship_are_found(frozen: Path) -> None:
    assert resource("sample.flac") == frozen / "resources" / "sample.flac"
    assert default_config().shipped_models_folder is None
    (frozen / "models").mkdir()
    assert default_config().shipped_models_folder == str(frozen / "models")


@pytest.mark.skipif(sys.platform != "linux", reason="of Linux")
@pytest.mark.parametrize("before", [None, "/opt/cuda/lib"])
def test_programs_of_others_get_their_own_libraries(
    frozen: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """A browser that was opened from the window took our libraries for its own, and did not start."""
    monkeypatch.setenv("LD_LIBRARY_PATH", "/usr/lib/jamak/_internal")
    monkeypatch.delenv("LD_LIBRARY_PATH_ORIG", raising=False)
    if before is not None:
        monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", before)
    load("program")._give_back("LD_LIBRARY_PATH")
    assert os.environ.get("LD_LIBRARY_PATH") == before
