"""The recorder as a whole: threads, pauses, endings, and a file that holds what was said."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.capture.devices import DeviceKind, Wish
from app.capture.notices import MarkKind, NoticeKind
from app.capture.recorder import Recorder, RecorderPhase
from app.capture.recording_file import RecordingReader
from engine.protocol.failures import FailureKind
from tests.helpers.fake_sound import HEADSET, MIC, SPEAKERS, FakeAudio, FakeStream, numbered


def wait_until(is_so: Callable[[], bool], timeout_s: float = 10.0) -> None:
    end_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end_s, "it never happened"
        time.sleep(0.005)


class Rig:
    """A recorder over fake devices."""

    def __init__(self, folder: Path, *wishes: Wish, audio: FakeAudio | None = None) -> None:
        self.audio = audio or FakeAudio(MIC, HEADSET, SPEAKERS)
        self.path = folder / "recordings" / "r.wav"
        self.recorder = Recorder(self.audio, wishes or (Wish(),), self.path)

    def start(self) -> FakeStream:
        self.recorder.start()
        wait_until(lambda: self.recorder.phase is RecorderPhase.RECORDING and bool(self.audio.streams))
        return self.audio.streams[-1]

    def speak(self, stream: FakeStream, num: int, first: int = 1) -> None:
        """Say numbered samples, and wait until they are on the disk."""
        wanted = self.recorder.num_samples + num
        stream.speak(numbered(num, first))
        wait_until(lambda: self.recorder.num_samples >= wanted)

    def stop(self) -> np.ndarray:
        self.recorder.stop()
        assert self.recorder.wait(10.0)
        return RecordingReader(self.path).read(0, 10**8)


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    rig.recorder.stop()


def test_what_was_said_is_in_the_file(rig: Rig) -> None:
    stream = rig.start()
    rig.speak(stream, 4_000)
    stream.speak(numbered(4_000, 4_001))
    pcm = rig.stop()
    assert np.array_equal(pcm, np.arange(1, 8_001)), "also what came just before the end"
    assert stream.is_closed
    assert rig.recorder.failure is None
    assert rig.recorder.take_notices() == []


def test_samples_can_be_read_before_the_recorder_tells_of_them(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    seen: list[tuple[int, int]] = []

    def look() -> None:
        told = rig.recorder.num_samples
        seen.append((told, len(RecordingReader(rig.path).read(0, told))))

    rig.recorder = Recorder(rig.audio, (Wish(),), rig.path, on_growth=look)
    stream = rig.start()
    rig.speak(stream, 1_000)
    rig.speak(stream, 1_000)
    rig.stop()
    assert seen
    assert all(told == there for told, there in seen)


def test_a_pause_takes_no_time_and_lets_go_of_the_device(rig: Rig) -> None:
    stream = rig.start()
    rig.speak(stream, 1_600)
    stream.speak(numbered(1_600, 1_601))
    rig.recorder.pause()
    wait_until(lambda: rig.recorder.phase is RecorderPhase.PAUSED)
    assert rig.recorder.num_samples == 3_200
    assert not rig.audio.open_streams
    rig.recorder.resume()
    wait_until(lambda: bool(rig.audio.open_streams) and rig.recorder.phase is RecorderPhase.RECORDING)
    rig.speak(rig.audio.stream, 1_600, 3_201)
    assert np.array_equal(rig.stop(), np.arange(1, 4_801))
    (mark,) = rig.recorder.take_marks()
    assert (mark.kind, mark.start, mark.end) == (MarkKind.PAUSE, 0.2, 0.2)


def test_a_lost_device_leaves_a_marked_gap_and_another_goes_on(rig: Rig) -> None:
    stream = rig.start()
    rig.speak(stream, 1_600)
    stream.is_moved = True
    rig.audio.plug(HEADSET)
    wait_until(lambda: stream.is_closed and bool(rig.audio.open_streams))
    other = rig.audio.stream
    told: list[NoticeKind] = []
    num_said = 0
    while not told:
        other.speak(np.full(480, 0.25, np.float32))
        num_said += 160
        time.sleep(0.01)
        told += [notice.kind for notice in rig.recorder.take_notices()]
    assert told == [NoticeKind.REPLACED]
    pcm = rig.stop()
    (mark,) = rig.recorder.take_marks()
    gap = slice(round(mark.start * 16_000), round(mark.end * 16_000))
    assert mark.kind is MarkKind.GAP
    assert gap.start == 1_600
    assert not pcm[gap].any()
    assert np.array_equal(pcm[: gap.start], np.arange(1, 1_601))
    assert len(pcm) - gap.stop == pytest.approx(num_said, abs=50)


def test_without_a_device_there_is_no_recording(tmp_path: Path) -> None:
    rig = Rig(tmp_path, audio=FakeAudio())
    rig.recorder.start()
    assert rig.recorder.wait(10.0)
    assert rig.recorder.failure is not None
    assert rig.recorder.failure.kind is FailureKind.NO_SOUND_SOURCE
    assert not rig.path.exists()


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "recordings").write_text("a file stands where the folder should be")
    rig = Rig(tmp_path)
    rig.recorder.start()
    assert rig.recorder.wait(10.0)
    assert rig.recorder.failure is not None
    assert not rig.audio.open_streams


def test_a_folder_that_cannot_be_written_gives_way_to_the_spare_one(tmp_path: Path) -> None:
    (tmp_path / "recordings").write_text("a file stands where the folder should be")
    rig = Rig(tmp_path)
    spare = tmp_path / "spare" / "r.wav"
    rig.recorder = Recorder(rig.audio, (Wish(),), rig.path, spare_path=spare)
    rig.speak(rig.start(), 1_600)
    rig.path = rig.recorder.path
    assert np.array_equal(rig.stop(), np.arange(1, 1_601))
    assert rig.path == spare
    assert rig.recorder.failure is None
    (notice,) = rig.recorder.take_notices()
    assert (notice.kind, notice.folder) == (NoticeKind.FOLDER_REFUSED, str(spare.parent))


def test_what_cannot_be_written_anywhere_is_said_of_the_first_place(tmp_path: Path) -> None:
    (tmp_path / "recordings").write_text("a file stands where the folder should be")
    rig = Rig(tmp_path)
    rig.recorder = Recorder(
        rig.audio, (Wish(),), rig.path, spare_path=tmp_path / "recordings" / "too" / "spare.wav"
    )
    rig.recorder.start()
    assert rig.recorder.wait(10.0)
    assert rig.recorder.failure is not None
    assert rig.recorder.failure.subject == "r.wav"
    assert rig.recorder.take_notices() == []


def test_a_device_that_crashes_the_recorder_still_leaves_a_closed_file(tmp_path: Path) -> None:
    class Crashing(FakeStream):
        @property
        def is_active(self) -> bool:
            raise ArithmeticError("the fake was told to raise")

        @is_active.setter
        def is_active(self, _is_active: bool) -> None: ...

    audio = FakeAudio(MIC)
    rig = Rig(tmp_path, audio=audio)
    stream = rig.start()
    rig.speak(stream, 1_600)
    stream.__class__ = Crashing
    assert rig.recorder.wait(10.0)
    assert rig.recorder.failure is not None
    assert rig.recorder.failure.kind is FailureKind.INTERNAL
    assert np.array_equal(RecordingReader(rig.path).read(0, 10**6), np.arange(1, 1_601))


def test_two_sources_become_one(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Wish(), Wish(kind=DeviceKind.COMPUTER))
    rig.start()
    wait_until(lambda: len(rig.audio.open_streams) == 2)
    mic, speakers = rig.audio.open_streams
    speakers.speak(np.full(3_200, 0.25, np.float32))
    mic.speak(np.full(3_200, 0.125, np.float32))
    wait_until(lambda: rig.recorder.num_samples >= 3_200)
    pcm = rig.stop()
    assert {4_096, 12_288} <= set(np.unique(pcm[100:3_100]).tolist()) or 12_288 in pcm
    assert len(rig.recorder.take_notices()) == 0


def test_a_gap_of_the_second_source_is_marked_though_the_first_goes_on(tmp_path: Path) -> None:
    rig = Rig(tmp_path, Wish(), Wish(kind=DeviceKind.COMPUTER))
    rig.start()
    wait_until(lambda: len(rig.audio.open_streams) == 2)
    mic, speakers = rig.audio.open_streams
    speakers.speak(np.full(3_200, 0.25, np.float32))
    speakers.is_active = False
    rig.audio.plug(MIC)
    while rig.recorder.elapsed_s < 1.6:
        mic.speak(numbered(480))
        time.sleep(0.03)
    pcm = rig.stop()
    (mark,) = rig.recorder.take_marks()
    assert mark.kind is MarkKind.GAP
    assert mark.start < 0.6
    assert 1.2 < mark.end <= len(pcm) / 16_000


def test_samples_that_found_no_room_are_told_and_counted_and_silent_in_their_place(rig: Rig) -> None:
    stream = rig.start()
    rig.speak(stream, 1_600)
    too_many = numbered(61 * 16_000)
    stream.speak(too_many)
    wait_until(lambda: rig.recorder.lost_s == 61.0)
    assert [notice.kind for notice in rig.recorder.take_notices()] == [NoticeKind.OVERFLOW]
    rig.recorder.pause()
    wait_until(lambda: rig.recorder.phase is RecorderPhase.PAUSED)
    rig.recorder.resume()
    wait_until(lambda: bool(rig.audio.open_streams) and rig.recorder.phase is RecorderPhase.RECORDING)
    rig.speak(rig.audio.stream, 1_600, 1_601)
    assert rig.recorder.lost_s == 61.0, "also after a pause"
    pcm = rig.stop()
    (lost,) = [mark for mark in rig.recorder.take_marks() if mark.kind is MarkKind.LOST]
    assert (lost.start, lost.end) == (0.1, 61.1)
    assert not pcm[1_600 : 1_600 + len(too_many)].any()
    assert np.array_equal(pcm[-1_600:], np.arange(1_601, 3_201))


def test_the_meter_shows_how_loud_it_is(rig: Rig) -> None:
    stream = rig.start()
    stream.speak(np.full(1_600, 0.5, np.float32))
    wait_until(lambda: rig.recorder.level.peak_db > -7)
    assert rig.recorder.level.rms_db == pytest.approx(-6.02, abs=0.1)
    rig.stop()
    assert rig.recorder.level.peak_db == -90.0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of file sizes are POSIX")
def test_a_disk_that_stays_full_ends_the_recording_with_what_was_written(rig: Rig) -> None:
    import resource

    stream = rig.start()
    rig.speak(stream, 16_000)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (80 + 2 * 20_000, before[1]))
    try:
        for _ in range(7):
            stream.speak(np.full(160_000, 0.25, np.float32))
            time.sleep(0.3)
        assert rig.recorder.wait(20.0)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert rig.recorder.failure is not None
    assert rig.recorder.failure.kind is FailureKind.DISK_FULL
    told = [notice.kind for notice in rig.recorder.take_notices()]
    assert NoticeKind.DISK_FULL in told
    assert NoticeKind.STOPPED in told
    pcm = RecordingReader(rig.path).read(0, 10**8)
    assert np.array_equal(pcm[:16_000], np.arange(1, 16_001))
    assert soundfile.info(rig.path).frames == len(pcm) >= 20_000
