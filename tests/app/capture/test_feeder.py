"""The feeder hands the engine everything that is on the disk, once, in order, and the same every time."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from app.capture.feeder import BLOCK_SAMPLES, QUIET_AFTER_SAMPLES, QUIET_BLOCK_SAMPLES, Feeder
from app.capture.pcm import Pcm
from app.capture.recording_file import RecordingWriter
from engine.protocol.transcript import Options
from tests.helpers.fake_streams import FakeStreams


def noise(num: int) -> Pcm:
    return np.random.default_rng(3).integers(-9_000, 9_000, num).astype(np.int16)


class Rig:
    """A growing recording and its feeder; the thread is not started, the test takes its steps."""

    def __init__(self, folder: Path, rate_hz: int = 16_000) -> None:
        self.writer = RecordingWriter(folder / "r.wav", rate_hz, max_part_samples=20_000)
        self.engine = FakeStreams()
        self.is_quiet = False
        self.feeder = Feeder(
            self.writer.path, self.engine, lambda: self.writer.num_samples, lambda: self.is_quiet
        )

    def attach(self, first_sample: int = 0) -> str:
        job = self.engine.listen(Options(), first_sample)
        self.feeder.attach(job, first_sample)
        return job

    def feed(self) -> None:
        while self.feeder.feed_once():
            pass


def test_what_grows_is_fed_as_it_grows(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    job = rig.attach()
    pcm = noise(30_000)
    for start in range(0, 30_000, 1_600):
        rig.writer.append(pcm[start : start + 1_600])
        rig.feed()
        assert len(rig.engine.heard(job)) == rig.writer.num_samples
    assert np.array_equal(rig.engine.heard(job), pcm.astype(np.float32) / 32_768)
    assert rig.engine.said == []


@pytest.mark.parametrize("rate_hz", [16_000, 44_100, 48_000])
def test_who_takes_over_hears_the_very_same_samples(tmp_path: Path, rate_hz: int) -> None:
    rig = Rig(tmp_path, rate_hz)
    rig.writer.append(noise(rate_hz * 2))
    rig.feeder.finish()
    first = rig.attach()
    rig.feed()
    whole = rig.engine.heard(first)
    assert len(whole) == 32_000
    for start in (1, 7_777, 31_999):
        later = rig.attach(start)
        rig.feed()
        assert np.array_equal(rig.engine.heard(later), whole[start:])


def test_an_engine_without_room_is_offered_the_same_again(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.writer.append(noise(4 * BLOCK_SAMPLES))
    job = rig.attach()
    rig.engine.is_taking = False
    rig.feed()
    assert len(rig.engine.heard(job)) == 0
    rig.engine.is_taking = True
    rig.feed()
    assert len(rig.engine.heard(job)) == 4 * BLOCK_SAMPLES
    assert max(map(len, rig.engine.fed[job])) == BLOCK_SAMPLES


def test_a_pause_is_said_once_everything_was_fed(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.writer.append(noise(1_000))
    job = rig.attach()
    rig.engine.is_taking = False
    rig.feeder.flush()
    rig.feed()
    assert rig.engine.said == []
    rig.engine.is_taking = True
    rig.feed()
    rig.feed()
    assert rig.engine.said == [("flush", job)]
    assert len(rig.engine.heard(job)) == 1_000


def test_the_last_samples_are_fed_before_the_session_is_closed(tmp_path: Path) -> None:
    rig = Rig(tmp_path, 48_000)
    rig.writer.append(noise(48_000))
    job = rig.attach()
    rig.feed()
    assert 15_900 < len(rig.engine.heard(job)) < 16_000, "the filter waits for what comes next"
    rig.feeder.finish()
    rig.feed()
    assert len(rig.engine.heard(job)) == 16_000
    assert rig.engine.said == [("close", job)]
    rig.feed()
    assert rig.engine.said == [("close", job)]


def test_a_session_that_takes_over_after_the_end_is_closed_too(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.writer.append(noise(100))
    rig.feeder.finish()
    first = rig.attach()
    rig.feed()
    second = rig.attach(50)
    rig.feed()
    assert rig.engine.said == [("close", first), ("close", second)]


def test_while_nobody_is_heard_it_is_fed_less_often(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    job = rig.attach()

    def hear(num_ticks: int, *, is_quiet: bool) -> list[int]:
        rig.is_quiet = is_quiet
        before = len(rig.engine.fed[job])
        for _ in range(num_ticks):
            rig.writer.append(noise(1_600))
            rig.feed()
        return [len(block) for block in rig.engine.fed[job][before:]]

    assert hear(5, is_quiet=False) == [1_600] * 5
    num_until_lazy = QUIET_AFTER_SAMPLES // 1_600
    assert hear(num_until_lazy, is_quiet=True) == [1_600] * num_until_lazy
    assert hear(6, is_quiet=True) == [QUIET_BLOCK_SAMPLES] * 2
    assert hear(1, is_quiet=True) == []
    assert hear(2, is_quiet=False) == [3_200, 1_600], "a voice is heard at once, with what came before"


def test_a_pause_and_the_end_do_not_wait_for_more_silence(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    job = rig.attach()
    rig.is_quiet = True
    rig.writer.append(noise(QUIET_AFTER_SAMPLES + 1_600))
    rig.feed()
    rig.writer.append(noise(1_000))
    rig.feed()
    assert len(rig.engine.heard(job)) < rig.writer.num_samples
    rig.feeder.flush()
    rig.feed()
    assert len(rig.engine.heard(job)) == rig.writer.num_samples
    rig.writer.append(noise(10))
    rig.feeder.finish()
    rig.feed()
    assert len(rig.engine.heard(job)) == rig.writer.num_samples


def test_nobody_is_fed_while_nobody_is_attached(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.writer.append(noise(100))
    job = rig.attach()
    rig.feeder.detach()
    rig.feed()
    assert len(rig.engine.heard(job)) == 0


def test_its_thread_feeds_by_itself_and_survives_a_file_that_is_away(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.writer.append(noise(100))
    job = rig.attach()
    away = rig.writer.path.rename(tmp_path / "away.wav")
    rig.feeder.start()
    rig.feeder.wake()
    away.rename(rig.writer.path)
    wait_until(lambda: len(rig.engine.heard(job)) == 100)
    rig.writer.append(noise(100))
    rig.feeder.wake()
    wait_until(lambda: len(rig.engine.heard(job)) == 200)
    rig.feeder.stop()


def wait_until(is_so: Callable[[], bool], timeout_s: float = 10.0) -> None:
    end_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end_s, "it never happened"
        time.sleep(0.005)
