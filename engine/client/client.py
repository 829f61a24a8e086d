"""EngineClient: the one way to the engine for the window, the command line and the server."""

from __future__ import annotations

from collections.abc import Callable

from engine.config import EngineConfig
from engine.protocol.events import Event
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options


class EngineClient:
    """Starts or attaches to an engine, sends requests to it and tells what comes back.

    `on_event` is called on the reader thread, one event at a time; every job ends exactly once.
    All methods may be called from any thread, `on_event` included.
    """

    def __init__(self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "gui") -> None:
        raise NotImplementedError

    def start(self) -> None:
        """Start an engine or attach to the one that runs; returns at once, `Welcome` is told later.

        Requests may be made before and are sent when the engine is there.
        """
        raise NotImplementedError

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        """Transcribe a media file."""
        raise NotImplementedError

    def probe(self, path: str) -> JobId:
        """Ask what is in a media file."""
        raise NotImplementedError

    def list_models(self) -> JobId:
        """Ask for every model known or installed."""
        raise NotImplementedError

    def download_model(self, model: str) -> JobId:
        """Fetch a catalogue model."""
        raise NotImplementedError

    def verify_model(self, model: str) -> JobId:
        """Check an installed model's files against their hashes."""
        raise NotImplementedError

    def remove_model(self, model: str) -> JobId:
        """Delete a downloaded model."""
        raise NotImplementedError

    def diagnose(self) -> JobId:
        """Ask for versions, devices and paths."""
        raise NotImplementedError

    def cancel(self, job: JobId) -> None:
        """Forget a job; it still tells its one ending."""
        raise NotImplementedError

    def restart(self) -> None:
        """Start an engine again after `EngineLost` or `Refused`; requests made meanwhile are sent to it."""
        raise NotImplementedError

    def close(self) -> None:
        """Detach: open jobs end as cancelled, an engine of ours ends too. Waits; idempotent."""
        raise NotImplementedError
