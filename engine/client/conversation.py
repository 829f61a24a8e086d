"""Our way to one engine and back: Hello, then requests and events, until it is lost or we leave."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.client.process import Engine
from engine.ipc import Inbox, Outbox, new_address
from engine.messages import Tick
from engine.protocol import PROTOCOL_VERSION
from engine.protocol.events import Event, Refused, Welcome
from engine.protocol.failures import Failure
from engine.protocol.requests import Alive, Goodbye, Hello, Request

ALIVE_S: Final = 2.0
ABSENT_S: Final = 6.0
"""After saying nothing for so long (the computer slept) we may have been forgotten: Hello again."""
WELCOME_S: Final = 60.0
"""How long an engine may take to answer Hello: it imports its libraries meanwhile."""
LOOK_S: Final = 0.5
"""How often an engine that is not our child is looked at; our own tells its end at once."""
MAX_WAITING_EVENTS: Final = 1000
"""Beyond so many unread events the engine keeps the rest, and merges what can be merged."""


@dataclass(frozen=True, kw_only=True)
class Loss:
    """Why there is no engine any more."""

    detail: str
    refusal: Failure | None = None
    is_orderly: bool = False
    """It ended because its owner was gone and nobody had work for it; nothing is wrong."""


class Conversation:
    """One engine, our inbox and our outbox to it. Made, read and closed by the reader thread.

    `say` and `ring` may be called from any thread.
    """

    def __init__(self, engine: Engine, client: str, runtime_folder: Path) -> None:
        """Say Hello. Raises OSError where no inbox can be bound."""
        self.engine = engine
        self.is_welcome = False
        self._client = client
        self._refusal: Failure | None = None
        self._lock = threading.Lock()
        self._inbox: Inbox[Event | Tick] = Inbox(
            new_address(runtime_folder, f"client-{client}", 1), Event | Tick, max_messages=MAX_WAITING_EVENTS
        )
        self._outbox = Outbox(engine.address)
        self._bell = Outbox(self._inbox.address)
        self._is_over = threading.Event()
        self._began_s = time.monotonic()
        self._said_s = self._began_s
        self.say(self._hello())
        engine.tell_end(self.ring)
        threading.Thread(target=self._stay_alive, daemon=True, name="client-alive").start()

    def say(self, message: Request) -> None:
        """Send to the engine; nothing happens once the conversation is over."""
        with self._lock:
            if self._is_over.is_set():
                return
            if time.monotonic() - self._said_s > ABSENT_S:
                self._outbox.put(self._hello())
            self._outbox.put(message)
            self._said_s = time.monotonic()

    def ring(self) -> None:
        """Make `hear` return."""
        with self._lock:
            if not self._is_over.is_set():
                self._bell.put(Tick())

    def hear(self, timeout_s: float = LOOK_S) -> list[Event]:
        """Wait for events and return them in order; a repeated `Welcome` is left out."""
        events: list[Event] = []
        for message in self._inbox.drain(timeout_s):
            match message:
                case Tick():
                    continue
                case Welcome():
                    if self.is_welcome or message.engine_pid != self.engine.pid:
                        continue
                    self.is_welcome = True
                case Refused():
                    self._refusal = message.failure
                    continue
                case _:
                    pass
            events.append(message)
        return events

    def find_loss(self) -> Loss | None:
        """Say whether the engine is gone, or as good as gone."""
        if self._refusal is not None:
            self.engine.leave()
            return Loss(detail=self._refusal.detail, refusal=self._refusal)
        if self.engine.has_ended():
            return Loss(detail=self.engine.last_words(), is_orderly=self.engine.has_ended_in_order())
        if not self.is_welcome and time.monotonic() - self._began_s > WELCOME_S:
            self.engine.kill()
            return Loss(detail=f"the engine did not answer within {WELCOME_S:.0f} s")
        return None

    def say_goodbye(self) -> None:
        """Detach from the engine, which is then free to end; nothing can be said after that."""
        self.say(Goodbye(client=self._client))
        self._is_over.set()

    def close(self) -> None:
        """Close both ends; what was said is still delivered for a moment."""
        with self._lock:
            self._is_over.set()
            self._outbox.close()
            self._bell.close(0.0)
        self._inbox.close()

    def _hello(self) -> Hello:
        return Hello(
            client=self._client,
            address=self._inbox.address,
            protocol_version=PROTOCOL_VERSION,
            pid=os.getpid(),
        )

    def _stay_alive(self) -> None:
        # Not by the reader: a handler that takes its time is back-pressure, not the client's death.
        while not self._is_over.wait(ALIVE_S):
            self.say(Alive(client=self._client))
