"""A listener that remembers what it was told and waits for what it needs to hear."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from engine.protocol.events import Event, JobCancelled, JobDone, JobFailed
from engine.protocol.requests import JobId


class Listener:
    """Give `on_event` to a client; then wait for events by what they are, never for a time."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._changed = threading.Condition()

    def on_event(self, event: Event) -> None:
        with self._changed:
            self.events.append(event)
            self._changed.notify_all()

    def wait_until(self, is_so: Callable[[list[Event]], bool], timeout_s: float = 30.0) -> None:
        """Wait until the events so far satisfy `is_so`; fails with what was heard instead."""
        end_s = time.monotonic() + timeout_s
        with self._changed:
            while not is_so(self.events):
                if not self._changed.wait(max(0.0, end_s - time.monotonic())):
                    heard = [type(event).__name__ for event in self.events]
                    raise AssertionError(f"never heard of it; heard {heard[-40:]}")

    def wait_for(self, kind: type[Any], job: JobId | None = None, timeout_s: float = 30.0) -> Any:
        """Wait for the first event of a kind (of a job) and return it."""
        self.wait_until(lambda events: bool(self.of(kind, job)), timeout_s)
        return self.of(kind, job)[0]

    def wait_for_ending(self, job: JobId, timeout_s: float = 60.0) -> JobDone | JobFailed | JobCancelled:
        """Wait for a job's ending and return it."""
        self.wait_until(lambda events: bool(self.endings(job)), timeout_s)
        return self.endings(job)[0]

    def of(self, kind: type[Any], job: JobId | None = None) -> list[Any]:
        """Return all events of a kind (of a job) so far."""
        return [
            event
            for event in self.events
            if isinstance(event, kind) and (job is None or getattr(event, "job", None) == job)
        ]

    def story(self, job: JobId) -> list[Event]:
        """Return everything told of a job so far."""
        return [event for event in self.events if getattr(event, "job", None) == job]

    def endings(self, job: JobId) -> list[JobDone | JobFailed | JobCancelled]:
        """Return a job's endings: there must never be two."""
        return [event for event in self.story(job) if isinstance(event, JobDone | JobFailed | JobCancelled)]
