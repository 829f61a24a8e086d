"""The live part of a fake engine: it takes what is fed, in order, and remembers it."""

from __future__ import annotations

from typing import Self

import msgspec
import numpy as np

from engine.protocol.requests import JobId
from engine.protocol.transcript import Options


class Listened(msgspec.Struct, frozen=True):
    """One `listen`."""

    job: JobId
    options: Options
    start_sample: int


class FakeStreams:
    """The streaming methods of `EnginePort`, to inherit from; needs no `__init__`.

    `is_taking` False: it has no room, or is away.
    """

    is_taking = True

    listened: list[Listened]
    fed: dict[JobId, list[np.ndarray]]
    said: list[tuple[str, JobId]]
    languages: list[str | None]

    def __new__(cls, *_: object, **__: object) -> Self:
        fake = super().__new__(cls)
        # Made before any thread can look: of two that made them at once, one would write into the void.
        fake.listened, fake.fed, fake.said, fake.languages = [], {}, [], []
        return fake

    def listen(self, options: Options, start_sample: int = 0) -> JobId:
        job = f"live-{len(self.listened) + 1}"
        self.fed[job] = []
        self.listened.append(Listened(job, options, start_sample))
        return job

    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool:
        if not self.is_taking:
            return False
        start = next(one.start_sample for one in self.listened if one.job == job)
        assert first_sample == start + len(self.heard(job)), "fed out of order"
        self.fed[job].append(np.frombuffer(pcm, "<f4"))
        return True

    def flush(self, job: JobId) -> None:
        self.said.append(("flush", job))

    def close_stream(self, job: JobId) -> None:
        self.said.append(("close", job))

    def set_options(self, job: JobId, *, language: str | None) -> None:
        self.languages.append(language)

    def heard(self, job: JobId) -> np.ndarray:
        """Return everything a session was fed."""
        return np.concatenate([*self.fed[job], np.zeros(0, np.float32)])
