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

    def listen(self, options: Options, start_sample: int = 0) -> JobId:
        """Open a live session that hears a recording from `start_sample` (16 kHz) on."""
        ...

    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool:
        """Offer a live session audio; False: not now. May be called from any thread, as the next two."""
        ...

    def flush(self, job: JobId) -> None:
        """Have everything fed so far confirmed."""
        ...

    def close_stream(self, job: JobId) -> None:
        """End a live session once everything fed is confirmed."""
        ...

    def set_options(self, job: JobId, *, language: str | None) -> None:
        """Choose the language of a live session from here on; None: find out anew."""
        ...

    def cancel(self, job: JobId) -> None:
        """Ask for a job's end."""
        ...

    def restart(self) -> None:
        """Start the engine again after it was lost; its `Welcome` says when it is there."""
        ...


class Questions(Protocol):
    """What the window asks beside work (`app.engine_link.EngineLink`)."""

    def probe(self, path: str) -> JobId:
        """Ask what is in a media file."""
        ...

    def diagnose(self) -> JobId:
        """Ask for versions, devices and paths."""
        ...


class Client(EnginePort, Questions, Protocol):
    """`engine.client.client.EngineClient`, as far as the app uses it."""

    def start(self) -> None:
        """Start the engine, or attach to the one that runs; returns at once."""
        ...

    def close(self) -> None:
        """Detach, and end the engine if it is ours."""
        ...

    def use_key(self, server: str, key: str) -> None:
        """Present a key to a server elsewhere from now on."""
        ...

    def list_models(self, server: str = "") -> JobId:
        """Ask for every model known or installed, or for those of a server elsewhere."""
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


class ClientMaker(Protocol):
    """How a client is made: `EngineClient` itself, or a fake's constructor."""

    def __call__(
        self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = ...
    ) -> Client: ...
