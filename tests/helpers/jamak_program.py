"""The whole program as a person starts it, offscreen and in folders of its own."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.helpers.processes import descendants_of, wait_until_gone

PATIENCE_S = 240.0


class JamakProgram:
    """`jamak` in folders of its own, offscreen; its library is read from outside."""

    def __init__(self, root: Path, model: Path) -> None:
        self.root = root
        # A socket's path must be short, so the test's own folder will not do.
        self._runtime = tempfile.mkdtemp(prefix="jamak-")
        (root / "data" / "models").mkdir(parents=True)
        (root / "data" / "models" / model.name).symlink_to(model)
        settings = {"model": model.name, "keep_awake": False, "notify_when_done": False}
        (root / "data" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    def environment(self) -> dict[str, str]:
        folders = {f"JAMAK_{name}_DIR": str(self.root / name.lower()) for name in ("DATA", "CACHE", "LOG")}
        runtime = {"JAMAK_RUNTIME_DIR": self._runtime}
        return {**os.environ, **folders, **runtime, "QT_QPA_PLATFORM": "offscreen"}

    def start(self, *files: Path) -> int:
        command = [sys.executable, "-m", "app", *map(str, files)]
        log = (self.root / "output.txt").open("ab")
        with log:
            self._process = subprocess.Popen(command, env=self.environment(), stdout=log, stderr=log)
        return self._process.pid

    def kill(self) -> None:
        """Kill the window's process, and see that nothing of it is left."""
        if self._process is None:
            return
        below = descendants_of(self._process.pid)
        self._process.kill()
        self._process.wait()
        wait_until_gone(below)
        self._process = None

    def transcribe(self, file: Path, model: str) -> list[str]:
        """Return what the command line says of a file, undisturbed."""
        options = ["--model", model, "--format", "json", "--word-timestamps"]
        command = [sys.executable, "-m", "app", "transcribe", *options, str(file)]
        done = subprocess.run(command, env=self.environment(), capture_output=True, check=True)
        return [segment["text"] for segment in json.loads(done.stdout)["segments"]]

    def texts(self) -> list[str]:
        """Return the stored segments of the only recording."""
        return [row[0] for row in self.rows("SELECT text FROM segments ORDER BY number")]

    def state(self) -> str:
        """Return the state of the only recording, "" while there is none."""
        rows = self.rows("SELECT state FROM recordings")
        return str(rows[0][0]) if rows else ""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the library, as anybody may while it is being written."""
        database = self.root / "data" / "library.db"
        if not database.exists():
            return []
        with closing(sqlite3.connect(database, timeout=10.0)) as connection:
            try:
                return connection.execute(query).fetchall()
            except sqlite3.OperationalError:  # the program is just making its tables
                return []


def wait_for(condition: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Wait until `condition` holds; fails naming `what` was waited for."""
    end_s = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < end_s, f"waited in vain for {what}"
        time.sleep(0.05)
