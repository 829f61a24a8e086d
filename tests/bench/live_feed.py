"""Plays recordings to a live session at the pace of time, and keeps what came back and when."""

from __future__ import annotations

import itertools
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from latency import num_same
from ours import own_config

from engine.client.client import EngineClient
from engine.manager.media import open_media
from engine.protocol.events import (
    Backlog,
    Confirmed,
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    ModelState,
    Refused,
    SegmentDone,
    Tail,
    WorkerPhase,
)
from engine.protocol.transcript import Options, Segment

Samples = npt.NDArray[np.float32]
RATE_HZ = 16_000
BLOCK_SAMPLES = RATE_HZ // 10


@dataclass
class Told:
    """What a session told; times are seconds since the first sample was spoken."""

    deltas: list[tuple[str, float]] = field(default_factory=list)
    tails: list[tuple[str, float]] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    stop_to_final_s: float = 0.0
    backlog_max_s: float = 0.0
    num_received: int = 0
    num_steps: int = 0
    num_steps_saved: int = 0
    failure: str = ""

    @property
    def text(self) -> str:
        return "".join(delta for delta, _ in self.deltas)

    @property
    def num_erased(self) -> int:
        """Characters of confirmed text that the stored segments do not have at their place."""
        kept = "".join(segment.text for segment in self.segments)
        return len(self.text) - num_same(self.text, kept)

    @property
    def first_tail_s(self) -> float | None:
        shown = [time_s for text, time_s in (*self.tails, *self.deltas) if text.strip()]
        return min(shown, default=None)


class Player:
    """An engine that listens; `play` takes as long as the recording."""

    def __init__(self, model: str) -> None:
        self._events: queue.Queue[tuple[float, Event]] = queue.Queue()
        self.client = EngineClient(own_config(), self._on_event, name="bench")
        self.client.start()
        self._model = model
        self._busy: set[str] = set()
        """Jobs of files that are transcribed meanwhile."""
        self._waiting: Iterator[tuple[str, Options]] = iter(())
        self.num_busy_s = 0.0
        """Of files, transcribed to their end meanwhile."""

    def warm_up(self) -> None:
        """Load the model and decode once, as the app has done when somebody begins to speak."""
        noise = (np.random.default_rng(1).standard_normal(RATE_HZ) * 0.1).astype(np.float32)
        self.play(noise, "en", pace=0.0, vad=False)

    def play(
        self,
        samples: Samples,
        language: str | None,
        *,
        pace: float = 1.0,
        vad: bool = True,
        each_second: Callable[[float], None] = lambda now_s: None,
    ) -> Told:
        """Feed at `pace` times the length of the recording; returns what was told until the end."""
        job = self.client.listen(Options(model=self._model, language=language, vad=vad))
        told = Told()
        begin_s = time.monotonic()
        position = 0
        while position < len(samples):
            end = min(len(samples), position + BLOCK_SAMPLES)
            self._take_until(begin_s + pace * end / RATE_HZ, told, job, begin_s)
            if self.client.feed(job, position, samples[position:end].astype("<f4").tobytes()):
                if end % RATE_HZ < BLOCK_SAMPLES:
                    each_second(end / RATE_HZ)
                position = end
            else:
                self._take_until(time.monotonic() + 0.05, told, job, begin_s)
        stopped_s = time.monotonic()
        self.client.close_stream(job)
        ended_s = self._take_until(float("inf"), told, job, begin_s)
        told.stop_to_final_s = ended_s - stopped_s
        return told

    def keep_busy(self, files: Sequence[tuple[str, Options]], *, together: int) -> None:
        """Have files transcribed in turn, so many at a time, over and over while something is played."""
        self._waiting = itertools.cycle(files)
        for _ in range(together):
            self._begin_file()

    def _begin_file(self) -> None:
        self._busy.add(self.client.transcribe(*next(self._waiting)))

    def wait_for_model(self) -> None:
        """Wait until the model is loaded; it must have been asked for."""
        while True:
            _, event = self._events.get(timeout=300)
            if isinstance(event, ModelState) and event.phase is WorkerPhase.READY:
                return

    def _on_event(self, event: Event) -> None:
        self._events.put((time.monotonic(), event))

    def _take_until(self, end_s: float, told: Told, job: str, begin_s: float) -> float:
        """Take events until a time, or the job's ending, whose time is returned."""
        while True:
            left_s = end_s - time.monotonic()
            try:
                now_s, event = self._events.get(timeout=min(600.0, max(0.0, left_s)))
            except queue.Empty:
                if end_s == float("inf"):
                    raise
                return end_s
            if isinstance(event, (EngineLost, Refused)):
                raise RuntimeError(event.failure.message)
            if isinstance(event, (JobDone, JobFailed)) and event.job in self._busy:
                self.num_busy_s += event.duration if isinstance(event, JobDone) else 0.0
                self._busy.discard(event.job)
                self._begin_file()
            if getattr(event, "job", None) == job:
                _note(event, now_s - begin_s, told)
            if isinstance(event, (JobDone, JobFailed, JobCancelled)) and event.job == job:
                return now_s


def read_samples(path: Path) -> Samples:
    """Return a whole recording, mono 16 kHz."""
    media = open_media(str(path))
    try:
        return np.concatenate(list(media.blocks()))
    finally:
        media.close()


def _note(event: Event, now_s: float, told: Told) -> None:
    match event:
        case Confirmed(delta=delta):
            told.deltas.append((delta, now_s))
        case Tail(text=text):
            told.tails.append((text, now_s))
        case SegmentDone(segment=segment):
            told.segments.append(segment)
        case Backlog(seconds=seconds, received_samples=received):
            told.backlog_max_s = max(told.backlog_max_s, seconds)
            told.num_received = received
        case JobDone(num_steps=num_steps, num_steps_saved=num_saved):
            told.num_steps, told.num_steps_saved = num_steps, num_saved
        case JobFailed(failure=failure):
            told.failure = failure.message
