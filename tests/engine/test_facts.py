"""What a report says of the machine: the libraries in use, and the graphics card whatever its tool does."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from engine.facts import PACKAGES, graphics_card

ROOT = Path(__file__).parents[2]
MODULES = {"PySide6-Essentials": "PySide6", "PySide6-Addons": "PySide6", "pyzmq": "zmq"}

a_shell_plays_the_tool = pytest.mark.skipif(os.name == "nt", reason="the tool is played by a shell script")


def test_a_report_names_only_what_the_program_uses() -> None:
    """In a package the libraries of the tests were said to be missing."""
    sources = [path for name in ("app", "engine") for path in (ROOT / name).rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    for package in PACKAGES:
        module = MODULES.get(package, package.replace("-", "_"))
        # Of one only the network is used, by its path.
        assert re.search(rf"^ *(import|from) {module}\b|\"{module}/", code, re.MULTILINE), package


def play_tool(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let a script stand in for nvidia-smi."""
    tool = folder / "nvidia-smi"
    tool.write_text("\n".join(("#!/bin/sh", *lines)), encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@a_shell_plays_the_tool
def test_cards_are_told_with_driver_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_tool(tmp_path, monkeypatch, "echo 'NVIDIA X, 575.1, 8192 MiB'", "echo 'NVIDIA Y, 575.1, 4096 MiB'")
    assert graphics_card() == "NVIDIA X, 575.1, 8192 MiB; NVIDIA Y, 575.1, 4096 MiB"


@a_shell_plays_the_tool
def test_a_tool_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_tool(tmp_path, monkeypatch, "echo 'Driver/library version mismatch' >&2", "exit 18")
    assert graphics_card() == "Driver/library version mismatch"


def test_without_the_tool_there_is_no_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert graphics_card().startswith("none found")
