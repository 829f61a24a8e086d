"""When somebody has begun and ended to speak."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import numpy as np

from engine.manager.turns import LEAST_FRAMES, Change, Turns
from engine.manager.vad import FRAME_SAMPLES
from engine.protocol.transcript import VadSettings

# Three frames of silence end a turn, two are kept in front of it.
SETTINGS = VadSettings(padding_s=2 * 0.032, silence_s=3 * 0.032)


def _hear(turns: Turns, frames: str) -> list[tuple[bool, float]]:
    """Let `turns` hear frames (# is speech); return what changed, in frames."""
    heard = np.array([frame == "#" for frame in frames], np.bool_)
    return [(change.is_speaking, change.sample / FRAME_SAMPLES) for change in turns.hear(heard)]


def test_a_turn_has_its_padding_in_front_and_its_silence_behind() -> None:
    assert _hear(Turns(SETTINGS, 0), "......####......") == [(True, 4.0), (False, 13.0)]


def test_frames_may_come_in_any_pieces() -> None:
    turns = Turns(SETTINGS, 0)
    told = [change for frame in "......####..#####..." for change in _hear(turns, frame)]
    assert told == [(True, 4.0), (False, 20.0)]


def test_a_click_is_no_turn() -> None:
    assert _hear(Turns(SETTINGS, 0), "...###....##....#...") == []


def test_a_turn_never_begins_before_the_last_has_ended() -> None:
    assert _hear(Turns(SETTINGS, 0), "####...####...") == [
        (True, 0.0),
        (False, 7.0),
        (True, 7.0),
        (False, 14.0),
    ]


def test_samples_are_those_of_the_recording() -> None:
    changes = list(Turns(SETTINGS, 16_000).hear(np.ones(LEAST_FRAMES, np.bool_)))
    assert changes == [Change(True, 16_000)]


@hypothesis.given(st.lists(st.booleans(), max_size=200), st.floats(0, 2), st.floats(0, 2))
def test_changes_alternate_and_never_go_back(frames: list[bool], padding_s: float, silence_s: float) -> None:
    turns = Turns(VadSettings(padding_s=padding_s, silence_s=silence_s), 0)
    changes = list(turns.hear(np.array(frames, np.bool_)))
    assert [change.is_speaking for change in changes] == [n % 2 == 0 for n in range(len(changes))]
    samples = [change.sample for change in changes]
    assert samples == sorted(samples)
    assert all(0 <= sample <= len(frames) * FRAME_SAMPLES for sample in samples)
