"""Decodes the chunks of all jobs in one running batch: a loop around a loaded network, without torch.

A turn takes the messages, admits newcomers, lets everything that runs generate one token, and sends
what is new. Decodings join and leave at any turn.
"""

from __future__ import annotations

import gc
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from enum import Enum, auto
from pathlib import Path
from typing import Final, Protocol, assert_never

from engine.adapters import family, import_families
from engine.adapters.base import AsrAdapter, OutOfMemory, RuntimeOptions
from engine.config import SchedulerSettings
from engine.ipc import Inbox, Outbox
from engine.messages import (
    Abort,
    BatchTokenIDOutput,
    Chunk,
    ChunkKind,
    ConnectDetokenizer,
    DetokenizerMessage,
    Ended,
    EndedReason,
    Finish,
    FreezeGC,
    LoadText,
    SchedulerMessage,
    Stats,
    WorkerFailed,
    WorkerReady,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import JobId
from engine.scheduler.batch import Batch, Setback, ask
from engine.scheduler.pace import EncodingPace
from engine.scheduler.policy import Limits, admit_next, superseded_by
from engine.scheduler.shares import GRACE_S, Shares
from engine.scheduler.ticket import Ticket, WaitingRoom
from engine.watchdog import Watchdog, tell_manager

log = logging.getLogger(__name__)

STATS_INTERVAL_S: Final = 1.0
MOMENT_S: Final = 0.01


def run(settings: SchedulerSettings) -> None:
    """Load the model and serve it until the process is ended."""
    wires = _SocketWires(settings)
    with wires.patience():
        adapter = _load(settings)
    if isinstance(adapter, Failure):
        wires.tell(WorkerFailed(worker=settings.worker, failure=adapter))
        wires.close()
        return
    text = LoadText(model=settings.model_key, family=settings.family, folder=settings.folder)
    scheduler = Scheduler(adapter, wires, text, worker=settings.worker)
    wires.tell(WorkerReady(worker=settings.worker, device=adapter.device, slots=adapter.slots))
    while True:
        scheduler.turn()


class Wires(Protocol):
    """What a scheduler hears and says."""

    def receive(self, timeout_s: float | None) -> list[SchedulerMessage]:
        """Wait for the first message (None: for ever, 0: not at all) and return all there are."""
        ...

    def send(self, message: DetokenizerMessage) -> None:
        """Send to the detokenizer."""
        ...

    def tell(self, message: Stats) -> None:
        """Send to the manager."""
        ...

    def connect(self, address: str) -> None:
        """Let `send` go to the detokenizer at `address` from now on."""
        ...

    def patience(self) -> AbstractContextManager[None]:
        """Return what to put around work that may take minutes and yet is no hang."""
        ...


class _Side(Enum):
    """Whose turn it is."""

    LIVE = auto()
    FILES = auto()
    BOTH = auto()


class Scheduler:
    """The requests of one loaded model: who waits, who runs, and one turn after the other."""

    def __init__(
        self,
        adapter: AsrAdapter,
        wires: Wires,
        text: LoadText,
        *,
        worker: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._adapter = adapter
        self._batch = Batch(adapter, Path(text.model).name)
        self._waiting = WaitingRoom()
        self._wires = wires
        self._text = text
        self._worker = worker
        self._clock = clock
        self._stats_due_s = clock()
        self._pace = EncodingPace()
        self._shares = Shares()
        self._was_live = False
        self._live_until_s = -GRACE_S
        self._finishing: dict[JobId, Finish] = {}
        self._live_jobs: set[JobId] = set()
        self._num_arrived = 0
        # Ahead of all tokens on their own way, so that the text is known when they arrive.
        wires.send(text)

    @property
    def is_working(self) -> bool:
        return bool(self._batch.tickets or self._waiting)

    def turn(self, timeout_s: float | None = None) -> None:
        """Take the messages, waiting `timeout_s` for one if there is nothing to do, and go one step on.

        Raises NetworkLost where this process can do nothing more.
        """
        for message in self._wires.receive(self._patience_s if self.is_working else timeout_s):
            self._take(message)
        begun_s = self._clock()
        was_working = self.is_working
        side = self._admit()
        self._was_live = self._batch.is_live
        self._accept(self._batch.step())
        self._count(side, begun_s)
        if outputs := self._batch.take_news():
            self._wires.send(BatchTokenIDOutput(model=self._text.model, outputs=outputs))
        self._accept(self._batch.take_ended())
        self._forward_finishes()
        if was_working:
            self._batch.tally.busy_s += self._clock() - begun_s
            self._tell_stats()

    @property
    def _patience_s(self) -> float:
        """How long a turn with work to do may wait for messages: only while nothing may begin."""
        is_held = not self._batch.tickets and self._side() is _Side.LIVE
        return MOMENT_S if is_held and not any(ticket.is_live for ticket in self._waiting) else 0

    def _take(self, message: SchedulerMessage) -> None:
        match message:
            case Chunk():
                self._add(message)
            case Finish():
                self._finishing[message.job] = message
                self._live_jobs.discard(message.job)
            case Abort():
                self._abort(message)
            case ConnectDetokenizer():
                self._connect(message.address)
            case FreezeGC():
                gc.collect()
                gc.freeze()
            case _:
                assert_never(message)

    def _add(self, chunk: Chunk) -> None:
        place = (chunk.key.job, chunk.key.chunk)
        if any((ticket.job, ticket.chunk.key.chunk) == place for ticket in self._tickets()):
            log.debug("ignored a chunk that is here already")
            return
        self._num_arrived += 1
        ticket = Ticket(chunk=chunk, rows=self._adapter.rows(chunk), arrival=self._num_arrived)
        if ticket.is_live:
            self._live_jobs.add(ticket.job)
        for older in superseded_by(ticket, list(self._tickets())):
            if older.is_running:
                self._batch.release([older])
            else:
                self._waiting.remove(older)
            self._end(older, EndedReason.SUPERSEDED)
        self._waiting.append(ticket)

    def _abort(self, abort: Abort) -> None:
        self._waiting.drop_job(abort.job)
        self._batch.drop_job(abort.job)
        self._finishing.pop(abort.job, None)
        self._live_jobs.discard(abort.job)
        self._wires.send(abort)

    def _connect(self, address: str) -> None:
        """Go on with a new detokenizer, which knows nothing yet."""
        self._wires.connect(address)
        self._wires.send(self._text)
        for ticket in self._batch.tickets:
            ticket.send_again()

    def _side(self) -> _Side:
        """Say whose turn it is, where live and files both have work; closing decodes never wait."""
        live = [ticket for ticket in self._waiting if ticket.is_live]
        is_active = live or self._batch.is_live or self._is_live_expected
        if not is_active or all(ticket.is_live for ticket in self._tickets()):
            return _Side.BOTH
        is_urgent = any(ticket.chunk.kind is ChunkKind.CLOSING for ticket in live)
        if self._batch.is_live or is_urgent:
            return _Side.LIVE
        return _Side.FILES if self._shares.are_files_next else _Side.LIVE

    @property
    def _is_live_expected(self) -> bool:
        return bool(self._live_jobs) and self._clock() - self._live_until_s < GRACE_S

    def _count(self, side: _Side, begun_s: float) -> None:
        """Note what a turn took, and when live work was last seen."""
        now_s = self._clock()
        if self._was_live:
            self._live_until_s = now_s
        if side is _Side.BOTH:
            return
        if self._was_live:
            self._shares.live_took(now_s - begun_s)
        elif self._batch.tickets or side is _Side.FILES:
            self._shares.files_took(now_s - begun_s)

    def _admit(self) -> _Side:
        """Take newcomers in; returns whose turn it is."""
        self._refuse_too_large()
        side = self._side()
        limits = Limits(
            slots=self._batch.slots,
            max_newcomers=self._pace.max_newcomers,
            is_live_open=bool(self._live_jobs),
            may_files_enter=side is not _Side.LIVE,
            may_interims_enter=side is not _Side.FILES,
        )
        chosen = admit_next(self._waiting.queues, self._batch.tickets, limits)
        if chosen:
            self._waiting.serve(chosen)
            begun_s = self._clock()
            with self._wires.patience():
                self._accept(self._batch.start(chosen))
            self._pace.note(len(chosen), self._clock() - begun_s)
        return side

    def _refuse_too_large(self) -> None:
        slots = self._batch.slots
        for ticket in [ticket for ticket in self._waiting if ticket.rows > slots]:
            self._waiting.remove(ticket)
            detail = f"{ticket.rows} rows in {slots} slots"
            reason = failure(FailureKind.OUT_OF_MEMORY, Path(self._text.model).name, detail)
            self._end(ticket, EndedReason.FAILED, reason)

    def _accept(self, setback: Setback) -> None:
        self._waiting.put_back(setback.waiting)
        for ticket, reason in setback.failed:
            self._end(ticket, EndedReason.FAILED, reason)

    def _end(self, ticket: Ticket, reason: EndedReason, why: Failure | None = None) -> None:
        self._wires.send(Ended(key=ticket.key, reason=reason, failure=why))

    def _forward_finishes(self) -> None:
        for job, finish in list(self._finishing.items()):
            if not any(ticket.job == job for ticket in self._tickets()):
                self._wires.send(finish)
                del self._finishing[job]

    def _tell_stats(self) -> None:
        now_s = self._clock()
        if self.is_working and now_s < self._stats_due_s:
            return
        self._stats_due_s = now_s + STATS_INTERVAL_S
        work, tokens_per_s, real_time_factor = self._batch.tally.sum_up()
        stats = Stats(
            worker=self._worker,
            num_waiting=len(self._waiting),
            num_running=len(self._batch.tickets),
            num_slots=self._batch.slots,
            tokens_per_s=tokens_per_s,
            real_time_factor=real_time_factor,
            work=work,
        )
        self._wires.tell(stats)

    def _tickets(self) -> Iterator[Ticket]:
        yield from self._batch.tickets
        yield from self._waiting


class _SocketWires:
    """The real wires, with the watchdog that is off while they wait."""

    def __init__(self, settings: SchedulerSettings) -> None:
        self._inbox: Inbox[SchedulerMessage] = Inbox(settings.address, SchedulerMessage)
        self._manager = Outbox(settings.manager_address)
        self._detokenizer = Outbox(settings.detokenizer_address)
        tell = tell_manager(settings.worker, settings.manager_address)
        self.watchdog = Watchdog(settings.config.hang_s, tell)
        self.watchdog.start()
        self._loading_hang_s = settings.config.loading_hang_s

    def receive(self, timeout_s: float | None) -> list[SchedulerMessage]:
        self.watchdog.turn()
        if timeout_s == 0:
            return self._inbox.drain(0)
        with self.watchdog.idle():
            return self._inbox.drain(timeout_s)

    def send(self, message: DetokenizerMessage) -> None:
        self._detokenizer.put(message)

    def tell(self, message: Stats | WorkerReady | WorkerFailed) -> None:
        self._manager.put(message)

    def connect(self, address: str) -> None:
        # What is still on its way to a dead process is of no use to anybody.
        self._detokenizer.close(linger_s=0)
        self._detokenizer = Outbox(address)

    def patience(self) -> AbstractContextManager[None]:
        # One window of a large model takes a slow machine longer than any other turn.
        return self.watchdog.patience(self._loading_hang_s)

    def close(self) -> None:
        self.watchdog.close()
        self._inbox.close()
        self._detokenizer.close()
        self._manager.close()


def _load(settings: SchedulerSettings) -> AsrAdapter | Failure:
    config = settings.config
    folder = Path(settings.folder)
    runtime = RuntimeOptions(
        device=config.device,
        dtype=config.dtype,
        num_threads=config.num_threads,
        num_slots=config.num_slots,
        cache_folder=config.cache_folder,
        companion_folder=settings.companion_folder,
    )

    def load() -> AsrAdapter:
        import_families(config.families)
        return family(settings.family).adapter(folder, runtime)

    loaded = ask(load, folder.name)
    if isinstance(loaded, OutOfMemory):
        return failure(FailureKind.OUT_OF_MEMORY, folder.name, "the network does not fit")
    return loaded
