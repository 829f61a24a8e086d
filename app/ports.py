"""What the app asks of the engine: the part of `EngineClient` that its users need; fakes in tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from engine.config import EngineConfig
from engine.protocol.events import Event
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options


class EnginePort(Protocol):
    """What the desk asks of the engine (`app.engine_link.EngineLink`)."""

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        """Ask for a transcript; told as the events of the job."""
        ...

    def cancel(self, job: JobId) -> None:
        """Ask for a job's end."""
        ...

    def restart(self) -> None:
        """Start the engine again after it was lost; its `Welcome` says when it is there."""
        ...


class Client(EnginePort, Protocol):
    """`engine.client.client.EngineClient`, as far as the app uses it."""

    def start(self) -> None:
        """Start the engine, or attach to the one that runs; returns at once."""
        ...

    def close(self) -> None:
        """Detach, and end the engine if it is ours."""
        ...

    def probe(self, path: str) -> JobId:
        """Ask what is in a media file."""
        ...

    def list_models(self) -> JobId:
        """Ask for every model known or installed."""
        ...

    def download_model(self, model: str) -> JobId:
        """Fetch a catalogue model."""
        ...

    def verify_model(self, model: str) -> JobId:
        """Check an installed model."""
        ...

    def remove_model(self, model: str) -> JobId:
        """Delete a downloaded model."""
        ...

    def diagnose(self) -> JobId:
        """Ask for versions, devices and paths."""
        ...


class ClientMaker(Protocol):
    """How a client is made: `EngineClient` itself, or a fake's constructor."""

    def __call__(
        self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = ...
    ) -> Client: ...
