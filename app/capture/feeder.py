"""Follows a recording's file and feeds what is on the disk to a live session, at 16 kHz."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import numpy as np

from app.capture.pcm import from_pcm
from app.capture.recording_file import RecordingReader
from app.capture.ring import Samples
from app.capture.sinc import Resampler
from engine.protocol.requests import JobId

log = logging.getLogger(__name__)

RATE_HZ: Final = 16_000
"""In which the engine hears and counts."""
BLOCK_SAMPLES: Final = RATE_HZ // 2
QUIET_BLOCK_SAMPLES: Final = RATE_HZ * 3 // 10
"""So much is fed at a time while nobody is heard, instead of every little that comes …"""
QUIET_AFTER_SAMPLES: Final = 3 * RATE_HZ
"""… that is, once it has been quiet for so long: what follows the end of a sentence is wanted at once."""
_RETRY_S: Final = 0.25


class FeedPort(Protocol):
    """What feeding asks of the engine (`engine.client.client.EngineClient`)."""

    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool:
        """Offer audio; False: not now."""
        ...

    def flush(self, job: JobId) -> None:
        """Have everything fed so far confirmed."""
        ...

    def close_stream(self, job: JobId) -> None:
        """End the session once everything fed is confirmed."""
        ...


class Sound:
    """A recording as the engine hears it: any range of 16 kHz samples, the same whenever it is read."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self._reader = RecordingReader(path)
        self._resampler = Resampler(self._reader.rate_hz, RATE_HZ)

    def end(self, num_on_disk: int, *, is_whole: bool) -> int:
        """Return how far it can be read while `num_on_disk` samples of the file are there."""
        return self._resampler.output_end(num_on_disk, is_whole=is_whole)

    def num_on_disk(self) -> int:
        """Ask the disk how long the file is. Raises OSError."""
        return self._reader.num_samples()

    def read(self, first: int, end: int) -> Samples:
        """Return samples `[first, end)`, float32. Raises OSError."""
        start, stop = self._resampler.input_range(first, end)
        pcm = self._reader.read(max(0, start), stop)
        samples = from_pcm(pcm)
        missing = (stop - start) - max(0, -start) - len(samples)
        padded = np.pad(samples, (max(0, -start), max(0, missing)))
        return self._resampler.resample(padded, first, end)


class Feeder:
    """Feeds one recording to one live session after another; has a thread of its own.

    `length` says how many samples are on the disk; whoever makes it grow calls `wake`. Who is attached
    hears everything from its start sample on, as fast as the engine takes it; restarting, catching up
    and being held back are one and the same. The other methods may be called from any thread.
    """

    def __init__(
        self,
        path: Path,
        engine: FeedPort,
        length: Callable[[], int] | None = None,
        is_quiet: Callable[[], bool] = lambda: False,
    ) -> None:
        """`length` None: the file is asked. `is_quiet` is about what came last. Raises OSError."""
        self._sound = Sound(path)
        self._engine = engine
        self._length = length or self._sound.num_on_disk
        self._is_quiet = is_quiet
        self._last_loud = 0
        """Where something was heard last."""
        self._lock = threading.Lock()
        """Guards the five below."""
        self._job: JobId | None = None
        self._next = 0
        self._is_flush_wanted = False
        self._is_whole = False
        self._is_closed = False
        self._wake = threading.Event()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="live-feeder", daemon=True)

    def start(self) -> None:
        """Begin to feed whoever is attached."""
        self._thread.start()

    def attach(self, job: JobId, first_sample: int) -> None:
        """Feed `job` from `first_sample` (16 kHz) on, and nobody else."""
        with self._lock:
            self._job, self._next, self._is_closed = job, first_sample, False
        self._wake.set()

    def detach(self) -> None:
        """Feed nobody."""
        with self._lock:
            self._job = None

    def wake(self) -> None:
        """Know that there is more on the disk."""
        self._wake.set()

    def flush(self) -> None:
        """Once everything on the disk is fed, have it confirmed (the recording is paused)."""
        with self._lock:
            self._is_flush_wanted = True
        self._wake.set()

    def finish(self) -> None:
        """The recording will not grow any more: feed it to its last sample, then close the session."""
        with self._lock:
            self._is_whole = True
        self._wake.set()

    def stop(self) -> None:
        """End the thread; nothing is fed any more."""
        self._is_over = True
        self._wake.set()
        if self._thread.ident is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def feed_once(self) -> bool:
        """Take one step, as the thread does all the time; False if there is nothing to do now."""
        with self._lock:
            job, first, is_whole = self._job, self._next, self._is_whole
            is_flush_wanted, is_closed = self._is_flush_wanted, self._is_closed
        if job is None or is_closed:
            return False
        end = min(self._sound.end(self._length(), is_whole=is_whole), first + BLOCK_SAMPLES)
        if end > first:
            may_wait = self._may_wait(first, end) and not (is_flush_wanted or is_whole)
            return not may_wait and self._feed(job, first, end)
        if is_flush_wanted or is_whole:
            self._conclude(job, is_whole=is_whole)
            return True
        return False

    def _may_wait(self, first: int, end: int) -> bool:
        """Whether nobody is heard, and has not been for a while: then little is fed less often."""
        if not self._is_quiet():
            self._last_loud = end
        return end - self._last_loud > QUIET_AFTER_SAMPLES and end - first < QUIET_BLOCK_SAMPLES

    def _feed(self, job: JobId, first: int, end: int) -> bool:
        pcm = self._sound.read(first, end).astype("<f4", copy=False).tobytes()
        if not self._engine.feed(job, first, pcm):
            return False
        with self._lock:
            if self._job == job:
                self._next = end
        return True

    def _conclude(self, job: JobId, *, is_whole: bool) -> None:
        with self._lock:
            if self._job != job:
                return
            self._is_flush_wanted = False
            self._is_closed = is_whole
        if is_whole:
            self._engine.close_stream(job)
        else:
            self._engine.flush(job)

    def _run(self) -> None:
        while not self._is_over:
            try:
                while not self._is_over and self.feed_once():
                    pass
            except OSError as error:
                # The folder is on a disk that is away for now, or somebody deletes what is recorded.
                log.info("the recording cannot be read: %s", error.strerror)
            # Nobody tells when the engine has room again.
            self._wake.wait(_RETRY_S)
            self._wake.clear()
