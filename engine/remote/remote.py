"""The loop of a model elsewhere: stands where scheduler and detokenizer stand for a model of our own.

A turn takes the messages, has chunks asked of the server, and passes on what was answered. It never
waits for the server; that is done by the calls, on a thread of their own.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Final, Protocol, assert_never

import msgspec

from engine.config import RemoteSettings
from engine.ipc import Inbox, Outbox, public_address
from engine.messages import (
    Abort,
    BatchStrOutput,
    Chunk,
    Ended,
    Finish,
    FreezeGC,
    PresentKey,
    RemoteMessage,
    RequestKey,
    WorkerReady,
)
from engine.protocol.elsewhere import parse_elsewhere
from engine.protocol.requests import JobId
from engine.remote.calls import Calls
from engine.watchdog import Watchdog, tell_manager

NUM_AT_ONCE: Final = 8
"""Uploads of files in flight; a server that batches needs several, one that does not makes them wait."""


def run(settings: RemoteSettings) -> None:
    """Serve one model of a server until the process is ended."""
    inbox: Inbox[RemoteMessage] = Inbox(settings.address, RemoteMessage)
    manager = Outbox(settings.manager_address)
    watchdog = Watchdog(settings.config.hang_s, tell_manager(settings.worker, settings.manager_address))
    watchdog.start()
    server = parse_elsewhere(settings.server)
    slots = settings.config.num_slots or NUM_AT_ONCE
    calls = Calls(
        server,
        lambda: Outbox(public_address(settings.address)).put,
        patience_s=settings.config.remote_patience_s,
        slots=slots,
    )
    remote = Remote(calls, manager.put)
    manager.put(WorkerReady(worker=settings.worker, device=server.host, slots=slots))
    while True:
        with watchdog.idle():
            messages = inbox.drain(None)
        for message in messages:
            remote.take(message)


class Asking(Protocol):
    """What is asked of the server; every chunk asked is answered by a message to the loop, or dropped."""

    def use_key(self, key: str) -> None: ...

    def ask(self, chunk: Chunk) -> None: ...

    def drop(self, keys: list[RequestKey]) -> None: ...

    def forget(self, job: JobId) -> None: ...


class Remote:
    """The chunks that are not answered yet, and what follows their answers."""

    def __init__(self, calls: Asking, tell: Callable[[msgspec.Struct], object]) -> None:
        """`tell` sends to the manager."""
        self._calls = calls
        self._tell = tell
        self._open: set[RequestKey] = set()
        self._finishing: dict[JobId, Finish] = {}

    def take(self, message: RemoteMessage) -> None:
        """Take one message and do what follows from it."""
        match message:
            case Chunk(key=key):
                if key not in self._open:
                    self._open.add(key)
                    self._calls.ask(message)
            case BatchStrOutput():
                self._answered(message)
            case Ended():
                if message.key in self._open:
                    self._open.discard(message.key)
                    self._tell(message)
                    self._finish(message.key.job)
            case Finish():
                self._finishing[message.job] = message
                self._finish(message.job)
            case Abort():
                self._abort(message)
            case PresentKey(key=key):
                self._calls.use_key(key)
            case FreezeGC():
                gc.collect()
                gc.freeze()
            case _:
                assert_never(message)

    def _answered(self, batch: BatchStrOutput) -> None:
        outputs = tuple(output for output in batch.outputs if output.key in self._open)
        if outputs:
            self._tell(BatchStrOutput(outputs=outputs))
        for output in outputs:
            if output.finished is not None:
                self._open.discard(output.key)
                self._finish(output.key.job)

    def _abort(self, abort: Abort) -> None:
        dropped = [key for key in self._open if key.job == abort.job]
        self._open.difference_update(dropped)
        self._calls.drop(dropped)
        self._calls.forget(abort.job)
        self._finishing.pop(abort.job, None)
        self._tell(abort)

    def _finish(self, job: JobId) -> None:
        """Send the marker on behind a job's last answer."""
        if job in self._finishing and not any(key.job == job for key in self._open):
            self._calls.forget(job)
            self._tell(self._finishing.pop(job))
