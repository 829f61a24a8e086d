"""The running batch: what the network does, what became of it, and who has to begin again."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from engine.adapters.base import Admission, AsrAdapter, Decode, OutOfMemory, Retry
from engine.messages import Finished, TokenIDs
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.requests import JobId
from engine.scheduler.tally import Tally
from engine.scheduler.ticket import Ticket

log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Setback:
    """Tickets that left the batch without an answer."""

    waiting: tuple[Ticket, ...] = ()
    """To be put back, in this order, and run again."""
    failed: tuple[tuple[Ticket, Failure], ...] = ()
    """To be answered with the failure."""


class NetworkLost(Exception):
    """The network fails whatever it is given, as a device does after a fault: only a new process helps."""


class Batch:
    """The tickets that run, and the network they run in. `subject` names the model in failures.

    The network's exceptions end here: one that several tickets were part of makes them begin again
    alone, so that only the guilty one is answered with it.
    """

    def __init__(self, adapter: AsrAdapter, subject: str) -> None:
        self._adapter = adapter
        self._subject = subject
        self._is_doubtful = False
        """An exception came, and nothing has succeeded since: is it the chunk or the network?"""
        self.tickets: list[Ticket] = []
        self.tally = Tally()

    @property
    def slots(self) -> int:
        return self._adapter.slots

    @property
    def num_rows(self) -> int:
        return sum(ticket.rows for ticket in self.tickets)

    def start(self, tickets: Sequence[Ticket]) -> Setback:
        """Encode newcomers together; they fit. Raises NetworkLost."""
        admissions = [Admission(ticket.chunk, ticket.attempt) for ticket in tickets]
        match ask(lambda: self._adapter.admit(admissions), self._subject):
            case OutOfMemory():
                return self._shrink(tickets)
            case Failure() as reason:
                return self._start_each(tickets) if len(tickets) > 1 else self._refuse(tickets[0], reason)
            case decodes:
                self._is_doubtful = False
                self.tally.num_prefills += 1
                for ticket, decode in zip(tickets, decodes, strict=True):
                    ticket.decode = decode
                self.tickets += tickets
                return Setback()

    @property
    def is_live(self) -> bool:
        """A live decode is running."""
        return any(ticket.is_live for ticket in self.tickets)

    def step(self) -> Setback:
        """Let everything that has no outcome yet generate one token; where live runs, only that."""
        is_live = self.is_live
        stepping = [ticket for ticket in self.tickets if _decode(ticket).outcome is None]
        stepping = [ticket for ticket in stepping if ticket.is_live or not is_live]
        if not stepping:
            return Setback()
        match ask(lambda: self._adapter.step([_decode(ticket) for ticket in stepping]), self._subject):
            case OutOfMemory():
                return self._shrink([])
            case Failure() as reason:
                return self._isolate(stepping, reason)
            case None:
                self.tally.num_steps += 1
                return Setback()

    def take_news(self) -> tuple[TokenIDs, ...]:
        """Return what was not sent yet, and count it as sent."""
        news = tuple(_output(ticket) for ticket in self.tickets if _has_news(ticket))
        self.tally.count(news)
        return news

    def take_ended(self) -> Setback:
        """Let go of those that have an outcome; who is to be retried goes on to the next temperature."""
        ended = [ticket for ticket in self.tickets if _decode(ticket).outcome is not None]
        retried = [ticket for ticket in ended if isinstance(_decode(ticket).outcome, Retry)]
        self.release(ended)
        for ticket in retried:
            ticket.restart(is_retry=True)
        hopeless = [ticket for ticket in retried if ticket.attempt > _last_attempt(ticket)]
        reason = failure(FailureKind.INTERNAL, self._subject, "the guards objected to every attempt")
        return Setback(
            waiting=tuple(ticket for ticket in retried if ticket not in hopeless),
            failed=tuple((ticket, reason) for ticket in hopeless),
        )

    def release(self, tickets: Sequence[Ticket]) -> None:
        """Take tickets out and free their rows."""
        if tickets:
            self.tickets = [ticket for ticket in self.tickets if ticket not in tickets]
            self._adapter.release([_decode(ticket) for ticket in tickets])

    def drop_job(self, job: JobId) -> None:
        self.release([ticket for ticket in self.tickets if ticket.job == job])

    def _start_each(self, tickets: Sequence[Ticket]) -> Setback:
        waiting: list[Ticket] = []
        failed: list[tuple[Ticket, Failure]] = []
        for ticket in tickets:
            # Running out of memory on the way leaves fewer slots than the choice was made for.
            if waiting or self.num_rows + ticket.rows > self.slots:
                waiting.append(ticket)
                continue
            setback = self.start([ticket])
            waiting += setback.waiting
            failed += setback.failed
        return Setback(tuple(waiting), tuple(failed))

    def _refuse(self, ticket: Ticket, reason: Failure) -> Setback:
        """Fail who cannot even be encoded, unless the one before it ended in an exception too."""
        if reason.kind is FailureKind.INTERNAL:
            if self._is_doubtful:
                raise NetworkLost(reason.detail)
            self._is_doubtful = True
        return _failed(ticket, reason)

    def _isolate(self, stepping: Sequence[Ticket], reason: Failure) -> Setback:
        """Fail who stepped alone; of several nobody knows whose exception it was."""
        self._is_doubtful = True
        self.release(stepping)
        if len(stepping) == 1:
            return _failed(stepping[0], reason)
        for ticket in stepping:
            ticket.is_suspect = True
            ticket.restart()
        return Setback(waiting=tuple(stepping))

    def _shrink(self, newcomers: Sequence[Ticket]) -> Setback:
        """Halve the slots and let everybody begin again; who was alone does not fit at all."""
        involved = [*self.tickets, *newcomers]
        self.release(list(self.tickets))
        if len(involved) == 1:
            reason = failure(FailureKind.OUT_OF_MEMORY, self._subject, "a single chunk does not fit")
            return _failed(involved[0], reason)
        rows = [ticket.rows for ticket in involved]
        num_slots = max(*rows, sum(rows) // 2)
        log.info("out of memory with %d rows, going on with %d", sum(rows), num_slots)
        self._adapter.resize(num_slots)
        for ticket in involved:
            ticket.restart()
        return Setback(waiting=tuple(involved))


def ask(call: Callable[[], T], subject: str) -> T | OutOfMemory | Failure:
    """Return what the network answers to `call`, or why it cannot; any exception becomes a value here."""
    try:
        return call()
    except (OutOfMemory, MemoryError):
        return OutOfMemory()
    except FailureError as error:
        return error.failure
    except Exception as error:
        log.error("the network failed by %s", type(error).__name__)
        log.debug("it says", exc_info=True)
        return failure(FailureKind.INTERNAL, subject, traceback.format_exc())


def _failed(ticket: Ticket, reason: Failure) -> Setback:
    return Setback(failed=((ticket, reason),))


def _decode(ticket: Ticket) -> Decode:
    assert ticket.decode is not None, "only a running ticket has a decoding"
    return ticket.decode


def _last_attempt(ticket: Ticket) -> int:
    """Return the one behind the last temperature: it gives the best of all, and is never retried."""
    return max(1, len(ticket.chunk.options.temperatures))


def _has_news(ticket: Ticket) -> bool:
    decode = _decode(ticket)
    if isinstance(decode.outcome, Retry):
        return False
    # The first output may be without ids: its language frees the other chunks of a file.
    has_language = not ticket.is_announced and decode.language is not None
    return has_language or len(decode.ids) > decode.num_sent or decode.outcome is not None


def _output(ticket: Ticket) -> TokenIDs:
    decode = _decode(ticket)
    first = decode.num_sent
    decode.num_sent = len(decode.ids)
    ticket.is_announced = True
    return TokenIDs(
        key=ticket.key,
        first_index=first,
        ids=tuple(decode.ids[first:]),
        logprobs=tuple(decode.logprobs[first:]),
        attended_s=tuple(decode.attended_s[first:]),
        prefix_ids=decode.prefix_ids if first == 0 else (),
        language=decode.language,
        language_probability=decode.language_probability,
        options=ticket.chunk.options,
        finished=_finished(ticket),
    )


def _finished(ticket: Ticket) -> Finished | None:
    """Return the outcome with what the text side must know of the chunk."""
    outcome = _decode(ticket).outcome
    if not isinstance(outcome, Finished):
        return None
    return msgspec.structs.replace(outcome, speech=ticket.chunk.speech)
