"""Batches and servers elsewhere from the command line, with real processes: interrupted, resumed, keyed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import soundfile

from engine.config import EngineConfig
from tests.helpers.fake_server import MODEL, FakeServer, error
from tests.helpers.processes import command_line_of, descendants_of, wait_until_gone
from tests.helpers.toy import expected_text, toy_audio, write_toy_model

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

WORDS = [None if n % 5 == 4 else n % 7 for n in range(180)]
"""A minute and a half."""


class Shell:
    """Runs commands over an engine in `folder`, whose own models are toys."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.talks = folder / "talks"
        self.talks.mkdir()
        config = EngineConfig(
            models_folder=str(folder / "models"),
            cache_folder=str(folder / "cache"),
            log_folder=str(folder / "logs"),
            runtime_folder=str(folder / "run"),
            families=("tests.helpers.toy",),
            remote_patience_s=2.0,
        )
        self._config = folder / "config.json"
        self._config.write_bytes(msgspec.json.encode(config))
        self.running: list[subprocess.Popen[str]] = []

    def talk(self, name: str, words: list[int | None]) -> Path:
        path = self.talks / name
        soundfile.write(path, toy_audio(*words), 16_000)
        return path

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.helpers.cli_program", str(self._config), *arguments]
        logs = {"LC_ALL": "C.UTF-8", "JAMAK_LOG_DIR": str(self.folder / "logs")}
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, **logs, **environment},
        )
        self.running.append(process)
        return process

    def run(self, *arguments: str, **environment: str) -> tuple[int, str, str]:
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    for process in shell.running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    server.close()


def test_a_batch_goes_on_where_ctrl_c_ended_it(shell: Shell) -> None:
    """Nothing that was recognised is recognised again: the second run has less to ask for."""
    model = str(write_toy_model(shell.folder / "slow", step_s=0.004, slots=1))
    paths = [shell.talk(f"{name}.wav", WORDS) for name in ("a", "b")]
    batch = ("transcribe", str(shell.talks), "--recursive", "--no-vad", "--model", model, "--jobs", "1")
    process = shell.start(*batch)
    parts = shell.talks / ".jamak"
    end_s = time.monotonic() + 30.0
    while not any(b'"segment":{' in part.read_bytes() for part in parts.glob("part-*")):
        assert time.monotonic() < end_s and process.poll() is None
        time.sleep(0.02)
    family = descendants_of(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    wait_until_gone(family)
    known = sum(part.read_bytes().count(b'"segment":{') for part in parts.glob("part-*"))
    assert known
    write_toy_model(shell.folder / "slow")
    assert shell.run(*batch) == (0, "", "")
    # They sound alike, and only the first was interrupted.
    interrupted, whole = (path.with_suffix(".txt").read_text() for path in paths)
    assert interrupted == whole
    assert len(whole.split()) > 100
    assert list(parts.glob("part-*")) == []


def test_a_folder_goes_to_a_server_with_the_key_of_the_environment(shell: Shell, server: FakeServer) -> None:
    for name in ("a", "b", "c"):
        shell.talk(f"{name}.wav", [0, 1, 2])
    batch = ("transcribe", str(shell.talks), "--recursive", "--no-vad", "--engine", server.url, "--jobs", "3")
    assert shell.run(*batch, JAMAK_ENGINE_KEY="secret") == (0, "", "")
    assert {upload.key for upload in server.uploads} == {"secret"}
    assert {upload.field("model") for upload in server.uploads} == {MODEL}
    assert (shell.talks / "b.txt").read_text().strip() == expected_text(toy_audio(0, 1, 2)).strip()


def test_the_key_is_in_no_command_line_and_in_no_log(shell: Shell, server: FakeServer) -> None:
    shell.talk("a.wav", [0, 1])
    server.shape = lambda upload: error(401, "wrong key")
    talk = str(shell.talks / "a.wav")
    process = shell.start(
        "transcribe", talk, "--no-vad", "--engine", server.model, JAMAK_ENGINE_KEY="hush-hush"
    )
    seen = b""
    while process.poll() is None:
        for pid in [process.pid, *descendants_of(process.pid)]:
            seen += command_line_of(pid)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "does not accept the key" in err
    assert b"--role" in seen
    written = [path.read_bytes() for path in shell.folder.rglob("*") if path.is_file()]
    assert not any(b"hush-hush" in content for content in [seen, *written])


def test_a_servers_models_are_listed(shell: Shell, server: FakeServer) -> None:
    assert shell.run("models", "list", "--engine", server.url) == (0, f"some-llm\n{MODEL}\n", "")


def test_an_address_with_a_password_in_it_is_refused(shell: Shell) -> None:
    talk = str(shell.talk("a.wav", [0]))
    code, _, err = shell.run("transcribe", talk, "--engine", "http://me:hush@host/v1")
    assert code == 2
    assert "hush" not in err
