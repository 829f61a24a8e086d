"""Nobody is left behind: programs and engines that end in every way they can, without models."""

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

from engine.config import EngineConfig
from engine.rendezvous import Rendezvous
from tests.helpers.processes import descendants_of, is_running, wait_for_role, wait_until_gone

ROOT = Path(__file__).parents[2]


class Runner:
    """Starts `tests.helpers.program` and reads what it was told."""

    def __init__(self, folder: Path) -> None:
        self.config = EngineConfig(
            models_folder="",
            cache_folder="",
            log_folder=str(folder / "logs"),
            runtime_folder=str(folder / "run"),
            loops={"manager": "tests.helpers.fake_manager:run"},
        )
        self._config_path = folder / "config.json"
        self._config_path.write_bytes(msgspec.json.encode(self.config))
        self._events_path = folder / "events"
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self, *files: str, shell: str | None = None, cwd: Path = ROOT) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-P", "-m", "tests.helpers.program", str(self._config_path), *files]
        if shell is not None:
            command = ["/bin/sh", "-c", f'exec "$@" {shell}', "sh", *command]
        environment = {
            **os.environ,
            "JAMAK_TEST_EVENTS": str(self._events_path),
            "PYTHONPATH": str(ROOT),
        }
        process = subprocess.Popen(command, cwd=cwd, env=environment, start_new_session=True)
        self.started.append(process)
        return process

    def wait_for(self, word: str, timeout_s: float = 30.0) -> None:
        """Wait until the program was told something that contains `word`."""
        end_s = time.monotonic() + timeout_s
        while word not in self.told():
            assert time.monotonic() < end_s, f"never told of {word}: {self.told()}"
            time.sleep(0.02)

    def told(self) -> str:
        return self._events_path.read_text(encoding="utf-8") if self._events_path.exists() else ""

    def is_engine_gone(self) -> bool:
        return Rendezvous(Path(self.config.runtime_folder)).living.take_within(10.0)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    made = Runner(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
        process.wait()


def test_a_program_that_ends_in_order_leaves_nobody(runner: Runner) -> None:
    program = runner.start("talk.wav")
    assert program.wait(30.0) == 0
    assert "JobDone" in runner.told()
    assert runner.told().endswith("closed\n")
    assert runner.is_engine_gone()
    assert not list(Path(runner.config.runtime_folder).glob("*.sock"))


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_program_that_is_ended_from_outside_leaves_nobody(runner: Runner, way: signal.Signals) -> None:
    program = runner.start("wait.wav")
    runner.wait_for("JobStarted")
    engine = wait_for_role(program.pid, "manager")
    program.send_signal(way)
    program.wait(15.0)
    wait_until_gone([engine])


def test_interrupting_the_terminal_reaches_the_program_alone(runner: Runner) -> None:
    """Ctrl-C goes to the terminal's whole process group; the engine is not in it and ends by its lifeline."""
    program = runner.start("wait.wav")
    runner.wait_for("JobStarted")
    engine = wait_for_role(program.pid, "manager")
    assert os.getpgid(engine) != os.getpgid(program.pid)
    os.kill(engine, signal.SIGINT)
    os.killpg(program.pid, signal.SIGINT)
    program.wait(15.0)
    wait_until_gone([engine])
    assert "EngineLost" not in runner.told()


def test_killing_the_engine_ends_the_program_in_order(runner: Runner) -> None:
    program = runner.start("wait.wav")
    runner.wait_for("JobStarted")
    os.kill(wait_for_role(program.pid, "manager"), signal.SIGKILL)
    assert program.wait(15.0) == 0
    told = runner.told()
    assert told.index("JobFailed") < told.index("EngineLost") < told.index("closed")


@pytest.mark.parametrize("shell", ["<&- >&- 2>&-", "</dev/null >/dev/full 2>&-"])
def test_a_program_without_a_terminal_has_an_engine_all_the_same(runner: Runner, shell: str) -> None:
    """A desktop starts programs with closed or odd standard files; Python shows them as None."""
    program = runner.start("talk.wav", shell=shell)
    runner.wait_for("closed")
    program.wait(15.0)
    assert "JobDone" in runner.told()
    assert runner.is_engine_gone()


def test_a_program_in_a_folder_that_looks_like_ours_starts_our_engine(runner: Runner, tmp_path: Path) -> None:
    """Whoever transcribes from a folder of somebody's project must not run that project's `engine`."""
    trap = tmp_path / "project" / "engine"
    trap.mkdir(parents=True)
    (trap / "__init__.py").write_text("")
    (trap / "__main__.py").write_text("open('trapped', 'w')")
    program = runner.start("talk.wav", cwd=trap.parent)
    assert program.wait(30.0) == 0
    assert "JobDone" in runner.told()
    assert not (trap.parent / "trapped").exists()


def test_a_stopped_program_does_not_cost_others_their_engine(runner: Runner) -> None:
    owner = runner.start("wait.wav")
    runner.wait_for("JobStarted")
    engine = wait_for_role(owner.pid, "manager")
    owner.send_signal(signal.SIGSTOP)
    other = runner.start("talk.wav")
    assert other.wait(30.0) == 0
    assert is_running(engine)
    owner.send_signal(signal.SIGCONT)
    owner.kill()
    owner.wait()
    wait_until_gone([engine])


def test_many_programs_at_once_leave_nobody(runner: Runner) -> None:
    programs = [runner.start("talk.wav") for _ in range(5)]
    assert [program.wait(60.0) for program in programs] == [0] * 5
    assert runner.told().count("JobDone") == 5
    assert runner.is_engine_gone()
    assert not [pid for program in programs for pid in descendants_of(program.pid)]


def test_an_engine_started_by_hand_says_so(tmp_path: Path) -> None:
    for line in (b"", b"{}\n", b"not json\n"):
        engine = subprocess.run(
            [sys.executable, "-m", "engine", "--role", "manager"],
            input=line,
            capture_output=True,
            timeout=30.0,
            cwd=ROOT,
            check=False,
        )
        assert engine.returncode == 2
        assert b"not by hand" in engine.stderr
        assert b"Traceback" not in engine.stderr
