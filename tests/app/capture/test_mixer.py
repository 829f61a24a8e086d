"""Two sources are mixed in step, though the clocks of sound cards never agree."""

from __future__ import annotations

from collections import deque

import numpy as np
import pytest

from app.capture.marks import MarkBook
from app.capture.mixer import CUSHION_S, Mixer, soft
from app.capture.notices import MarkKind
from app.capture.ring import Samples
from app.capture.source import Intake
from app.capture.track import Hole, Track
from tests.helpers.fake_sound import MIC, SPEAKERS, FakeClock

RATE_HZ = 16_000
BLOCK = 512


class Rig:
    """A silent microphone and computer sound whose clock is `drift` fast, mixed ten times a second."""

    def __init__(self, drift: float = 0.0) -> None:
        self.clock = FakeClock()
        self.drift = drift
        intakes = [deque([Intake(device, self.clock)]) for device in (MIC, SPEAKERS)]
        first, second = (
            Track(one, RATE_HZ, self.clock(), is_steered=index > 0) for index, one in enumerate(intakes)
        )
        self.mic, self.speakers = intakes[0][0], intakes[1][0]
        self.mixer = Mixer(first, second, RATE_HZ)
        self.heard: list[Samples] = []
        self.holes: list[Hole] = []
        self._begun_s = self.clock()
        self._num_mic = 0
        self._num_played = 0

    def run(self, seconds: float, *, plays: bool = True, speaks: bool = True) -> None:
        """Let both deliver their blocks by their own clocks; what is played is its sample's number."""
        end_s = self.clock() + seconds
        next_s = self.clock()
        while self.clock() < end_s - 1e-9:
            self.clock.advance(0.01)
            elapsed_s = self.clock() - self._begun_s
            while (self._num_mic + 1) * BLOCK <= elapsed_s * RATE_HZ:
                if speaks:
                    self.mic.on_block(np.zeros(BLOCK, np.float32))
                self._num_mic += 1
            while (self._num_played + 1) * BLOCK <= elapsed_s * RATE_HZ * (1 + self.drift):
                if plays:
                    self.speakers.on_block(self.tone(self._num_played * BLOCK, BLOCK))
                self._num_played += 1
            if self.clock() >= next_s:
                next_s += 0.1
                num_before = sum(map(len, self.heard))
                samples, holes = self.mixer.collect(self.clock())
                self.heard.append(samples)
                self.holes += [hole._replace(start=hole.start + num_before) for hole in holes]

    def tone(self, first: int, num: int) -> Samples:
        """A tone of 100 Hz by the computer's own clock."""
        return (0.5 * np.sin(2 * np.pi * 100 * np.arange(first, first + num) / RATE_HZ)).astype(np.float32)

    @property
    def all(self) -> Samples:
        return np.concatenate(self.heard)


@pytest.mark.parametrize("drift", [0.0, 2e-4, -2e-4, 1e-3, -1e-3])
def test_drift_is_corrected_and_never_piles_up(drift: float) -> None:
    rig = Rig(drift)
    rig.run(120.0)
    assert abs(rig.mixer.speed - 1.0 - drift) < 3e-4
    waiting_s = rig.mixer.num_waiting / RATE_HZ
    assert abs(waiting_s - CUSHION_S) < 0.06
    # Not one moment of silence in two minutes of a tone: nothing ran dry, nothing was cut out.
    steady = rig.all[RATE_HZ * 5 :]
    assert np.abs(steady[: len(steady) // 80 * 80].reshape(-1, 80)).max(axis=1).min() > 0.2
    assert np.abs(np.diff(steady)).max() < 0.05, "a tone of 100 Hz has no jumps"


def test_the_recording_is_as_long_as_the_first_source() -> None:
    rig = Rig(1e-3)
    rig.run(30.0)
    assert abs(len(rig.all) - 30 * RATE_HZ) <= 2 * BLOCK


def test_a_second_source_that_pauses_comes_back_in_step() -> None:
    rig = Rig()
    rig.run(10.0)
    rig.run(5.0, plays=False)
    rig.run(10.0)
    assert abs(rig.mixer.num_waiting / RATE_HZ - CUSHION_S) < 0.06
    silent = np.abs(rig.all[: len(rig.all) // 160 * 160].reshape(-1, 160)).max(axis=1) < 0.01
    assert 4.5 < silent[100:].sum() / 100 < 5.5


def marked(holes: list[Hole]) -> list[tuple[MarkKind, float, float]]:
    """Return the holes as the recorder marks them, in seconds."""
    book = MarkBook(RATE_HZ)
    for kind, start, num in holes:
        book.add(kind, start, start + num)
    book.close()
    return [(mark.kind, mark.start, mark.end) for mark in sorted(book.take(), key=lambda mark: mark.start)]


def test_a_gap_of_the_second_source_is_marked_where_it_is_silent() -> None:
    """The computer's sound was away for five seconds, and the recording said nothing of it."""
    rig = Rig()
    rig.run(10.0)
    rig.run(5.0, plays=False)
    rig.run(10.0)
    (gap,) = marked(rig.holes)
    assert gap == (MarkKind.GAP, pytest.approx(10.1, abs=0.05), pytest.approx(15.1, abs=0.2))
    within = rig.all[round(gap[1] * RATE_HZ) + 1 : round(gap[2] * RATE_HZ) - 1]
    assert not within.any()


def test_gaps_of_both_sources_at_once_are_one() -> None:
    rig = Rig()
    rig.run(10.0)
    rig.run(3.0, plays=False)
    rig.run(3.0, plays=False, speaks=False)
    rig.run(3.0, speaks=False)
    rig.run(5.0)
    (gap,) = marked(rig.holes)
    assert gap == (MarkKind.GAP, pytest.approx(10.1, abs=0.05), pytest.approx(19.0, abs=0.2))


def test_what_the_second_source_lost_is_marked() -> None:
    rig = Rig()
    rig.run(10.0)
    rig.run(0.25, plays=False)
    rig.run(5.0)
    rig.speakers.num_missing = 4_000
    rig.speakers.is_over = True
    rig.run(0.2, plays=False)
    (lost,) = marked(rig.holes)
    assert lost[0] is MarkKind.LOST
    assert 15.0 < lost[1] < lost[2] < 15.5
    assert lost[2] - lost[1] == pytest.approx(0.25, abs=0.05)


def test_a_second_source_that_begins_late_is_marked_from_the_start() -> None:
    rig = Rig()
    rig.run(3.0, plays=False)
    rig.run(3.0)
    (gap,) = marked(rig.holes)
    assert gap == (MarkKind.GAP, 0.0, pytest.approx(3.1, abs=0.2))


def test_what_is_not_loud_is_not_touched_and_nothing_clips() -> None:
    samples = np.linspace(-2.5, 2.5, 1_001, dtype=np.float32)
    bent = soft(samples)
    quiet = np.abs(samples) <= 0.8
    assert np.array_equal(bent[quiet], samples[quiet])
    assert np.abs(bent).max() <= 1.0
    assert (np.diff(bent) >= 0).all()
