"""Where a request stands between its chunk's arrival and its answer: in its job's queue, or running."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.adapters.base import Decode
from engine.messages import Chunk, ChunkKind, RequestKey
from engine.protocol.requests import JobId


@dataclass(slots=True, eq=False, kw_only=True)
class Ticket:
    """One chunk that is to be answered. Owned by the scheduler's loop."""

    chunk: Chunk
    rows: int
    """Slots its decoding takes."""
    arrival: int
    """Counts the chunks as they come."""
    attempt: int = 0
    """Which of the temperatures is next; goes up when the guards object."""
    num_restarts: int = 0
    """How often its ids began again at 0, whatever the reason; the detokenizer sees it as the attempt."""
    is_suspect: bool = False
    """An exception came while it ran with others: it runs alone from now on, to be told from the guilty."""
    decode: Decode | None = None
    """Set while it runs."""
    is_announced: bool = False
    """Something of this decoding was sent, be it only its language."""

    @property
    def job(self) -> JobId:
        return self.chunk.key.job

    @property
    def is_live(self) -> bool:
        return self.chunk.kind is not ChunkKind.FILE

    @property
    def is_running(self) -> bool:
        return self.decode is not None

    @property
    def key(self) -> RequestKey:
        """What its output is sent under."""
        own = self.chunk.key
        return RequestKey(own.job, own.chunk, own.attempt + self.num_restarts)

    def restart(self, *, is_retry: bool = False) -> None:
        """Begin again at id 0; a retry goes on to the next temperature."""
        self.attempt += is_retry
        self.num_restarts += 1
        self.decode = None
        self.is_announced = False

    def send_again(self) -> None:
        """Keep what was decoded, and send all of it once more."""
        assert self.decode is not None
        self.decode.num_sent = 0
        self.num_restarts += 1
        self.is_announced = False


class WaitingRoom:
    """A queue for each job; the job that was served longest ago comes first."""

    def __init__(self) -> None:
        self._queues: dict[JobId, deque[Ticket]] = {}

    def __iter__(self) -> Iterator[Ticket]:
        return (ticket for queue in self._queues.values() for ticket in queue)

    def __len__(self) -> int:
        return sum(len(queue) for queue in self._queues.values())

    @property
    def queues(self) -> list[tuple[Ticket, ...]]:
        """Each job's tickets in order, none empty."""
        return [tuple(queue) for queue in self._queues.values()]

    def append(self, ticket: Ticket) -> None:
        """Put a new ticket behind those of its job."""
        self._queues.setdefault(ticket.job, deque()).append(ticket)

    def put_back(self, tickets: Iterable[Ticket]) -> None:
        """Put tickets that ran before, and their jobs, in front of the others, in the order given."""
        for ticket in reversed(list(tickets)):
            queue = self._queues.pop(ticket.job, deque())
            queue.appendleft(ticket)
            self._queues = {ticket.job: queue, **self._queues}

    def remove(self, ticket: Ticket) -> None:
        """Take a ticket out; its job keeps its place."""
        queue = self._queues[ticket.job]
        queue.remove(ticket)
        if not queue:
            del self._queues[ticket.job]

    def serve(self, tickets: Iterable[Ticket]) -> None:
        """Take tickets out, and let their jobs queue up behind the others."""
        for ticket in tickets:
            self.remove(ticket)
            if ticket.job in self._queues:
                self._queues[ticket.job] = self._queues.pop(ticket.job)

    def drop_job(self, job: JobId) -> None:
        self._queues.pop(job, None)
