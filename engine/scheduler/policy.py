"""Who is admitted to the running batch next. Pure.

Closing live decodes come before interim ones, and those before files. Between files the one with the
fewest running rows is next, and among equals the one that was served longest ago: a file that arrives
late gets its share of the slots as soon as they are freed, whoever holds them now.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.messages import ChunkKind
from engine.protocol.requests import JobId
from engine.scheduler.ticket import Ticket

_URGENCY: Final = {ChunkKind.CLOSING: 0, ChunkKind.INTERIM: 1, ChunkKind.FILE: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one turn may admit."""

    slots: int
    """Rows that may run at once."""
    max_newcomers: int
    """Windows encoded together, while everything that runs waits."""
    is_live_open: bool
    """A live session exists: files leave one slot free, and one window a turn is encoded for them."""
    may_files_enter: bool = True
    """False while live work is running or waiting."""
    may_interims_enter: bool = True
    """False while it is the files' turn."""


def admit_next(queues: Sequence[Sequence[Ticket]], running: Sequence[Ticket], limits: Limits) -> list[Ticket]:
    """Return the tickets to admit now, most urgent first.

    `queues` holds each job's waiting tickets, the job served longest ago first. The first ticket that
    does not fit ends the choice: skipping it would let smaller ones keep it out for ever.
    """
    choice = _Choice(running, limits)
    live = [ticket for queue in queues for ticket in queue if ticket.is_live]
    if not limits.may_interims_enter:
        live = [ticket for ticket in live if ticket.chunk.kind is not ChunkKind.INTERIM]
    live = [ticket for ticket in live if not _waits(ticket, running)]
    for ticket in sorted(live, key=lambda ticket: (_URGENCY[ticket.chunk.kind], ticket.arrival)):
        if not choice.take(ticket):
            return choice.taken
    if not limits.may_files_enter:
        return choice.taken
    files = [deque(queue) for queue in queues if not queue[0].is_live]
    while files:
        queue = min(files, key=lambda queue: choice.rows_of(queue[0].job))
        if not choice.take(queue.popleft()):
            return choice.taken
        files = [queue for queue in files if queue]
    return choice.taken


def superseded_by(newcomer: Ticket, others: Sequence[Ticket]) -> list[Ticket]:
    """Return the interim decodes that a newer live decode of the same job makes pointless.

    One that runs may end, or none would where the machine is slow; unless a closing one comes, which
    says all that it would have said.
    """
    if not newcomer.is_live:
        return []
    is_closing = newcomer.chunk.kind is ChunkKind.CLOSING
    return [
        ticket
        for ticket in others
        if ticket.chunk.kind is ChunkKind.INTERIM
        and ticket.job == newcomer.job
        and ticket.chunk.key.chunk < newcomer.chunk.key.chunk
        and (is_closing or not ticket.is_running)
    ]


def _waits(ticket: Ticket, running: Sequence[Ticket]) -> bool:
    """Say whether an interim decode waits for one of its session that runs: meanwhile a newer may come."""
    is_interim = ticket.chunk.kind is ChunkKind.INTERIM
    return is_interim and any(other.is_live and other.job == ticket.job for other in running)


class _Choice:
    """What was taken so far in one turn."""

    def __init__(self, running: Sequence[Ticket], limits: Limits) -> None:
        self.taken: list[Ticket] = []
        self._running = running
        self._limits = limits

    def rows_of(self, job: JobId) -> int:
        return sum(ticket.rows for ticket in self._inside if ticket.job == job)

    def take(self, ticket: Ticket) -> bool:
        """Take `ticket` if it may enter now."""
        is_welcome = len(self.taken) < self._limits.max_newcomers and self._has_room(ticket)
        if is_welcome and not ticket.is_live:
            is_welcome = self._may_file_enter(ticket)
        if is_welcome:
            self.taken.append(ticket)
        return is_welcome

    @property
    def _inside(self) -> list[Ticket]:
        return [*self._running, *self.taken]

    def _has_room(self, ticket: Ticket) -> bool:
        inside = self._inside
        if inside and (ticket.is_suspect or any(other.is_suspect for other in inside)):
            return False
        return sum(other.rows for other in inside) + ticket.rows <= self._limits.slots

    def _may_file_enter(self, ticket: Ticket) -> bool:
        if not self._limits.is_live_open:
            return True
        if any(not other.is_live for other in self.taken):
            return False
        file_rows = sum(other.rows for other in self._inside if not other.is_live) + ticket.rows
        # A decoding that needs every slot would never run beside a kept one.
        num_kept = 1 if ticket.rows < self._limits.slots else 0
        return file_rows <= self._limits.slots - num_kept
