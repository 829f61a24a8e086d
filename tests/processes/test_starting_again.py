"""The program started again and again: after starts that failed, and beside one that runs."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.paths import resource
from tests.helpers.jamak_program import JamakProgram, wait_for

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@pytest.fixture
def program(tmp_path: Path, whisper_base: Path) -> Iterator[JamakProgram]:
    program = JamakProgram(tmp_path, whisper_base)
    yield program
    program.kill()


def num_failed(program: JamakProgram) -> int:
    path = program.root / "data" / "starts.json"
    return int(json.loads(path.read_bytes())["num_failed"]) if path.exists() else 0


def test_after_two_starts_that_died_the_third_uses_default_settings(program: JamakProgram) -> None:
    data = program.root / "data"
    own = (data / "settings.json").read_bytes()
    for number in (1, 2):
        program.start()
        wait_for(lambda number=number: num_failed(program) == number, "the start to be noted")  # type: ignore[misc]
        program.kill()
    program.start()
    wait_for(lambda: num_failed(program) == 0, "a good start")
    assert (data / "settings.kept-1.json").read_bytes() == own


def test_files_opened_beside_a_running_window_are_opened_in_it(program: JamakProgram) -> None:
    program.start()
    wait_for(lambda: num_failed(program) == 1, "the first window")
    wait_for(lambda: num_failed(program) == 0, "the first window to stand")
    path = program.root / "회의 녹음 (최종).flac"
    shutil.copy(resource("sample.flac"), path)
    second = [sys.executable, "-m", "app", str(path)]
    subprocess.run(second, env=program.environment(), check=True, timeout=60)
    wait_for(lambda: program.rows("SELECT name FROM recordings") == [(path.name,)], "the file's row")
