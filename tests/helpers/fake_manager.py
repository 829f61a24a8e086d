"""A manager without media or models: what it does with a file is the first word of the file's name.

`talk` tells a whole story. `wait` starts and goes on until cancelled. `flood` tells 20 000 deltas.
`twice` ends twice and goes on talking. `die` is killed, `raise` crashes, `leave` ends in order.
Any other name is told as failed. `probe` of a file is never answered.
"""

from __future__ import annotations

import os
import signal
from collections import Counter, deque
from pathlib import Path

from engine.config import ManagerSettings
from engine.ipc import Inbox, Outbox
from engine.messages import ManagerMessage
from engine.protocol import PROTOCOL_VERSION
from engine.protocol.events import (
    Confirmed,
    Diagnosis,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    JobStarted,
    Refused,
    SegmentDone,
    Tail,
    Welcome,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import Alive, Cancel, Diagnose, Goodbye, Hello, JobId, TranscribeFile
from engine.protocol.transcript import MediaInfo, Segment
from engine.rendezvous import disown_engine

NUM_FLOOD = 20_000


class FakeManager:
    """Answers at once, keeps what a full pipe does not take, and ends as the real one does."""

    def __init__(self, settings: ManagerSettings) -> None:
        self._settings = settings
        self._inbox: Inbox[ManagerMessage] = Inbox(settings.address, ManagerMessage)
        self._pipes: dict[str, Outbox] = {}
        self._kept: dict[str, deque[Event]] = {}
        self._open: dict[JobId, str] = {}
        self._num_alive: Counter[str] = Counter()
        self._is_owned = True
        self._is_leaving = False

    def run(self) -> None:
        while (self._is_owned or self._open) and not self._is_leaving:
            for message in self._inbox.drain(0.002 if any(self._kept.values()) else 0.05):
                self._take(message)
            self._flush()
        self._flush()
        for pipe in self._pipes.values():
            pipe.close()
        self._inbox.close()

    def _take(self, message: ManagerMessage) -> None:
        match message:
            case Hello():
                self._greet(message)
            case Alive(client=client):
                self._num_alive[client] += 1
            case Goodbye(client=client):
                self._forget(client)
            case Cancel(client=client, job=job) if self._open.pop(job, None):
                self._tell(client, JobCancelled(job=job))
            case TranscribeFile():
                self._transcribe(message)
            case Diagnose(client=client, job=job):
                alive = ((whose, str(num)) for whose, num in self._num_alive.items())
                facts = (("stdin", str(Path("/proc/self/fd/0").readlink())), *alive)
                self._tell(client, Diagnosis(job=job, facts=facts), JobDone(job=job))
            case _:
                pass

    def _greet(self, hello: Hello) -> None:
        pipe = self._pipes[hello.client] = Outbox(hello.address, max_messages=100)
        if self._settings.config.device == "refuse":
            pipe.put(Refused(failure=failure(FailureKind.PROTOCOL_MISMATCH, "Jamak")))
            return
        self._tell(hello.client, Welcome(engine_pid=os.getpid(), protocol_version=PROTOCOL_VERSION))

    def _forget(self, client: str) -> None:
        self._open = {job: whose for job, whose in self._open.items() if whose != client}
        if client == self._settings.owner and self._is_owned:
            self._is_owned = False
            if self._open:
                disown_engine(self._settings.config.runtime_folder)

    def _transcribe(self, request: TranscribeFile) -> None:
        job, client = request.job, request.client
        started = JobStarted(job=job, media=MediaInfo(duration=1.0, tracks=()), model=request.options.model)
        match Path(request.path).stem.split(" ")[0]:
            case "talk":
                segment = Segment(start=0.0, end=1.0, text=" hello")
                self._tell(client, started, Confirmed(job=job, delta=" hello"))
                self._tell(client, SegmentDone(job=job, segment=segment), JobDone(job=job))
            case "wait":
                self._open[job] = client
                self._tell(client, started)
            case "flood":
                self._tell(client, started)
                self._tell(client, *(Confirmed(job=job, delta=f" {n}") for n in range(NUM_FLOOD)))
                self._tell(client, JobDone(job=job))
            case "twice":
                self._tell(client, started, JobDone(job=job), Tail(job=job, text="more"))
                self._tell(client, JobCancelled(job=job))
            case "die":
                os.kill(os.getpid(), signal.SIGKILL)
            case "raise":
                raise ArithmeticError("the fake was told to raise")
            case "leave":
                self._is_leaving = True
            case name:
                self._tell(client, JobFailed(job=job, failure=failure(FailureKind.NOT_FOUND, name)))

    def _tell(self, client: str, *events: Event) -> None:
        self._kept.setdefault(client, deque()).extend(events)
        self._flush()

    def _flush(self) -> None:
        for client, kept in self._kept.items():
            while kept and self._pipes[client].put(kept[0]):
                kept.popleft()


def run(settings: ManagerSettings) -> None:
    """Be the fake; the process's main."""
    FakeManager(settings).run()
