"""Child processes of the manager: started, watched and ended; their deaths are told to its inbox."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from engine.config import DetokenizerSettings, EngineConfig, RemoteSettings, SchedulerSettings
from engine.ipc import Outbox, new_address, public_address, remove_file_of
from engine.messages import WorkerDied
from engine.subprocesses import Child

log = logging.getLogger(__name__)

END_S: Final = 2.0
"""How long a child may take to end by itself when its stdin has ended."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Worker:
    """A child process: one generation of a role."""

    name: str
    """Unique for ever within an engine: `scheduler-3`."""
    role: str
    generation: int
    address: str
    """Of its inbox."""
    child: Child = field(repr=False)
    is_ending: threading.Event = field(default_factory=threading.Event, repr=False)
    """Set when its end was asked for, and so is no news."""

    @property
    def pid(self) -> int:
        return self.child.pid


class Workers:
    """Starts, ends and watches children. Used by the manager's loop, on the process's main thread.

    (On Linux a child dies with the *thread* that started it, so that thread must be the last to end.)
    """

    def __init__(self, config: EngineConfig, manager_address: str) -> None:
        self._config = config
        self._manager_address = public_address(manager_address)
        self._workers: list[Worker] = []
        self._generation = 0

    def start(self, role: str, settings: SchedulerSettings | DetokenizerSettings | RemoteSettings) -> Worker:
        """Start a process of `role`; it says `WorkerReady` or `WorkerFailed` itself.

        Fills in the settings' name and addresses. If the process ends unasked, `WorkerDied` is put
        into the manager's inbox, once. Raises OSError where no process can be started.
        """
        self._generation += 1
        name = f"{role}-{self._generation}"
        address = new_address(Path(self._config.runtime_folder), role, self._generation)
        filled = msgspec.structs.replace(
            settings, worker=name, address=address, manager_address=self._manager_address
        )
        worker = Worker(
            name=name,
            role=role,
            generation=self._generation,
            address=public_address(address),
            child=Child(role, filled),
        )
        self._workers = [known for known in self._workers if not known.child.has_ended]
        self._workers.append(worker)
        threading.Thread(target=self._watch, args=(worker,), daemon=True, name=f"watch-{name}").start()
        return worker

    def end(self, worker: Worker) -> None:
        """Ask for the child's end and return at once; it is killed where it takes over `END_S`."""
        worker.is_ending.set()
        worker.child.end_within(END_S)

    def kill(self, worker: Worker) -> None:
        """End the child at once; its `WorkerDied` is told unless its end was asked for before."""
        worker.child.kill()

    def close(self) -> None:
        """End all children and wait until none is left."""
        for worker in self._workers:
            self.end(worker)
        for worker in self._workers:
            worker.child.wait(END_S + 1.0)

    def _watch(self, worker: Worker) -> None:
        exit_code = worker.child.wait()
        remove_file_of(worker.address)
        if worker.is_ending.is_set() or exit_code is None:
            return
        detail = worker.child.last_words()
        outbox = Outbox(self._manager_address)
        outbox.put(WorkerDied(worker=worker.name, exit_code=exit_code, detail=detail))
        outbox.close()
