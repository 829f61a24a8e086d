"""The audio a live session keeps, and how missing audio is heard."""

from __future__ import annotations

import numpy as np
import pytest

from engine.manager.ears import Ears
from engine.manager.live_audio import LiveAudio
from engine.manager.vad import FRAME_SAMPLES
from engine.messages import SAMPLE_RATE_HZ


def ramp(first: int, count: int) -> np.ndarray:
    return np.arange(first, first + count, dtype=np.float32)


def test_any_range_can_be_cut() -> None:
    audio = LiveAudio(100)
    for first in (100, 110, 120):
        audio.append(ramp(first, 10))
    assert audio.end == 130
    assert audio.cut(105, 125).tolist() == ramp(105, 20).tolist()


def test_missing_and_forgotten_audio_is_silent() -> None:
    audio = LiveAudio(0)
    audio.append(ramp(1, 4))
    audio.append_silence(3)
    audio.append(ramp(8, 2))
    assert audio.cut(0, 9).tolist() == [1, 2, 3, 4, 0, 0, 0, 8, 9]
    audio.forget(4)
    assert audio.cut(2, 9).tolist() == [0, 0, 0, 0, 0, 8, 9]
    assert audio.cut(5, 5).tolist() == []


def test_hours_of_missing_audio_take_no_room_and_lose_no_frame() -> None:
    audio = LiveAudio(0)
    audio.append_silence(10 * 3600 * SAMPLE_RATE_HZ)
    ears = Ears(use_vad=True)
    before = ears.judge(np.zeros(100, np.float32))
    missed = ears.miss(3600 * SAMPLE_RATE_HZ + 77)
    after = ears.judge(np.zeros(1000, np.float32))
    total = 100 + 3600 * SAMPLE_RATE_HZ + 77 + 1000
    assert len(before) + len(missed) + len(after) == total // FRAME_SAMPLES
    assert not missed.has_speech.any()


@pytest.mark.parametrize("blocks", [[512] * 4, [1, 600, 2000], [100] * 30])
def test_without_a_detector_everything_is_speech(blocks: list[int]) -> None:
    ears = Ears(use_vad=False)
    frames = [ears.judge(np.zeros(count, np.float32)) for count in blocks]
    assert sum(len(part) for part in frames) == sum(blocks) // FRAME_SAMPLES
    assert all(part.has_speech.all() for part in frames)
