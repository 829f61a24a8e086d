"""The whole program on real weights and a ten-minute file, with each of its processes killed in turn."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.helpers.processes import descendants_of, wait_for_role, wait_until_gone

RECORDING = "longform/en_synth_piper_joe_10min.flac"
PATIENCE_S = 240.0

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.timeout(900)]


class Program:
    """`jamak` in folders of its own, offscreen; its library is read from outside."""

    def __init__(self, root: Path, model: Path) -> None:
        self.root = root
        (root / "data" / "models").mkdir(parents=True)
        (root / "data" / "models" / model.name).symlink_to(model)
        settings = {"model": model.name, "keep_awake": False, "notify_when_done": False}
        (root / "data" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        folders = {f"JAMAK_{name}_DIR": str(self.root / name.lower()) for name in ("DATA", "CACHE", "LOG")}
        # A socket's path must be short, so the test's own folder will not do.
        runtime = {"JAMAK_RUNTIME_DIR": f"/tmp/jamak-kills-{os.getpid()}"}
        return {**os.environ, **folders, **runtime, "QT_QPA_PLATFORM": "offscreen"}

    def start(self, *files: Path) -> int:
        command = [sys.executable, "-m", "app", *map(str, files)]
        log = (self.root / "output.txt").open("ab")
        with log:
            self._process = subprocess.Popen(command, env=self.environment(), stdout=log, stderr=log)
        return self._process.pid

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def transcribe(self, file: Path, model: str) -> list[str]:
        """Return what the command line says of a file, undisturbed."""
        options = ["--model", model, "--format", "json", "--word-timestamps"]
        command = [sys.executable, "-m", "app", "transcribe", *options, str(file)]
        done = subprocess.run(command, env=self.environment(), capture_output=True, check=True)
        return [segment["text"] for segment in json.loads(done.stdout)["segments"]]

    def texts(self) -> list[str]:
        return [row[0] for row in self._rows("SELECT text FROM segments ORDER BY number")]

    def state(self) -> str:
        rows = self._rows("SELECT state FROM recordings")
        return rows[0][0] if rows else ""

    def _rows(self, query: str) -> list[tuple[str]]:
        database = self.root / "data" / "library.db"
        if not database.exists():
            return []
        with closing(sqlite3.connect(database, timeout=10.0)) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError:  # the program is just making its tables
                return []


@pytest.fixture
def program(tmp_path: Path, whisper_tiny_en: Path) -> Iterator[Program]:
    made = Program(tmp_path, whisper_tiny_en)
    yield made
    if made._process is not None and made._process.poll() is None:
        below = descendants_of(made._process.pid)
        made.kill()
        wait_until_gone(below)


def wait_for(condition: Callable[[], bool], what: str) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < end_s, f"waited in vain for {what}"
        time.sleep(0.05)


def test_a_killed_process_neither_loses_nor_doubles_a_segment(program: Program, speech: Path) -> None:
    recording = speech / RECORDING
    pid = program.start(recording)
    for role in ("scheduler", "detokenizer", "manager"):
        so_far = len(program.texts())
        wait_for(lambda before=so_far: len(program.texts()) > before + 2, "three more segments")
        os.kill(wait_for_role(pid, role), signal.SIGKILL)
    so_far = len(program.texts())
    wait_for(lambda: len(program.texts()) > so_far + 2, "segments after the engine's return")
    below = descendants_of(pid)
    program.kill()
    wait_until_gone(below)
    assert program.state() == "running"

    pid = program.start()
    wait_for(lambda: program.state() in ("done", "failed"), "the end of the resumed row")
    assert program.state() == "done"
    below = descendants_of(pid)
    program.kill()
    wait_until_gone(below)
    assert [text.strip() for text in program.texts()] == [
        text.strip() for text in program.transcribe(recording, "whisper-tiny.en")
    ]
