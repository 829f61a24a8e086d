"""`jamak` is a window or a command, by its arguments; what each imports stays small."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.__main__ import _is_for_window


@pytest.mark.parametrize("arguments", [[], ["a.wav"], ["/media/a"], ["a", "b"], ["tests"]])
def test_files_alone_are_for_the_window(arguments: list[str]) -> None:
    assert _is_for_window(arguments)


@pytest.mark.parametrize(
    "arguments", [["transcribe", "a.wav"], ["models", "list"], ["--help"], ["trnascribe"]]
)
def test_commands_and_misspelt_ones_are_for_the_command_line(arguments: list[str]) -> None:
    assert not _is_for_window(arguments)


def jamak(*arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(environment or {})},
        check=False,
    )


def modules_after(statement: str) -> set[str]:
    program = f"import json, sys\n{statement}\nprint(json.dumps(list(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    return set(json.loads(ran.stdout))


def found(modules: set[str], *names: str) -> set[str]:
    return {module for module in modules if module.split(".")[0] in names}


def test_the_command_line_needs_neither_qt_nor_torch() -> None:
    modules = modules_after("import app.cli.run, app.__main__")
    assert not found(modules, "PySide6", "torch", "transformers", "numpy", "av")


def test_the_window_needs_neither_torch_nor_any_adapter() -> None:
    modules = modules_after("import app.wiring")
    assert not found(modules, "torch", "transformers", "tokenizers", "av", "onnxruntime")
    assert not found(modules, "numpy", "sounddevice"), "what recording needs is loaded a moment later"
    assert not {module for module in modules if module.startswith("engine.adapters")}


@pytest.mark.parametrize("module", ["desk", "library", "jobs", "intake", "texts", "settings", "paths"])
def test_the_core_of_the_app_needs_no_qt(module: str) -> None:
    assert not found(modules_after(f"import app.{module}"), "PySide6", "torch")


def test_help_and_version_are_said() -> None:
    assert "transcribe" in jamak("--help").stdout
    assert jamak("--version").stdout.startswith("jamak ")


def test_an_unknown_command_is_a_usage_error() -> None:
    ran = jamak("trnascribe")
    assert ran.returncode == 2
    assert "Traceback" not in ran.stderr


def test_without_a_display_the_work_is_done_in_the_terminal(tmp_path: Path) -> None:
    nowhere = {"DISPLAY": "", "WAYLAND_DISPLAY": "", "QT_QPA_PLATFORM": "", "LC_ALL": "C.UTF-8"}
    ran = jamak(str(tmp_path / "gone.wav"), environment=nowhere)
    assert ran.returncode == 1
    assert "no display" in ran.stderr
    assert "“gone.wav” is not there" in ran.stderr
