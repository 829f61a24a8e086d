from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.config import EngineConfig, SchedulerSettings
from engine.ipc import Inbox, new_address
from engine.messages import ManagerMessage, WorkerDied, WorkerReady
from engine.workers import Worker, Workers
from tests.helpers.processes import is_running, wait_until_gone


@pytest.fixture(params=["file", "port"], autouse=True)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs over socket files and over ports with keys."""
    if request.param == "port":
        monkeypatch.setenv("JAMAK_FORCE_TCP", "1")


class Parent:
    """A manager's side: its inbox and its workers."""

    def __init__(self, folder: Path) -> None:
        self.config = EngineConfig(
            models_folder="",
            cache_folder="",
            log_folder=str(folder / "logs"),
            runtime_folder=str(folder / "run"),
            loops={"scheduler": "tests.helpers.fake_worker:run"},
        )
        self.inbox: Inbox[ManagerMessage] = Inbox(new_address(folder / "run", "m", 1), ManagerMessage)
        self.workers = Workers(self.config, self.inbox.address)

    def start(self, behaviour: str) -> Worker:
        settings = SchedulerSettings(
            config=self.config, detokenizer_address="", model_key=behaviour, family="", folder=""
        )
        return self.workers.start("scheduler", settings)

    def hear(self) -> ManagerMessage:
        messages = self.inbox.drain(20.0)
        assert messages, "nothing was said"
        assert len(messages) == 1
        return messages[0]


@pytest.fixture
def parent(tmp_path: Path) -> Iterator[Parent]:
    made = Parent(tmp_path)
    yield made
    made.workers.close()
    made.inbox.close()


def test_a_worker_says_it_is_ready_under_its_own_name(parent: Parent) -> None:
    worker = parent.start("serve")
    assert parent.hear() == WorkerReady(worker=worker.name, device="fake", slots=1)
    assert worker.name == "scheduler-1"


def test_names_and_addresses_are_never_used_again(parent: Parent) -> None:
    first = parent.start("serve")
    parent.hear()
    parent.workers.end(first)
    second = parent.start("serve")
    assert (first.name, first.address) != (second.name, second.address)
    assert second.name == "scheduler-2"


def test_a_crash_is_told_once_with_its_last_words(parent: Parent) -> None:
    worker = parent.start("crash")
    died = parent.hear()
    assert isinstance(died, WorkerDied)
    assert (died.worker, died.exit_code) == (worker.name, 1)
    assert "the fake was told to crash" in died.detail
    assert "자막" in died.detail
    assert parent.inbox.drain(0.3) == []


def test_a_kill_is_told_with_its_signal(parent: Parent) -> None:
    worker = parent.start("serve")
    parent.hear()
    os.kill(worker.pid, signal.SIGKILL)
    died = parent.hear()
    assert isinstance(died, WorkerDied)
    assert died.exit_code == -signal.SIGKILL


def test_an_end_that_was_asked_for_is_no_news(parent: Parent) -> None:
    worker = parent.start("serve")
    parent.hear()
    parent.workers.end(worker)
    wait_until_gone([worker.pid])
    assert parent.inbox.drain(0.3) == []
    assert not list(Path(parent.config.runtime_folder).glob("scheduler*"))


def test_a_worker_that_does_not_end_is_killed(parent: Parent) -> None:
    worker = parent.start("stuck")
    parent.hear()
    started_s = time.monotonic()
    parent.workers.close()
    assert not is_running(worker.pid)
    assert time.monotonic() - started_s < 6.0


def test_a_hanging_worker_can_be_killed_and_its_death_is_told(parent: Parent) -> None:
    worker = parent.start("stuck")
    parent.hear()
    parent.workers.kill(worker)
    died = parent.hear()
    assert isinstance(died, WorkerDied)
    assert died.worker == worker.name


def test_closing_leaves_nobody(parent: Parent) -> None:
    pids = [parent.start("serve").pid for _ in range(3)]
    parent.workers.close()
    assert not any(is_running(pid) for pid in pids)
