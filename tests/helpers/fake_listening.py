"""A hand-written engine client for the realtime door: it hears one word in every second of sound, at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.config import EngineConfig
from engine.protocol.events import (
    Backlog,
    Confirmed,
    Event,
    Flushed,
    JobDone,
    JobFailed,
    ModelList,
    Welcome,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import ModelInfo, ModelPhase, Options, VadSettings

FAKE: Final = ModelInfo(
    key="/models/fake",
    name="fake",
    family="Fake",
    size_bytes=0,
    languages=("en",),
    can_translate=False,
    phase=ModelPhase.INSTALLED,
    folder="/models/fake",
)


class FakeListening:
    """Answers before it returns. `is_taking` False: it has no room now."""

    def __init__(
        self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "server"
    ) -> None:
        self._on_event = on_event
        self._ids = itertools.count(1)
        self._words: dict[JobId, int] = {}
        self.is_taking = True

    def start(self) -> None:
        self._on_event(Welcome(engine_pid=1, protocol_version=1))

    def close(self) -> None: ...

    def restart(self) -> None: ...

    def list_models(self) -> JobId:
        job = f"list-{next(self._ids)}"
        self._tell(ModelList(job=job, models=(FAKE,), folder="", free_bytes=0), JobDone(job=job))
        return job

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        raise NotImplementedError(Path(path).name)

    def listen(self, options: Options, start_sample: int = 0, turns: VadSettings | None = None) -> JobId:
        job = f"live-{next(self._ids)}"
        self._words[job] = start_sample // 16_000
        return job

    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool:
        if not self.is_taking:
            return False
        end = first_sample + len(pcm) // 4
        while (self._words[job] + 1) * 16_000 <= end:
            self._words[job] += 1
            word = self._words[job]
            self._tell(Confirmed(job=job, delta=f" w{word}", end=float(word)))
        self._tell(Backlog(job=job, received_samples=end, decoded_samples=end, seconds=0.0))
        return True

    def flush(self, job: JobId, at_sample: int | None = None) -> None:
        self._tell(Flushed(job=job, sample=at_sample or 0))

    def fail(self, kind: FailureKind) -> None:
        """End every live session with a failure."""
        jobs, self._words = list(self._words), {}
        self._tell(*(JobFailed(job=job, failure=failure(kind, "fake")) for job in jobs))

    def close_stream(self, job: JobId) -> None: ...

    def set_options(self, job: JobId, *, language: str | None) -> None: ...

    def cancel(self, job: JobId) -> None: ...

    def _tell(self, *events: Event) -> None:
        for event in events:
            self._on_event(event)
