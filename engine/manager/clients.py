"""Who is attached to the engine, and what each has still to be told."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from engine.protocol.events import Event, Progress, Tail
from engine.protocol.requests import Hello

log = logging.getLogger(__name__)

SILENCE_S = 10.0
"""A client that has not said `Alive` for so long is dead."""


class AwakeClock:
    """Seconds in which this process was awake: after the computer's sleep nobody has been silent."""

    def __init__(self, now_s: float, *, longest_turn_s: float) -> None:
        self.now_s = 0.0
        self._last_s = now_s
        self._longest_turn_s = longest_turn_s

    def turn(self, now_s: float) -> None:
        """Count the time since the last turn; of a longer gap than a turn can take only that."""
        self.now_s += min(now_s - self._last_s, self._longest_turn_s)
        self._last_s = now_s


class Pipe(Protocol):
    """Where a client's events go; `put` is False when the pipe is full and took nothing."""

    def put(self, message: msgspec.Struct) -> bool: ...

    def close(self, linger_s: float = ...) -> None: ...


@dataclass(slots=True)
class _Client:
    pipe: Pipe
    address: str
    heard_at_s: float
    pending: dict[object, Event] = field(default_factory=dict)


class Clients:
    """The attached clients. A full pipe is back-pressure, not death: events wait here, in order.

    Waiting `Tail` and `Progress` events of a job are merged, since the next replaces the last.
    """

    def __init__(self, open_pipe: Callable[[str], Pipe]) -> None:
        self._open_pipe = open_pipe
        self._clients: dict[str, _Client] = {}
        self._num_queued = 0

    def __contains__(self, name: str) -> bool:
        return name in self._clients

    @property
    def names(self) -> list[str]:
        return list(self._clients)

    def attach(self, hello: Hello, now_s: float) -> None:
        """Know a client from now on. One that says hello again was away and is back: it keeps its pipe."""
        known = self._clients.get(hello.client)
        if known is not None and known.address == hello.address:
            known.heard_at_s = now_s
            return
        self.detach(hello.client)
        self._clients[hello.client] = _Client(self._open_pipe(hello.address), hello.address, now_s)

    def detach(self, name: str) -> None:
        """Forget a client and what it was still to be told."""
        client = self._clients.pop(name, None)
        if client is not None:
            client.pipe.close()

    def heard(self, name: str, now_s: float) -> None:
        """Note a sign of life."""
        if name in self._clients:
            self._clients[name].heard_at_s = now_s

    def silent(self, now_s: float) -> list[str]:
        """Return the clients that have been silent for too long."""
        return [name for name, client in self._clients.items() if now_s - client.heard_at_s > SILENCE_S]

    def is_stalled(self, name: str) -> bool:
        """Say whether a client does not keep up; its chunks should not be pulled meanwhile."""
        return name in self._clients and bool(self._clients[name].pending)

    def tell(self, name: str, event: Event) -> None:
        """Send an event, or keep it in order behind those that wait."""
        client = self._clients.get(name)
        if client is None:
            return
        if not client.pending and client.pipe.put(event):
            return
        key = self._merge_key(event)
        client.pending.pop(key, None)
        client.pending[key] = event

    def tell_all(self, event: Event) -> None:
        """Send an event to every client."""
        for name in self.names:
            self.tell(name, event)

    def flush(self) -> None:
        """Send what waits, as far as the pipes take it."""
        for client in self._clients.values():
            while client.pending:
                key, event = next(iter(client.pending.items()))
                if not client.pipe.put(event):
                    break
                del client.pending[key]

    def close(self) -> None:
        """Detach everybody, giving what was sent the time to arrive."""
        self.flush()
        for name in self.names:
            self.detach(name)

    def _merge_key(self, event: Event) -> object:
        if isinstance(event, (Tail, Progress)):
            return (type(event), event.job)
        self._num_queued += 1
        return self._num_queued
