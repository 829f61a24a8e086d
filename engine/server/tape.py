"""The sound of one realtime session on the disk: written as it comes, read as fast as the engine follows."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

import numpy as np

from engine.server.realtime_audio import SAMPLE_RATE_HZ, Samples

PART_SAMPLES: Final = 60 * SAMPLE_RATE_HZ
_SAMPLE_BYTES: Final = 2


class Tape:
    """16-bit samples in parts of a minute, in a folder of its own. Positions are samples of the session.

    Nothing is kept in memory; parts that nobody needs again are deleted.
    """

    def __init__(self, folder: Path) -> None:
        """Make the folder. Raises OSError."""
        folder.mkdir(mode=0o700)
        self._folder = folder
        self._first = 0
        """Of what is still there; a whole number of parts."""
        self.end = 0

    def append(self, samples: Samples) -> None:
        """Write float samples behind those there are. Raises OSError."""
        data = np.rint(np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2")
        while len(data):
            room = PART_SAMPLES - self.end % PART_SAMPLES
            with self._part(self.end).open("ab") as file:
                file.write(data[:room].tobytes())
            self.end += len(data[:room])
            data = data[room:]

    def read(self, first: int, num_samples: int) -> bytes:
        """Return float32 samples as the engine takes them; fewer where a part ends. Raises OSError."""
        offset = first % PART_SAMPLES
        count = min(num_samples, PART_SAMPLES - offset, self.end - first)
        with self._part(first).open("rb") as file:
            file.seek(offset * _SAMPLE_BYTES)
            data = np.frombuffer(file.read(count * _SAMPLE_BYTES), "<i2")
        return (data.astype("<f4") / np.float32(32767.0)).tobytes()

    def forget(self, before: int) -> None:
        """Delete the parts that end before a position."""
        while self._first + PART_SAMPLES <= min(before, self.end):
            self._part(self._first).unlink(missing_ok=True)
            self._first += PART_SAMPLES

    def close(self) -> None:
        """Delete everything."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _part(self, sample: int) -> Path:
        return self._folder / f"{sample // PART_SAMPLES}.pcm"
