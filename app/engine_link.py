"""The bridge between the engine's reader thread and the window: batches of events, one signal at a time."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal

from app.ports import ClientMaker
from app.restarts import Restarts
from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.protocol.events import EngineLost, Event
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options

log = logging.getLogger(__name__)


class EngineLink(QObject):
    """An engine client whose events arrive on the thread this object lives on.

    Signals:
        events(list[Event]): what was told since the last time, in order.
        given_up(Failure): the engine died too often and was not started again; `restart` does.

    An engine that ends unasked is started again, at most three times a minute. All requests may be
    made from any thread.
    """

    events = Signal(list)
    given_up = Signal(object)
    _arrived = Signal()

    def __init__(
        self,
        config: EngineConfig,
        parent: QObject | None = None,
        *,
        make_client: ClientMaker = EngineClient,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._lock = threading.Lock()
        self._waiting: list[Event] = []
        self._restarts = Restarts()
        self._clock = clock
        self._is_closed = False
        self._client = make_client(config, self._on_event)
        self._arrived.connect(self._deliver, Qt.ConnectionType.QueuedConnection)

    def start(self) -> None:
        """Start the engine, or attach to the one that runs; returns at once."""
        self._client.start()

    def restart(self) -> None:
        """Start the engine again after it was given up."""
        self._restarts.forgive()
        self._client.restart()

    def close(self) -> None:
        """End the engine if it is ours; nothing is told any more. Waits for it (a few seconds at most)."""
        self._is_closed = True
        self._client.close()

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        """Ask for a transcript."""
        return self._client.transcribe(path, options, resume_at_sample)

    def listen(self, options: Options, start_sample: int = 0) -> JobId:
        """Open a live session."""
        return self._client.listen(options, start_sample)

    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool:
        """Offer a live session audio."""
        return self._client.feed(job, first_sample, pcm)

    def flush(self, job: JobId) -> None:
        """Have what a live session was fed confirmed."""
        self._client.flush(job)

    def close_stream(self, job: JobId) -> None:
        """End a live session once everything fed is confirmed."""
        self._client.close_stream(job)

    def set_options(self, job: JobId, *, language: str | None) -> None:
        """Choose the language of a live session."""
        self._client.set_options(job, language=language)

    def cancel(self, job: JobId) -> None:
        """Ask for a job's end."""
        self._client.cancel(job)

    def probe(self, path: str) -> JobId:
        """Ask what is in a media file."""
        return self._client.probe(path)

    def use_key(self, server: str, key: str) -> None:
        """Present a key to a server elsewhere from now on."""
        self._client.use_key(server, key)

    def list_models(self, server: str = "") -> JobId:
        """Ask for every model known or installed, or for those of a server elsewhere."""
        return self._client.list_models(server)

    def download_model(self, model: str) -> JobId:
        """Fetch a catalogue model."""
        return self._client.download_model(model)

    def verify_model(self, model: str) -> JobId:
        """Check an installed model."""
        return self._client.verify_model(model)

    def remove_model(self, model: str) -> JobId:
        """Delete a downloaded model."""
        return self._client.remove_model(model)

    def diagnose(self) -> JobId:
        """Ask for versions, devices and paths."""
        return self._client.diagnose()

    def _on_event(self, event: Event) -> None:
        """Reader thread: leave the event, and ring once for all that wait."""
        with self._lock:
            self._waiting.append(event)
            is_first = len(self._waiting) == 1
        if is_first:
            self._arrived.emit()

    def _deliver(self) -> None:
        with self._lock:
            batch, self._waiting = self._waiting, []
        if self._is_closed or not batch:
            return
        self.events.emit(batch)
        for event in batch:
            if isinstance(event, EngineLost):
                self._on_loss(event)

    def _on_loss(self, event: EngineLost) -> None:
        if self._restarts.allow(self._clock()):
            log.info("the engine ended unasked and is started again")
            self._client.restart()
        else:
            self.given_up.emit(event.failure)
