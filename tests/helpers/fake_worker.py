"""A worker that says it is ready and then does what its model's name says, without loading anything.

`serve` waits for ever, `crash` raises, `stuck` holds the interpreter so that only a kill ends it.
"""

from __future__ import annotations

import ctypes
import sys

from engine.config import DetokenizerSettings, SchedulerSettings
from engine.ipc import Inbox, Outbox
from engine.messages import SchedulerMessage, WorkerReady


def run(settings: SchedulerSettings) -> None:
    """Be the fake; the process's main."""
    inbox: Inbox[SchedulerMessage] = Inbox(settings.address, SchedulerMessage)
    manager = Outbox(settings.manager_address)
    print("a line on stdout, 자막")
    print("a line on stderr", file=sys.stderr)
    if settings.model_key == "crash":
        manager.close()
        raise ArithmeticError("the fake was told to crash")
    manager.put(WorkerReady(worker=settings.worker, device="fake", slots=1))
    if settings.model_key == "stuck":
        manager.close()
        ctypes.PyDLL(None).sleep(3600)
    while True:
        inbox.drain(None)


def die_at_once(settings: DetokenizerSettings) -> None:
    """Be a detokenizer that cannot live."""
    raise ArithmeticError("the fake was told to die")
