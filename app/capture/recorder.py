"""The recorder: sources in, a growing file out, whatever happens to devices, disk and engine meanwhile."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final, Protocol

from app.capture.devices import AudioSystem, Device, Wish, choose
from app.capture.disk import Disk
from app.capture.level import SILENT, Level
from app.capture.marks import MarkBook
from app.capture.mixer import LATE_S, Mixer
from app.capture.notices import Mark, MarkKind, Notice, NoticeKind
from app.capture.pcm import level_of, to_pcm
from app.capture.recording_file import RecordingWriter
from app.capture.source import Source
from app.capture.track import Collected, Track
from engine.protocol.failures import Failure, FailureKind, failure

log = logging.getLogger(__name__)

TICK_S: Final = 0.1
_TEND_S: Final = 0.25
_LIST_S: Final = 5.0
"""How often devices are listed though no change was told."""
_SYNC_S: Final = 5.0
_LOWEST_HZ: Final = 16_000
_HIGHEST_HZ: Final = 48_000


class RecorderPhase(StrEnum):
    """Forward only, but for pauses."""

    OPENING = "opening"
    RECORDING = "recording"
    PAUSED = "paused"
    ENDED = "ended"
    """The file is closed; `failure` says why if nobody asked for it."""


class _Collector(Protocol):
    def collect(self, now_s: float) -> Collected: ...


class Recorder:
    """Records `wishes` (one, or two mixed; the first keeps the time) into the file at `path`.

    Two threads: one tends the devices, one writes, ten times a second. The methods return at once and
    may be called from any thread; what happens is read from the properties, `take_notices` and
    `take_marks`. `on_growth` is called on the writing thread after samples have reached the disk.
    """

    def __init__(
        self,
        audio: AudioSystem,
        wishes: Sequence[Wish],
        path: Path,
        *,
        spare_path: Path | None = None,
        on_growth: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.path = path
        """Of the file; once it is there, that may be `spare_path`."""
        self._spare_path = spare_path
        self._audio = audio
        self._wishes = tuple(wishes)
        self._on_growth = on_growth
        self._clock = clock
        self._wanted = RecorderPhase.RECORDING
        self._phase = RecorderPhase.OPENING
        self._wake = threading.Event()
        self._has_changed = threading.Event()
        self._is_over = threading.Event()
        self._writing = threading.Lock()
        """One collects and writes at a time; the audio threads never take it."""
        self._notices: queue.SimpleQueue[Notice] = queue.SimpleQueue()
        self._sources: list[Source] = []
        self._tracks: list[Track] = []
        self._collector: _Collector | None = None
        self._disk: Disk | None = None
        self._marks = MarkBook(_LOWEST_HZ)
        self._level = SILENT
        self._num_overflowed = 0
        self._num_lost = 0
        self._num_overflowed_before = 0
        """In the tracks before the last pause; likewise the next."""
        self._num_lost_before = 0
        self.rate_hz = 0
        """Of the file; known once it records."""
        self.failure: Failure | None = None
        self._tender = threading.Thread(target=self._tend, name="recorder-devices", daemon=True)
        self._writer = threading.Thread(target=self._write, name="recorder-writer", daemon=True)

    def start(self) -> None:
        """Open the devices and create the file."""
        self._tender.start()

    def pause(self) -> None:
        """Let go of the devices until `resume`; the recording does not grow meanwhile."""
        self._want(RecorderPhase.PAUSED)

    def resume(self) -> None:
        """Go on after a pause."""
        self._want(RecorderPhase.RECORDING)

    def stop(self) -> None:
        """Write what was heard and close the file; `wait` returns when that is done."""
        self._want(RecorderPhase.ENDED)

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait for the end; False if it has not come in time."""
        return self._is_over.wait(timeout_s)

    @property
    def phase(self) -> RecorderPhase:
        """What it does now; `PAUSED` and `ENDED` only once everything heard before is on the disk."""
        return self._phase

    @property
    def has_begun(self) -> bool:
        """Whether the file is there."""
        return self._disk is not None

    @property
    def num_samples(self) -> int:
        """On the disk, at `rate_hz`."""
        return self._disk.num_samples if self._disk is not None else 0

    @property
    def elapsed_s(self) -> float:
        """How much is recorded."""
        return self.num_samples / self.rate_hz if self.rate_hz else 0.0

    @property
    def level(self) -> Level:
        """Of the last tenth of a second."""
        return self._level

    @property
    def lost_s(self) -> float:
        """How much is silence because a device lost it, or the disk was too slow for a minute."""
        return self._num_lost / self.rate_hz if self.rate_hz else 0.0

    @property
    def devices(self) -> list[Device]:
        """What is being recorded now."""
        return [device for source in self._sources if (device := source.device) is not None]

    def take_notices(self) -> list[Notice]:
        """Return what happened since the last time."""
        taken = []
        while not self._notices.empty():
            taken.append(self._notices.get())
        return taken

    def take_marks(self) -> list[Mark]:
        """Return the places that were marked, each once and complete; those of a busy moment come later."""
        # A slow disk may hold the lock for long, and whoever asks draws windows.
        if not self._writing.acquire(blocking=False):
            return []
        try:
            return self._marks.take()
        finally:
            self._writing.release()

    def _want(self, phase: RecorderPhase) -> None:
        if self._wanted is not RecorderPhase.ENDED:
            self._wanted = phase
        self._wake.set()

    # The tending thread.

    def _tend(self) -> None:
        stop_watching = self._audio.watch(self._on_devices_changed)
        try:
            if self._open():
                self._writer.start()
                self._tend_until_stopped()
        except Exception as error:
            # Whatever a driver comes up with: the recording ends, and is whole.
            log.error("the recorder crashed: %s", type(error).__name__, exc_info=True)
            self.failure = failure(FailureKind.INTERNAL, self.path.name, repr(error))
        finally:
            stop_watching()
            self._end()

    def _open(self) -> bool:
        devices = self._audio.devices()
        first = choose(self._wishes[0], devices)
        if first is None:
            self.failure = failure(FailureKind.NO_SOUND_SOURCE, self._wishes[0].kind)
            return False
        self.rate_hz = min(max(first.rate_hz, _LOWEST_HZ), _HIGHEST_HZ)
        writer = self._make_file()
        if writer is None:
            return False
        self._disk = Disk(writer, self._notices.put)
        self._marks = MarkBook(self.rate_hz)
        self._sources = [
            Source(wish, self._audio, clock=self._clock, tell=self._notices.put) for wish in self._wishes
        ]
        self._begin(devices)
        return True

    def _make_file(self) -> RecordingWriter | None:
        """Create the file, in the spare place if nothing can be written in the first."""
        failures = []
        for path in dict.fromkeys((self.path, self._spare_path or self.path)):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                writer = RecordingWriter(path, self.rate_hz)
            except OSError as error:
                failures.append(_disk_failure(error, path))
                continue
            self.path = path
            if failures:
                detail, folder = failures[0].detail, str(path.parent)
                self._notices.put(Notice(kind=NoticeKind.FOLDER_REFUSED, folder=folder, detail=detail))
            return writer
        self.failure = failures[0]
        return None

    def _tend_until_stopped(self) -> None:
        listed_s = synced_s = self._clock()
        while self._wanted is not RecorderPhase.ENDED and self.failure is None:
            self._wake.wait(_TEND_S)
            self._wake.clear()
            now_s = self._clock()
            if self._wanted is RecorderPhase.PAUSED and self._phase is RecorderPhase.RECORDING:
                self._pause()
            elif self._wanted is RecorderPhase.RECORDING and self._phase is RecorderPhase.PAUSED:
                self._begin(self._audio.devices())
            if self._phase is RecorderPhase.RECORDING:
                devices = None
                if self._has_changed.is_set() or now_s - listed_s >= _LIST_S:
                    self._has_changed.clear()
                    devices, listed_s = self._audio.devices(), now_s
                for source in self._sources:
                    source.tend(devices)
            if now_s - synced_s >= _SYNC_S and self._disk is not None:
                self._disk.sync()
                synced_s = now_s

    def _on_devices_changed(self) -> None:
        self._has_changed.set()
        self._wake.set()

    def _begin(self, devices: list[Device]) -> None:
        """Open the devices and put the tracks on the clock, which stood still during a pause."""
        for source in self._sources:
            source.tend(devices)
        with self._writing:
            begun_s = self._clock()
            self._num_overflowed_before, self._num_lost_before = self._num_overflowed, self._num_lost
            self._tracks = [
                Track(source.intakes, self.rate_hz, begun_s, is_steered=index > 0)
                for index, source in enumerate(self._sources)
            ]
            first, *others = self._tracks
            self._collector = Mixer(first, others[0], self.rate_hz) if others else first
            self._phase = RecorderPhase.RECORDING

    def _pause(self) -> None:
        for source in self._sources:
            source.close()
        self._write_once()
        with self._writing:
            end = self._disk.num_total if self._disk else 0
            self._marks.add(MarkKind.PAUSE, end, end)
            self._marks.close()
            self._level = SILENT
            self._phase = RecorderPhase.PAUSED
        self._on_growth()

    def _end(self) -> None:
        for source in self._sources:
            source.close()
        if self._phase is RecorderPhase.RECORDING:
            self._write_once()
        with self._writing:
            if self._disk is not None:
                self._disk.close(self._clock())
                if self._disk.error is not None and self.failure is None:
                    self.failure = _disk_failure(self._disk.error, self.path)
            self._marks.close()
            self._level = SILENT
            self._phase = RecorderPhase.ENDED
        self._is_over.set()
        self._on_growth()

    # The writing thread.

    def _write(self) -> None:
        next_s = self._clock()
        while not self._is_over.is_set():
            if self._phase is RecorderPhase.RECORDING:
                self._write_once()
            next_s = max(next_s + TICK_S, self._clock() - TICK_S)
            # A clock that stands still must not hold the writer.
            self._is_over.wait(min(TICK_S, max(0.0, next_s - self._clock())))

    def _write_once(self) -> None:
        with self._writing:
            if self._disk is None or self._collector is None or self._phase is not RecorderPhase.RECORDING:
                return
            now_s = self._clock()
            before = self._disk.num_samples
            collected = self._collector.collect(now_s)
            self._mark(collected, self._disk.num_total)
            pcm = to_pcm(collected.samples)
            self._disk.put(pcm, now_s)
            self._level = level_of(pcm)
            self._count_losses()
            has_grown = self._disk.num_samples > before
            if self._disk.is_given_up and self.failure is None:
                self._give_up(self._disk)
        if has_grown:
            self._on_growth()

    def _mark(self, collected: Collected, start: int) -> None:
        num_late = round(LATE_S * self.rate_hz) if len(self._tracks) > 1 else 0
        self._marks.reach(start - num_late)
        for hole in collected.holes:
            self._marks.add(hole.kind, start + hole.start, start + hole.start + hole.num)

    def _count_losses(self) -> None:
        num = self._num_overflowed_before + sum(track.num_overflowed for track in self._tracks)
        if num > self._num_overflowed:
            self._notices.put(Notice(kind=NoticeKind.OVERFLOW))
        self._num_overflowed = num
        self._num_lost = self._num_lost_before + sum(track.num_lost for track in self._tracks)

    def _give_up(self, disk: Disk) -> None:
        self.failure = _disk_failure(disk.error or OSError(), self.path)
        self._notices.put(Notice(kind=NoticeKind.STOPPED, detail=str(disk.error)))
        self._wake.set()


def _disk_failure(error: OSError, path: Path) -> Failure:
    kind = FailureKind.NOT_READABLE if isinstance(error, PermissionError) else FailureKind.DISK_FULL
    return failure(kind, path.name, str(error))
