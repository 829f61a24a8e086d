"""Jamak's side of a benchmark: the real engine through its client, files one after another or together."""

from __future__ import annotations

import atexit
import queue
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from engine.client.client import EngineClient
from engine.config import EngineConfig, default_config
from engine.protocol.events import (
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobFailed,
    LanguageDetected,
    Refused,
    SegmentDone,
)
from engine.protocol.transcript import Options, Segment


@dataclass
class Result:
    """What one file said and what it took; `failure` is a sentence or empty."""

    segments: list[Segment] = field(default_factory=list)
    language: str = ""
    failure: str = ""
    elapsed_s: float = 0.0
    first_segment_s: float = 0.0

    @property
    def text(self) -> str:
        return "".join(segment.text for segment in self.segments)


def own_config() -> EngineConfig:
    """Return a configuration with which an engine is started, never one that already runs attached to."""
    folder = tempfile.mkdtemp(prefix="jamak-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return msgspec.structs.replace(default_config(), runtime_folder=folder)


class Engine:
    """A running engine that transcribes files."""

    def __init__(self) -> None:
        self._events: queue.Queue[Event] = queue.Queue()
        self.client = EngineClient(own_config(), self._events.put, name="bench")
        self.client.start()

    def transcribe(self, paths: Sequence[Path], options: Options, *, together: int = 2) -> list[Result]:
        """Transcribe `paths`, `together` at a time; returns results in their order."""
        results = [Result() for _ in paths]
        waiting = list(enumerate(paths))[::-1]
        open_jobs: dict[str, tuple[int, float]] = {}
        while waiting or open_jobs:
            while waiting and len(open_jobs) < together:
                index, path = waiting.pop()
                open_jobs[self.client.transcribe(str(path), options)] = (index, time.monotonic())
            self._take(self._events.get(timeout=600), open_jobs, results)
        return results

    def _take(self, event: Event, jobs: dict[str, tuple[int, float]], results: list[Result]) -> None:
        if isinstance(event, (EngineLost, Refused)):
            raise RuntimeError(event.failure.message)
        job = getattr(event, "job", None)
        if job not in jobs:
            return
        index, started_s = jobs[job]
        match event:
            case SegmentDone(segment=segment):
                if not results[index].segments:
                    results[index].first_segment_s = time.monotonic() - started_s
                results[index].segments.append(segment)
            case LanguageDetected(language=language):
                results[index].language = language
            case JobFailed(failure=failure):
                results[index].failure = failure.message
        if isinstance(event, (JobDone, JobFailed, JobCancelled)):
            results[index].elapsed_s = time.monotonic() - started_s
            del jobs[job]

    def peak_memory_bytes(self) -> int:
        """Return the peak resident memory of the engine's processes, summed (Linux)."""
        return sum(peak for peak in map(_peak_bytes, descendants()) if peak)


@contextmanager
def running_engine() -> Iterator[Engine]:
    """An engine that is closed at the end."""
    engine = Engine()
    try:
        yield engine
    finally:
        engine.client.close()


def descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            children.setdefault(int(fields[1]), []).append(int(folder.name))
    found: list[int] = []
    todo = [int(Path("/proc/self").resolve().name)]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


def _peak_bytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
