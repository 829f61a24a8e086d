"""A track is as long as the clock says, with every sample that came, and silence where none did."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from app.capture.devices import Device
from app.capture.notices import MarkKind
from app.capture.ring import Ring, Samples
from app.capture.source import Intake
from app.capture.track import Hole, Track
from tests.helpers.fake_sound import HEADSET, MIC, FakeClock, numbered

RATE_HZ = 16_000


SILENT_S = 1.1


class Rig:
    """A track and its intakes, fed block by block."""

    def __init__(self, *, is_steered: bool = False) -> None:
        self.clock = FakeClock()
        self.intakes: deque[Intake] = deque()
        self.track = Track(self.intakes, RATE_HZ, self.clock(), is_steered=is_steered)
        self.heard: list[Samples] = []
        self.holes: list[Hole] = []

    def open(self, device: Device = MIC) -> Intake:
        self.intakes.append(Intake(device, self.clock))
        return self.intakes[-1]

    def speak(self, intake: Intake, samples: Samples) -> None:
        """A block arrives when it has been spoken."""
        self.clock.advance(len(samples) / intake.device.rate_hz)
        intake.on_block(samples)

    def collect(self) -> int:
        num_before = sum(map(len, self.heard))
        samples, holes = self.track.collect(self.clock())
        self.heard.append(samples)
        self.holes += [hole._replace(start=hole.start + num_before) for hole in holes]
        return len(samples)

    def fall_silent(self) -> Intake:
        """A stream says a block, and then nothing for so long that silence stands in for it."""
        intake = self.open()
        self.speak(intake, numbered(1_600))
        self.collect()
        self.clock.advance(SILENT_S)
        self.collect()
        return intake

    @property
    def all(self) -> Samples:
        return np.concatenate(self.heard)


def test_samples_pass_untouched() -> None:
    rig = Rig()
    intake = rig.open()
    for first in (1, 1_601, 3_201):
        rig.speak(intake, numbered(1_600, first))
        rig.collect()
    assert np.array_equal(rig.all, numbered(4_800))
    assert rig.holes == []


def test_a_recording_begins_with_its_first_sample_however_long_the_device_took() -> None:
    rig = Rig()
    intake = rig.open()
    rig.clock.advance(0.8)
    rig.collect()
    rig.speak(intake, numbered(1_600))
    rig.collect()
    assert np.array_equal(rig.all, numbered(1_600))


def test_time_goes_on_while_nothing_comes() -> None:
    rig = Rig()
    intake = rig.open()
    rig.speak(intake, numbered(1_600))
    rig.collect()
    rig.clock.advance(0.9)
    assert rig.collect() == 0, "it may only be late"
    for _ in range(20):
        rig.clock.advance(0.1)
        rig.collect()
    assert len(rig.all) == 1_600 + round(2.9 * RATE_HZ)
    assert sum(hole.num for hole in rig.holes) == round(2.9 * RATE_HZ)


def test_the_gap_between_two_streams_is_as_long_as_it_was() -> None:
    rig = Rig()
    first = rig.open()
    rig.speak(first, numbered(1_600))
    rig.collect()
    first.is_over = True
    rig.clock.advance(2.5)
    rig.collect()
    rig.clock.advance(0.25)
    second = rig.open()
    rig.speak(second, numbered(1_600, 5_000))
    rig.collect()
    gap = round(2.75 * RATE_HZ)
    assert np.array_equal(rig.all, np.concatenate((numbered(1_600), np.zeros(gap), numbered(1_600, 5_000))))
    assert [hole.kind for hole in rig.holes] == [MarkKind.GAP] * len(rig.holes)
    assert sum(hole.num for hole in rig.holes) == gap


def test_a_quick_change_of_device_leaves_its_short_gap_too() -> None:
    rig = Rig()
    first = rig.open()
    rig.speak(first, numbered(1_600))
    first.is_over = True
    rig.clock.advance(0.3)
    rig.speak(rig.open(), numbered(1_600))
    rig.collect()
    assert rig.holes == [Hole(MarkKind.GAP, 1_600, 4_800)]


def test_what_found_no_room_is_silence_in_its_place() -> None:
    rig = Rig()
    intake = rig.open()
    intake.ring = Ring(2_000)
    rig.speak(intake, numbered(1_600))
    rig.speak(intake, numbered(1_600, 1_601))
    rig.collect()
    rig.speak(intake, numbered(1_600, 3_201))
    rig.collect()
    expected = numbered(4_800)
    expected[1_600:3_200] = 0
    assert np.array_equal(rig.all, expected)
    assert rig.holes == [Hole(MarkKind.LOST, 1_600, 1_600)]
    assert rig.track.num_overflowed == rig.track.num_lost == 1_600


def test_what_a_device_lost_is_silence_behind_it() -> None:
    rig = Rig()
    intake = rig.open()
    rig.speak(intake, numbered(1_600))
    intake.num_missing = 500
    intake.is_over = True
    rig.collect()
    assert rig.holes == [Hole(MarkKind.LOST, 1_600, 500)]
    assert len(rig.all) == 2_100


def test_silence_that_stood_in_for_a_loss_is_not_put_in_again() -> None:
    """A stream that was away for a second and went on: the gap was filled, and then the loss as well."""
    rig = Rig()
    intake = rig.fall_silent()
    rig.speak(intake, numbered(1_600))
    rig.collect()
    intake.num_missing = round(SILENT_S * RATE_HZ) + 500
    intake.is_over = True
    rig.collect()
    assert [(hole.kind, hole.num) for hole in rig.holes] == [
        (MarkKind.GAP, round(SILENT_S * RATE_HZ)),
        (MarkKind.LOST, 500),
    ]
    assert len(rig.all) == round((rig.clock() - 100.0) * RATE_HZ) + 500


def test_what_was_lost_before_a_stream_fell_silent_is_filled_beside_the_gap() -> None:
    rig = Rig()
    intake = rig.fall_silent()
    intake.num_missing = 500
    intake.is_over = True
    rig.collect()
    assert [(hole.kind, hole.num) for hole in rig.holes] == [
        (MarkKind.GAP, round(SILENT_S * RATE_HZ)),
        (MarkKind.LOST, 500),
    ]


@pytest.mark.parametrize("seconds", [1, 3])
def test_another_rate_is_converted(seconds: int) -> None:
    rig = Rig()
    intake = rig.open(HEADSET)
    samples = np.sin(2 * np.pi * 440 * np.arange(48_000 * seconds) / 48_000).astype(np.float32)
    for start in range(0, len(samples), 512):
        rig.speak(intake, samples[start : start + 512])
        rig.collect()
    expected = np.sin(2 * np.pi * 440 * np.arange(len(rig.all)) / RATE_HZ)
    assert abs(len(rig.all) - RATE_HZ * seconds) < 100
    assert np.abs(rig.all - expected)[100:].max() < 1e-3
