"""The server's way to the engine: asyncio on one side, the client's reader thread on the other."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable
from typing import Final, Protocol

from engine.config import EngineConfig
from engine.protocol.events import (
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobEvent,
    JobFailed,
    ModelState,
    Refused,
    Welcome,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, VadSettings

log = logging.getLogger(__name__)

RESTART_S: Final = (0.0, 1.0, 5.0, 15.0)
"""How long to wait before an engine that was lost so many times in a row is started again."""


class Client(Protocol):
    """`engine.client.client.EngineClient`, as far as the server uses it."""

    def start(self) -> None: ...
    def close(self) -> None: ...
    def restart(self) -> None: ...
    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId: ...
    def listen(self, options: Options, start_sample: int = 0, turns: VadSettings | None = None) -> JobId: ...
    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool: ...
    def flush(self, job: JobId, at_sample: int | None = None) -> None: ...
    def close_stream(self, job: JobId) -> None: ...
    def set_options(self, job: JobId, *, language: str | None) -> None: ...
    def cancel(self, job: JobId) -> None: ...
    def list_models(self) -> JobId: ...
    def measure(self) -> JobId: ...


class ClientMaker(Protocol):
    """How a client is made: `EngineClient` itself, or a fake's constructor."""

    def __call__(
        self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = ...
    ) -> Client: ...


class Job:
    """One job's events, to be read by one task: `async for event in job`. The last is its ending.

    Leaving the `with` block cancels it, if it has not ended.
    """

    def __init__(self, bridge: Bridge, id_: JobId) -> None:
        self.id = id_
        self._bridge = bridge
        self._events: asyncio.Queue[JobEvent] = asyncio.Queue()
        self._is_over = False
        self.failure: Failure | None = None
        """Why it did not succeed; known when it has ended."""

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    async def __aiter__(self) -> AsyncIterator[JobEvent]:
        while not self._is_over:
            event = await self._events.get()
            self._note(event)
            yield event

    def leave(self) -> None:
        """Hear no more of it; it is cancelled, if it has not ended."""
        self._is_over = True
        self._bridge.forget(self.id)

    def put(self, event: JobEvent) -> None:
        """Take an event; for the bridge alone."""
        self._events.put_nowait(event)

    def _note(self, event: JobEvent) -> None:
        match event:
            case JobDone():
                self._is_over = True
            case JobFailed(failure=why):
                self._is_over, self.failure = True, why
            case JobCancelled():
                why = failure(FailureKind.ENGINE_DIED, "file", "it was cancelled elsewhere")
                self._is_over, self.failure = True, why
            case _:
                pass


class Bridge:
    """Owns the client. All methods belong to the event loop's thread; `open` must have been called.

    An engine that is lost is started again: at once, then less and less hastily. Jobs that were open
    have failed by then.
    """

    def __init__(self, config: EngineConfig, make_client: ClientMaker) -> None:
        self._config = config
        self._make_client = make_client
        self._jobs: dict[JobId, Job] = {}
        self._lock = threading.Lock()
        self._arrived: list[Event] = []
        """Guarded by the lock; the reader thread fills it, the loop empties it."""
        self._num_losses = 0
        self._is_closed = False
        self.has_engine = False

    def open(self) -> None:
        """Start the client in the running event loop; requests may be made at once."""
        self._loop = asyncio.get_running_loop()
        self._client = self._make_client(self._config, self._hear, name="server")
        self._client.start()

    async def close(self) -> None:
        """Detach; open jobs end as cancelled, and an engine of ours ends unless others use it."""
        self._is_closed = True
        await asyncio.to_thread(self._client.close)
        self._take_arrived()

    @property
    def num_jobs(self) -> int:
        """How many jobs somebody reads."""
        return len(self._jobs)

    @property
    def client(self) -> Client:
        """For what is said to a live session: `feed`, `flush`, `close_stream`, `set_options`."""
        return self._client

    def transcribe(self, path: str, options: Options) -> Job:
        """Begin to transcribe a file."""
        return self._follow(self._client.transcribe(path, options))

    def listen(self, options: Options, start_sample: int, turns: VadSettings | None) -> Job:
        """Open a live session that hears a recording from `start_sample` on."""
        return self._follow(self._client.listen(options, start_sample, turns))

    def list_models(self) -> Job:
        """Ask for the models."""
        return self._follow(self._client.list_models())

    def measure(self) -> Job:
        """Ask how much there is to do and how fast it goes."""
        return self._follow(self._client.measure())

    def forget(self, job: JobId) -> None:
        """Cancel a job and drop what is still told of it; nothing happens once it has ended."""
        if self._jobs.pop(job, None) is not None and not self._is_closed:
            self._client.cancel(job)

    def end_all(self) -> None:
        """End every open job for its reader: the server is about to close."""
        why = failure(FailureKind.ENGINE_DIED, "file", "the server is ending")
        for job in list(self._jobs.values()):
            self._client.cancel(job.id)
            self._tell(JobFailed(job=job.id, failure=why))

    def _follow(self, id_: JobId) -> Job:
        job = self._jobs[id_] = Job(self, id_)
        return job

    def _hear(self, event: Event) -> None:
        """Take an event on the reader thread: one call into the loop for all that arrive together."""
        with self._lock:
            self._arrived.append(event)
            is_first = len(self._arrived) == 1
        if is_first and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._take_arrived)

    def _take_arrived(self) -> None:
        with self._lock:
            arrived, self._arrived = self._arrived, []
        for event in arrived:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Welcome():
                self.has_engine = True
            case EngineLost() | Refused():
                self._lose(event)
            case ModelState():
                pass
            case _:
                self._tell(event)

    def _tell(self, event: JobEvent) -> None:
        job = self._jobs.get(event.job)
        if job is None:
            return
        match event:
            case JobDone():
                # Only work that succeeds shows that the engine is well.
                self._num_losses = 0
                del self._jobs[event.job]
            case JobFailed() | JobCancelled():
                del self._jobs[event.job]
            case _:
                pass
        job.put(event)

    def _lose(self, event: EngineLost | Refused) -> None:
        self.has_engine = False
        log.warning("there is no engine: %s", event.failure.kind)
        wait_s = RESTART_S[min(self._num_losses, len(RESTART_S) - 1)]
        self._num_losses += 1
        if not self._is_closed:
            self._loop.call_later(wait_s, self._restart)

    def _restart(self) -> None:
        if not self._is_closed:
            self._client.restart()
