"""Writes a recording that is a whole file on the disk at every moment, and reads it while it grows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np

from app.capture.pcm import Pcm
from engine.recording import HEADER_BYTES, SAMPLE_BYTES, header, part_at, part_path, parts_of, rate_of

MAX_PART_S: Final = 3600


class RecordingWriter:
    """A growing recording: every `append` leaves a valid file of exactly what was appended.

    First the samples are written, then the length in the header, so the header never promises more
    than there is. Written is not yet safe from a power cut: that takes `sync`.
    """

    def __init__(self, path: Path, rate_hz: int, *, max_part_samples: int | None = None) -> None:
        """Create the file; an existing one is never touched. Raises OSError."""
        self.path = path
        self.rate_hz = rate_hz
        self._max_part_samples = max_part_samples or MAX_PART_S * rate_hz
        self._num_samples = 0
        self._num_parts = 0
        self._file: BinaryIO
        self._begin_part()

    @property
    def num_samples(self) -> int:
        """How much can be read from the disk; may be asked from any thread."""
        return self._num_samples

    def append(self, pcm: Pcm) -> None:
        """Write `pcm` behind what is there. After an OSError, `num_samples` says how much of it is kept."""
        while len(pcm):
            if self._part_samples >= self._max_part_samples:
                ended = self._file
                self._begin_part()
                _close(ended)
            room = self._max_part_samples - self._part_samples
            self._write(pcm[:room])
            pcm = pcm[room:]

    def sync(self) -> None:
        """Make what is written survive a power cut; may take long, may be called from another thread."""
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write everything out and close; harmless when repeated."""
        if not self._file.closed:
            _close(self._file)

    def _begin_part(self) -> None:
        """Create the next file. After an OSError nothing of it is left, so that it can be tried again."""
        path = part_path(self.path, self._num_parts + 1)
        file = path.open("xb", buffering=0)
        try:
            file.write(header(self.rate_hz, 0))
        except BaseException:
            file.close()
            path.unlink(missing_ok=True)
            raise
        self._file = file
        self._num_parts += 1
        self._part_samples = 0

    def _write(self, pcm: Pcm) -> None:
        data = memoryview(pcm.astype("<i2", copy=False).tobytes())
        start = HEADER_BYTES + self._part_samples * SAMPLE_BYTES
        num_done = 0
        try:
            while num_done < len(data):
                # A disk that fills up takes a piece first and refuses the rest.
                self._file.seek(start + num_done)
                num_done += self._file.write(data[num_done:])
        finally:
            num_kept = num_done // SAMPLE_BYTES
            if num_done < len(data):
                self._file.truncate(start + num_kept * SAMPLE_BYTES)
            if num_kept:
                self._file.seek(0)
                self._file.write(header(self.rate_hz, self._part_samples + num_kept))
                self._part_samples += num_kept
                self._num_samples += num_kept


def _close(file: BinaryIO) -> None:
    """Make what is written survive a power cut, and close; closed also after an OSError."""
    try:
        os.fsync(file.fileno())
    finally:
        file.close()


class RecordingReader:
    """Reads a recording by sample, across its parts, also while it grows. For one thread."""

    def __init__(self, path: Path) -> None:
        """Raises OSError, also for a file that is no recording of ours."""
        rate_hz = rate_of(path)
        if rate_hz is None:
            raise OSError(f"{path.name} is not a recording of Jamak's")
        self.rate_hz = rate_hz
        self._path = path
        self._parts = parts_of(path)

    def num_samples(self) -> int:
        """Ask the disk how long it is now. Raises OSError."""
        self._parts = parts_of(self._path)
        return self._num_known

    @property
    def _num_known(self) -> int:
        return sum(part.num_samples for part in self._parts)

    def read(self, first: int, end: int) -> Pcm:
        """Return samples `[first, end)`, fewer where the recording ends. Raises OSError."""
        if end > self._num_known:
            # Nearly always it is the last part that has grown; only once an hour there is a new one.
            self._parts[-1] = part_at(self._parts[-1].path)
        if end > self._num_known:
            self._parts = parts_of(self._path)
        pieces = []
        start = 0
        for part in self._parts:
            low, high = max(first, start), min(end, start + part.num_samples)
            if low < high:
                pieces.append(_read_part(part.path, low - start, high - low))
            start += part.num_samples
        return np.concatenate(pieces) if pieces else np.zeros(0, np.int16)


def _read_part(path: Path, first: int, num: int) -> Pcm:
    with path.open("rb", buffering=0) as file:
        file.seek(HEADER_BYTES + first * SAMPLE_BYTES)
        return np.frombuffer(file.read(num * SAMPLE_BYTES), "<i2").astype(np.int16, copy=False)
