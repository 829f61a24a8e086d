"""A hand-written engine for the app's tests: it remembers what was asked, the test tells the story."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.config import EngineConfig
from engine.protocol.events import (
    Confirmed,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    JobStarted,
    LanguageDetected,
    Progress,
    SegmentDone,
    Tail,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import AudioTrack, MediaInfo, Options, Segment
from tests.helpers.fake_streams import FakeStreams

TRACK = AudioTrack(index=0, codec="flac", channels=1, sample_rate_hz=16_000)


class Asked(msgspec.Struct, frozen=True):
    """One `transcribe`."""

    job: JobId
    path: str
    options: Options
    resume_at_sample: int | None


class FakeEngine(FakeStreams):
    """An `EnginePort`. Every job gets a new id; nothing is ever answered unasked by the test."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.cancelled: list[JobId] = []
        self.num_restarts = 0
        self._ids = (f"job-{number}" for number in itertools.count(1))

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        self.asked.append(Asked(next(self._ids), path, options, resume_at_sample))
        return self.asked[-1].job

    def cancel(self, job: JobId) -> None:
        self.cancelled.append(job)

    def restart(self) -> None:
        self.num_restarts += 1

    @property
    def last(self) -> Asked:
        return self.asked[-1]


def segment(text: str, start: float, end: float) -> Segment:
    return Segment(start=start, end=end, text=text)


def started(job: JobId, duration: float | None = 60.0) -> JobStarted:
    media = MediaInfo(duration=duration, tracks=(TRACK,))
    return JobStarted(job=job, media=media, model="whisper-base")


def said(job: JobId, text: str, start: float, end: float) -> list[Event]:
    """What is told of one segment."""
    return [
        Confirmed(job=job, delta=text),
        SegmentDone(job=job, segment=segment(text, start, end)),
        Tail(job=job, text=""),
        Progress(job=job, done=end, total=60.0, remaining_s=60.0 - end),
    ]


def whole_story(job: JobId) -> list[Event]:
    """A short file from its start to its end."""
    return [
        started(job),
        LanguageDetected(job=job, language="en", probability=0.9),
        Tail(job=job, text=" Hel"),
        *said(job, " Hello there.", 0.5, 2.0),
        *said(job, " Good bye.", 2.5, 60.0),
        JobDone(job=job, duration=60.0, speech=50.0, elapsed=1.0),
    ]


def failed(job: JobId, kind: FailureKind, subject: str = "a.wav") -> JobFailed:
    return JobFailed(job=job, failure=failure(kind, subject))


Story = Callable[[JobId], Sequence[Event]]


@dataclass
class FakeClient(FakeStreams):
    """A `Client` that answers at once with the stories it was given.

    `stories` has, by file name, one story for each time the file is asked for (the last one stays);
    other requests are answered by `answer`. A cancelled job ends as cancelled. After `close`
    nothing is told.
    """

    on_event: Callable[[Event], None]
    stories: dict[str, list[Story]] = field(default_factory=dict)
    answer: Story = lambda job: [JobDone(job=job)]
    asked: list[Asked] = field(default_factory=list)
    models: list[tuple[str, str]] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)
    num_restarts: int = 0
    is_started: bool = False
    is_closed: bool = False

    def start(self) -> None:
        self.is_started = True

    def close(self) -> None:
        self.is_closed = True

    def restart(self) -> None:
        self.num_restarts += 1

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        job = f"job-{len(self.asked) + 1}"
        self.asked.append(Asked(job, path, options, resume_at_sample))
        stories = self.stories[Path(path).name]
        self._tell((stories.pop(0) if len(stories) > 1 else stories[0])(job))
        return job

    def cancel(self, job: JobId) -> None:
        self._tell([JobCancelled(job=job)])

    def probe(self, path: str) -> JobId:
        return self._ask("probe", path)

    def use_key(self, server: str, key: str) -> None:
        self.keys[server] = key

    def list_models(self, server: str = "") -> JobId:
        return self._ask("list", server)

    def download_model(self, model: str) -> JobId:
        return self._ask("download", model)

    def verify_model(self, model: str) -> JobId:
        return self._ask("verify", model)

    def remove_model(self, model: str) -> JobId:
        return self._ask("remove", model)

    def diagnose(self) -> JobId:
        return self._ask("diagnose", "")

    def _ask(self, what: str, subject: str) -> JobId:
        self.models.append((what, subject))
        job = f"{what}-{len(self.models)}"
        self._tell(self.answer(job))
        return job

    def _tell(self, events: Sequence[Event]) -> None:
        for event in events:
            if not self.is_closed:
                self.on_event(event)


class ClientFactory:
    """Makes one `FakeClient` with the stories given, and keeps it for the test to look at."""

    def __init__(self, stories: dict[str, list[Story]] | None = None, answer: Story | None = None) -> None:
        self._stories = stories or {}
        self._answer = answer
        self.client: FakeClient | None = None

    def __call__(
        self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "gui"
    ) -> FakeClient:
        self.client = FakeClient(on_event, self._stories)
        if self._answer is not None:
            self.client.answer = self._answer
        return self.client
