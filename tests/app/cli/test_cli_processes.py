"""The command line as a process among processes: interrupted, killed, piped, its engine shot."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import soundfile

from tests.helpers.processes import descendants_of, wait_for_role, wait_until_gone
from tests.helpers.toy import WORDS, toy_audio, toy_config, write_toy_model

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


class Shell:
    """Starts commands over a toy engine in `folder`, each in its own process group as in a terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        config = toy_config(folder)
        self._config = folder / "config.json"
        self._config.write_bytes(msgspec.json.encode(config))
        self.running: list[subprocess.Popen[str]] = []

    def model(self, name: str, **options: object) -> str:
        return str(write_toy_model(self.folder / name, **options))

    def file(self, name: str, *words: int | None) -> str:
        path = self.folder / f"{name}.wav"
        soundfile.write(path, toy_audio(*words), 16_000)
        return str(path)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.helpers.cli_program", str(self._config), *arguments]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env={**os.environ, "LC_ALL": "C.UTF-8", "JAMAK_LOG_DIR": str(self.folder / "logs")},
        )
        self.running.append(process)
        return process


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    shell = Shell(tmp_path)
    yield shell
    for process in shell.running:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def first_line(process: subprocess.Popen[str]) -> str:
    """Read one line and no more: `communicate` reads on behind what was buffered."""
    assert process.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(process.stdout.fileno(), 1)
        if not piece:
            break
        line += piece
    return line.decode()


def long_words(num_chunks: int = 3) -> list[int | None]:
    """Some thirty seconds a chunk, silence between the sentences."""
    return [None if n % 5 == 4 else n % (len(WORDS) - 1) for n in range(num_chunks * 60)]


def slow_run(shell: Shell, num_chunks: int = 3) -> subprocess.Popen[str]:
    """Start a long transcription; its first line has come, its last has not."""
    model = shell.model("slow", step_s=0.003, slots=1)
    path = shell.file("long", *long_words(num_chunks))
    process = shell.start("transcribe", "--no-vad", "--model", model, path)
    assert first_line(process)
    assert process.poll() is None
    return process


def test_ctrl_c_says_130_and_leaves_no_process(shell: Shell) -> None:
    process = slow_run(shell, num_chunks=30)
    family = descendants_of(process.pid)
    assert family
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert err == ""
    wait_until_gone(family)


def test_ctrl_c_again_and_again_leaves_no_process_and_no_trace(shell: Shell) -> None:
    process = slow_run(shell, num_chunks=30)
    family = descendants_of(process.pid)
    for _ in range(20):
        os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode in (130, -signal.SIGINT)
    assert "Traceback" not in err
    wait_until_gone(family)


@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_a_kill_leaves_no_process(shell: Shell, kill: signal.Signals) -> None:
    process = slow_run(shell, num_chunks=30)
    family = descendants_of(process.pid)
    process.send_signal(kill)
    process.communicate(timeout=30)
    wait_until_gone(family)


def test_a_reader_that_goes_away_ends_the_work_without_a_word(shell: Shell) -> None:
    process = slow_run(shell, num_chunks=30)
    family = descendants_of(process.pid)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == ""
    assert process.wait(timeout=30) == 141
    wait_until_gone(family)


@pytest.mark.parametrize("role", ["manager", "scheduler"])
def test_a_killed_engine_costs_no_text(shell: Shell, role: str) -> None:
    path = shell.file("long", *long_words())
    model = shell.model("calm")
    expected, _ = shell.start("transcribe", "--no-vad", "--model", model, path).communicate(timeout=60)
    assert expected

    process = shell.start("transcribe", "--no-vad", "--model", shell.model("slow", step_s=0.003), path)
    begin = first_line(process)
    os.kill(wait_for_role(process.pid, role), signal.SIGKILL)
    rest, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert begin + rest == expected


def test_bad_and_good_files_side_by_side(shell: Shell) -> None:
    good = shell.file("good", 0, 1, 2)
    bad = shell.folder / "bad.wav"
    bad.write_bytes(b"\0not audio" * 100)
    process = shell.start("transcribe", "--no-vad", "--model", shell.model("calm"), str(bad), good)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert out.split() == "".join(WORDS[:3]).split()
    assert "bad.wav" in err
    assert "Traceback" not in err
