"""A whole engine whose every model is a toy: real processes, small generated files, predictable text."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from random import Random

import msgspec
import soundfile

from engine.client.client import EngineClient
from engine.protocol.events import (
    Confirmed,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    SegmentDone,
    Tail,
    Welcome,
)
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options
from tests.helpers.listener import Listener
from tests.helpers.processes import descendants_of, wait_for_role, wait_until_gone
from tests.helpers.toy import WORDS, toy_audio, toy_config, write_toy_model


class Bench:
    """A client with its engine, whose every model is a toy."""

    def __init__(self, folder: Path, **changes: object) -> None:
        """Start an engine in `folder`, or attach to the one that runs there; `changes` are the config's."""
        self.folder = folder
        self.listener = Listener()
        config = msgspec.structs.replace(toy_config(folder), hang_s=3.0)
        self.config = msgspec.structs.replace(config, **changes)
        self.client = EngineClient(self.config, self.listener.on_event)
        self.client.start()
        self.engine = self.listener.wait_for(Welcome).engine_pid

    def restart(self) -> None:
        """Start another engine after the last was lost."""
        num_welcomes = len(self.listener.of(Welcome))
        self.client.restart()
        self.listener.wait_until(lambda _: len(self.listener.of(Welcome)) > num_welcomes)
        self.engine = self.listener.of(Welcome)[-1].engine_pid

    def close(self) -> None:
        """Close the client; nobody of its engine may be left."""
        pids = [self.engine, *descendants_of(self.engine)]
        self.client.close()
        wait_until_gone(pids)

    def model(self, name: str, **options: object) -> str:
        return str(write_toy_model(self.folder / name, **options))

    def file(self, name: str, *words: int | None) -> str:
        path = self.folder / f"{name}.wav"
        soundfile.write(path, toy_audio(*words), 16_000)
        return str(path)

    def long_file(self, name: str, seed: int, num_words: int = 280) -> str:
        """Write a file of several chunks, none of them with the loudest word."""
        random = Random(seed)
        words = [
            random.randrange(len(WORDS) - 1) if random.random() < 0.9 else None for _ in range(num_words)
        ]
        return self.file(name, *words)

    def transcribe(self, path: str, model: str, *temperatures: float) -> JobId:
        # The words are tones: what hears speech would hear none.
        options = Options(model=model, vad=False, temperatures=temperatures or (0.0, 0.2, 0.4))
        return self.client.transcribe(path, options)

    def text(self, job: JobId) -> str:
        """Wait for the job's ending and return its text; its story must be without a fault."""
        assert isinstance(self.listener.wait_for_ending(job), JobDone)
        return self.told_text(job)

    def told_text(self, job: JobId) -> str:
        story = self.listener.story(job)
        assert len(self.listener.endings(job)) == 1
        assert isinstance(story[-1], JobDone | JobFailed | JobCancelled)
        text = "".join(event.delta for event in story if isinstance(event, Confirmed))
        assert text == "".join(event.segment.text for event in story if isinstance(event, SegmentDone))
        return text

    def failure_of(self, job: JobId) -> FailureKind:
        ending = self.listener.wait_for_ending(job)
        assert isinstance(ending, JobFailed)
        self.told_text(job)
        return ending.failure.kind

    def wait_for_tail(self, *jobs: JobId) -> None:
        """Wait until text of one of the jobs is on its way."""

        def is_heard(events: list[Event]) -> bool:
            return any(isinstance(event, Tail) and event.job in jobs and event.text for event in events)

        self.listener.wait_until(is_heard)

    def kill(self, role: str) -> None:
        pid = wait_for_role(self.engine, role)
        os.kill(pid, signal.SIGKILL)
        wait_until_gone([pid])
