"""Puts samples on the disk, and keeps them for a minute where that cannot be done."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final

import numpy as np

from app.capture.notices import Notice, NoticeKind
from app.capture.pcm import Pcm
from app.capture.recording_file import RecordingWriter

log = logging.getLogger(__name__)

PATIENCE_S: Final = 60
_RETRY_S: Final = 1.0


class Disk:
    """A recording's way to the disk. Single-threaded, `num_samples` excepted."""

    def __init__(self, writer: RecordingWriter, tell: Callable[[Notice], None]) -> None:
        self._writer = writer
        self._tell = tell
        self._kept: list[Pcm] = []
        self._num_kept = 0
        self._retry_s = 0.0
        self.error: OSError | None = None
        """Why something waits to be written; None when all is."""

    @property
    def num_samples(self) -> int:
        """On the disk."""
        return self._writer.num_samples

    @property
    def num_total(self) -> int:
        """On the disk and waiting for it."""
        return self.num_samples + self._num_kept

    @property
    def is_given_up(self) -> bool:
        """More waits than can be kept."""
        return self._num_kept > PATIENCE_S * self._writer.rate_hz

    def put(self, pcm: Pcm, now_s: float) -> None:
        """Write `pcm`, behind what waits; never raises."""
        if len(pcm):
            self._kept.append(pcm)
            self._num_kept += len(pcm)
        if self._num_kept and (self.error is None or now_s >= self._retry_s):
            self._write(now_s)

    def sync(self) -> None:
        """Make what is written survive a power cut; trouble is met again when writing."""
        try:
            self._writer.sync()
        except (OSError, ValueError) as error:
            log.info("the recording cannot be synced: %s", type(error).__name__)

    def close(self, now_s: float) -> None:
        """Write what waits, once more, and close."""
        self._retry_s = now_s
        self.put(np.zeros(0, np.int16), now_s)
        try:
            self._writer.close()
        except OSError as error:
            self.error = error

    def _write(self, now_s: float) -> None:
        waiting = np.concatenate(self._kept)
        before = self._writer.num_samples
        try:
            self._writer.append(waiting)
        except OSError as error:
            if self.error is None:
                self._tell(Notice(kind=NoticeKind.DISK_FULL, detail=str(error)))
            self.error = error
            self._retry_s = now_s + _RETRY_S
        else:
            if self.error is not None:
                self._tell(Notice(kind=NoticeKind.DISK_FREE))
            self.error = None
        rest = waiting[self._writer.num_samples - before :]
        self._kept = [rest] if len(rest) else []
        self._num_kept = len(rest)
