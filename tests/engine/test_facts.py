"""What a report says of the graphics card, whatever its tool does."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.facts import graphics_card

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the tool is played by a shell script")


def play_tool(folder: Path, monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """Let a script stand in for nvidia-smi."""
    tool = folder / "nvidia-smi"
    tool.write_text("\n".join(("#!/bin/sh", *lines)), encoding="utf-8")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_cards_are_told_with_driver_and_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_tool(tmp_path, monkeypatch, "echo 'NVIDIA X, 575.1, 8192 MiB'", "echo 'NVIDIA Y, 575.1, 4096 MiB'")
    assert graphics_card() == "NVIDIA X, 575.1, 8192 MiB; NVIDIA Y, 575.1, 4096 MiB"


def test_a_tool_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    play_tool(tmp_path, monkeypatch, "echo 'Driver/library version mismatch' >&2", "exit 18")
    assert graphics_card() == "Driver/library version mismatch"


def test_without_the_tool_there_is_no_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert graphics_card().startswith("none found")
