"""One engine client for one command: events come out of a queue, and nothing outlives the command."""

from __future__ import annotations

import queue
from collections.abc import Callable
from types import TracebackType
from typing import Final

from app.ports import Client, ClientMaker
from engine.config import EngineConfig
from engine.protocol.events import Event, JobCancelled, JobDone, JobEnding, JobFailed, Refused
from engine.protocol.requests import JobId

_LOOK_UP_S: Final = 0.2
"""On Windows a wait without end cannot be interrupted by Ctrl-C."""


class Session:
    """A started client, closed at the end of the `with` block, Ctrl-C included."""

    def __init__(self, config: EngineConfig, make_client: ClientMaker) -> None:
        self.config = config
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self.client: Client = make_client(config, self._events.put, name="cli")

    def __enter__(self) -> Session:
        self.client.start()
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.client.close()

    def next_event(self) -> Event:
        """Wait for the next thing the engine tells."""
        while True:
            try:
                return self._events.get(timeout=_LOOK_UP_S)
            except queue.Empty:
                continue

    def events_within(self, timeout_s: float) -> list[Event]:
        """Wait for something told, but no longer than `timeout_s`; return all there is."""
        events: list[Event] = []
        try:
            events.append(self._events.get(timeout=timeout_s))
            while True:
                events.append(self._events.get_nowait())
        except queue.Empty:
            return events

    def finish(self, job: JobId, on_event: Callable[[Event], None]) -> JobEnding:
        """Wait for the ending of one job; everything told before it goes to `on_event`."""
        while True:
            event = self.next_event()
            match event:
                case JobDone(job=ended) | JobFailed(job=ended) | JobCancelled(job=ended) if ended == job:
                    return event
                case Refused(failure=failure):
                    return JobFailed(job=job, failure=failure)
                case _:
                    on_event(event)
