"""A full disk costs nothing for a minute; what was written stays valid whatever happens."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import soundfile

from app.capture.disk import PATIENCE_S, Disk
from app.capture.notices import Notice, NoticeKind
from app.capture.pcm import Pcm
from app.capture.recording_file import RecordingWriter

RATE_HZ = 16_000


class FullDisk(RecordingWriter):
    """A writer on a disk with `room` samples left; like a real one it takes a piece and refuses the rest."""

    room = 10**9

    def append(self, pcm: Pcm) -> None:
        taken = pcm[: self.room]
        self.room -= len(taken)
        super().append(taken)
        if len(taken) < len(pcm):
            raise OSError(28, "No space left on device")


def disk_in(folder: Path) -> tuple[Disk, FullDisk, list[NoticeKind]]:
    told: list[NoticeKind] = []

    def tell(notice: Notice) -> None:
        told.append(notice.kind)

    writer = FullDisk(folder / "r.wav", RATE_HZ)
    return Disk(writer, tell), writer, told


def ramp(first: int, num: int) -> Pcm:
    return (np.arange(first, first + num) % 30_000).astype(np.int16)


def test_what_waits_for_room_is_written_in_order_when_there_is_some(tmp_path: Path) -> None:
    disk, writer, told = disk_in(tmp_path)
    disk.put(ramp(0, 1_000), 0.0)
    writer.room = 500
    disk.put(ramp(1_000, 1_000), 0.1)
    assert disk.num_samples == 1_500
    assert disk.num_total == 2_000
    assert soundfile.info(tmp_path / "r.wav").frames == 1_500
    writer.room = 10**9
    disk.put(ramp(2_000, 1_000), 0.2)
    assert disk.num_samples == 1_500, "it is not asked again at once"
    disk.put(ramp(3_000, 1_000), 1.2)
    assert np.array_equal(soundfile.read(tmp_path / "r.wav", dtype="int16")[0], ramp(0, 4_000))
    assert told == [NoticeKind.DISK_FULL, NoticeKind.DISK_FREE]


def test_after_a_minute_it_is_given_up_and_what_was_written_is_valid(tmp_path: Path) -> None:
    disk, writer, told = disk_in(tmp_path)
    writer.room = 700
    disk.put(ramp(0, 1_000), 0.0)
    for second in range(PATIENCE_S):
        assert not disk.is_given_up
        disk.put(ramp(0, RATE_HZ), float(second))
    assert disk.is_given_up
    disk.close(100.0)
    assert told == [NoticeKind.DISK_FULL]
    assert disk.error is not None
    assert np.array_equal(soundfile.read(tmp_path / "r.wav", dtype="int16")[0], ramp(0, 700))


def test_closing_writes_what_waits_if_there_is_room_by_now(tmp_path: Path) -> None:
    disk, writer, _ = disk_in(tmp_path)
    writer.room = 0
    disk.put(ramp(0, 100), 0.0)
    writer.room = 10**9
    disk.close(0.1)
    assert disk.error is None
    assert soundfile.info(tmp_path / "r.wav").frames == 100
