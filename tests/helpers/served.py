"""`jamak serve` as a process of its own over an engine whose models are toys, and callers of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import msgspec
import openai
import soundfile

from engine.config import EngineConfig
from engine.server.run import LOCK_NAME
from tests.helpers.processes import descendants_of, wait_until_gone
from tests.helpers.toy import toy_audio, write_toy_model

TOYS = ("tests.helpers.toy",)


class Served:
    """Runs until `end`; `models` names the toy that `whisper-1` stands for, or a real model's folder."""

    def __init__(
        self,
        folder: Path,
        model: Path,
        *arguments: str,
        families: tuple[str, ...] = TOYS,
        runtime: Path | None = None,
        **environment: str,
    ) -> None:
        self.folder = folder
        self.config = EngineConfig(
            models_folder=str(model.parent),
            cache_folder=str(folder / "cache"),
            log_folder=str(folder / "logs"),
            runtime_folder=str(runtime or folder / "run"),
            families=families,
        )
        config_path = folder / "config.json"
        config_path.write_bytes(msgspec.json.encode(self.config))
        command = [
            sys.executable,
            "-m",
            "tests.helpers.cli_program",
            str(config_path),
            "serve",
            "--port",
            "0",
        ]
        self.process = subprocess.Popen(
            [*command, "--model", str(model), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**os.environ, "LC_ALL": "C.UTF-8", "JAMAK_DATA_DIR": str(folder / "data"), **environment},
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().decode().strip().replace("0.0.0.0", "127.0.0.1")
        assert self.url, self.process.stderr.read().decode() if self.process.stderr else ""

    @property
    def root(self) -> str:
        return self.url.removesuffix("/v1")

    @property
    def port(self) -> int:
        return int(self.root.rpartition(":")[2])

    @property
    def uploads(self) -> list[Path]:
        """What lies on the disk of uploads now."""
        found = (self.folder / "cache" / "uploads").rglob("*")
        return [path for path in found if path.is_file() and path.name != LOCK_NAME]

    def client(self, **changes: object) -> openai.OpenAI:
        """Return the official SDK, which tries nothing twice unless it is told to."""
        return openai.OpenAI(
            base_url=self.url, **{"api_key": "none", "max_retries": 0, "timeout": 60.0, **changes}
        )  # type: ignore[arg-type]

    def metrics(self) -> dict[str, float]:
        """Return `/metrics`, by name and labels."""
        lines = httpx2.get(f"{self.root}/metrics", timeout=30.0).text.splitlines()
        pairs = (line.rpartition(" ") for line in lines if not line.startswith("#"))
        return {name: float(value) for name, _, value in pairs}

    def end(self, with_signal: int = signal.SIGTERM) -> int:
        """Ask it to end; return its exit code once nothing of it runs any more."""
        below = descendants_of(self.process.pid)
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            self.process.communicate(timeout=30.0)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise
        wait_until_gone(below)
        return self.process.returncode


def toy(folder: Path, **options: object) -> Path:
    """Write a toy into the models folder of a test and return it."""
    return write_toy_model(folder / "models" / "toy", **options)


def recording(folder: Path, name: str, *words: int | None) -> Path:
    """Write a recording of a toy's words."""
    path = folder / f"{name}.wav"
    soundfile.write(path, toy_audio(*words), 16_000, "PCM_16")
    return path
