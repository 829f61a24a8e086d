"""Utterances and pauses in judged frames."""

from __future__ import annotations

import numpy as np

from engine.manager.hearing import Hearing, Utterance
from engine.manager.vad import FRAME_SAMPLES as FRAME
from engine.manager.vad import Frames

PAUSE, REST = 4 * FRAME, 10 * FRAME


def hearing_of(pattern: str, first: int = 0, loudness: list[float] | None = None) -> Hearing:
    """Return what was heard of frames like `..###..`, # being speech."""
    hearing = Hearing(first)
    flags = np.array([char == "#" for char in pattern], np.bool_)
    levels = np.array(loudness or [0.0] * len(pattern), np.float32)
    hearing.hear(Frames(flags, levels), len(pattern) * FRAME)
    return hearing


def find(hearing: Hearing, after: int = 0) -> Utterance | None:
    return hearing.utterance(after, pause=PAUSE, rest=REST)


def test_silence_has_no_utterance() -> None:
    assert find(hearing_of("......")) is None
    assert find(Hearing(0)) is None


def test_an_utterance_lasts_until_a_pause_follows() -> None:
    assert find(hearing_of("..###..")) == Utterance(2 * FRAME, 5 * FRAME, is_over=False)
    assert find(hearing_of("..###....")) == Utterance(2 * FRAME, 5 * FRAME, is_over=True)


def test_short_pauses_belong_to_it_and_long_rests_do_not() -> None:
    assert find(hearing_of("##......##")) == Utterance(0, 10 * FRAME, is_over=False)
    assert find(hearing_of("##..........##")) == Utterance(0, 2 * FRAME, is_over=True)
    after = find(hearing_of("##..........##"), after=2 * FRAME)
    assert after == Utterance(12 * FRAME, 14 * FRAME, is_over=False)


def test_an_utterance_begins_where_it_is_looked_for() -> None:
    found = find(hearing_of("####...."), after=FRAME + 7)
    assert found == Utterance(FRAME + 7, 4 * FRAME, is_over=True)


def test_speech_is_counted_in_samples() -> None:
    hearing = hearing_of(".##.#", first=1000)
    assert hearing.num_speech(1000, hearing.end) == 3 * FRAME
    assert hearing.num_speech(1000 + 2 * FRAME, 1000 + 4 * FRAME) == FRAME
    assert hearing.num_speech(hearing.end, hearing.end + FRAME) == 0


def test_positions_stay_when_the_past_is_forgotten() -> None:
    hearing = hearing_of("..###....", first=320)
    before = find(hearing, after=320)
    hearing.forget(320 + FRAME + 5)
    assert hearing.first == 320 + FRAME
    assert find(hearing, after=320) == before
    hearing.forget(0)
    assert hearing.first == 320 + FRAME


def test_a_cut_lies_in_the_longest_pause() -> None:
    hearing = hearing_of("##.###....##..#")
    assert 6 * FRAME <= hearing.quietest(0, hearing.end) <= 10 * FRAME


def test_a_cut_of_unbroken_speech_is_where_it_is_quietest() -> None:
    hearing = hearing_of("####", loudness=[0.5, 0.4, 0.1, 0.3])
    assert hearing.quietest(0, hearing.end) == 2 * FRAME
    assert hearing.quietest(hearing.end, hearing.end) == hearing.end


def test_stretches_of_speech_are_told_within_what_is_asked_for() -> None:
    hearing = hearing_of("..###.##", first=100)
    begin = 100 + 2 * FRAME
    second = begin + 4 * FRAME
    assert hearing.spans(100, hearing.end) == ((begin, begin + 3 * FRAME), (second, second + 2 * FRAME))
    assert hearing.spans(begin + 7, begin + FRAME + 7) == ((begin + 7, begin + FRAME),)
    assert hearing.spans(100, begin) == ()
