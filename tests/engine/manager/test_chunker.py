"""Chunks cover all speech, fit the model, follow one another, and overlap only where speech was cut."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.manager.chunker import Chunker, ChunkRange
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.protocol.transcript import VadSettings

MAX_S = 8.0
MAX_SAMPLES = int(MAX_S * 16_000)
SECOND = 16_000


def frames_of(*stretches: tuple[bool, float], loudness: float = 0.1) -> Frames:
    """Return frames for stretches of (has speech, seconds); silence is quiet."""
    has_speech = np.concatenate([np.full(round(s * 31.25), speech) for speech, s in stretches])
    return Frames(has_speech, np.where(has_speech, loudness, 0.0005).astype(np.float32))


def cut(
    frames: Frames,
    *,
    step: int = 16,
    max_s: float = MAX_S,
    num_samples: int | None = None,
    opening_s: float | None = None,
) -> list[ChunkRange]:
    chunker = Chunker(max_s, opening_s=opening_s)
    ranges = []
    for start in range(0, len(frames), step):
        part = slice(start, start + step)
        ranges += chunker.feed(Frames(frames.has_speech[part], frames.loudness[part]))
    return ranges + chunker.finish(len(frames) * FRAME_SAMPLES if num_samples is None else num_samples)


stretches = st.lists(st.tuples(st.booleans(), st.integers(1, 700)), min_size=1, max_size=20)


def spoken(lengths: list[tuple[bool, int]], seed: int) -> Frames:
    has_speech = np.concatenate([np.full(length, speech) for speech, length in lengths])
    noise = np.random.default_rng(seed).random(len(has_speech))
    return Frames(has_speech, np.where(has_speech, 0.02 + 0.2 * noise, 0.001).astype(np.float32))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    lengths=stretches,
    seed=st.integers(0, 5),
    max_s=st.sampled_from([2.0, 8.0, 30.0]),
    opening_s=st.sampled_from([None, 1.0, 10.0]),
)
def test_all_speech_is_covered_in_order_and_fits(
    lengths: list[tuple[bool, int]], seed: int, max_s: float, opening_s: float | None
) -> None:
    frames = spoken(lengths, seed)
    total = len(frames) * FRAME_SAMPLES - 100
    ranges = cut(frames, max_s=max_s, num_samples=total, opening_s=opening_s)
    covered = np.zeros(len(frames), np.bool_)
    for found in ranges:
        assert 0 <= found.start < found.end <= total
        assert found.end - found.start <= max_s * SECOND
        covered[found.start // FRAME_SAMPLES : -(-found.end // FRAME_SAMPLES)] = True
    lost = frames.has_speech & ~covered
    runs = np.flatnonzero(np.diff(lost, prepend=False, append=False)).reshape(-1, 2)
    assert all(end - begin < 7 for begin, end in runs), "only clicks shorter than a word may be left out"
    for one, other in pairwise(ranges):
        assert other.start == one.end - other.overlap if other.overlap else other.start >= one.end
        assert one.next_overlap == other.overlap


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    lengths=stretches,
    seed=st.integers(0, 5),
    step=st.integers(1, 400),
    opening_s=st.sampled_from([None, 3.0]),
)
def test_the_size_of_the_pieces_it_is_fed_changes_nothing(
    lengths: list[tuple[bool, int]], seed: int, step: int, opening_s: float | None
) -> None:
    frames = spoken(lengths, seed)
    at_once = cut(frames, step=len(frames), opening_s=opening_s)
    assert cut(frames, step=step, opening_s=opening_s) == at_once


@settings(max_examples=60, deadline=None, derandomize=True)
@given(lengths=stretches, seed=st.integers(0, 5))
def test_nothing_begins_before_what_was_promised(lengths: list[tuple[bool, int]], seed: int) -> None:
    frames = spoken(lengths, seed)
    chunker = Chunker(MAX_S)
    promised = 0
    for start in range(0, len(frames), 15):
        part = slice(start, start + 15)
        for found in chunker.feed(Frames(frames.has_speech[part], frames.loudness[part])):
            assert found.start >= promised
        assert chunker.nothing_until >= promised
        promised = chunker.nothing_until
    assert all(found.start >= promised for found in chunker.finish(len(frames) * FRAME_SAMPLES))


def test_an_opening_is_short_and_what_follows_is_not() -> None:
    frames = frames_of(*[(speech, 0.5 if not speech else 1.5) for _ in range(20) for speech in (True, False)])
    first, second, *_ = cut(frames, opening_s=3.0)
    assert SECOND < first.end - first.start <= 3 * SECOND
    assert second.overlap == 0
    assert second.end - second.start > MAX_SAMPLES // 2


def test_a_click_is_no_opening() -> None:
    speech = [(speech, 0.5 if not speech else 1.5) for _ in range(20) for speech in (True, False)]
    first, *_ = cut(frames_of((True, 0.13), (False, 9.0), *speech), opening_s=3.0)
    assert first.end - first.start <= 3 * SECOND


def test_an_opening_in_which_nobody_pauses_is_as_long_as_any() -> None:
    frames = frames_of((True, 5.0), (False, 0.5), (True, 20.0))
    first, *_ = cut(frames, opening_s=3.0)
    assert (first.start, first.next_overlap) == (0, 0)
    assert 5 * SECOND <= first.end <= 6 * SECOND


def test_silence_has_no_chunks() -> None:
    assert cut(frames_of((False, 60.0))) == []
    assert Chunker(MAX_S).finish(0) == []


def test_a_click_is_not_a_chunk_and_a_short_word_is() -> None:
    assert cut(frames_of((False, 3.0), (True, 0.13), (False, 3.0))) == []
    assert len(cut(frames_of((False, 3.0), (True, 0.3), (False, 3.0)))) == 1


def test_speech_keeps_a_little_silence_around_it() -> None:
    (found,) = cut(frames_of((False, 3.0), (True, 2.0), (False, 8.0)))
    assert abs(found.start / SECOND - 2.6) < 0.06
    assert abs(found.end / SECOND - 5.4) < 0.06


def test_short_pauses_stay_within_a_chunk_and_long_ones_end_it() -> None:
    assert len(cut(frames_of((True, 2.0), (False, 3.0), (True, 2.0)))) == 1
    assert len(cut(frames_of((True, 1.0), (False, 6.5), (True, 0.4)), max_s=30.0)) == 2


def test_of_two_gaps_the_long_one_is_cut_when_both_make_nearly_full_chunks() -> None:
    frames = frames_of((True, 6.0), (False, 0.6), (True, 0.8), (False, 0.1), (True, 5.0))
    first, *_ = cut(frames)
    assert 6.0 < first.end / SECOND < 6.6


def test_a_full_chunk_is_preferred_to_a_slightly_longer_gap() -> None:
    frames = frames_of((True, 2.0), (False, 0.5), (True, 5.0), (False, 0.3), (True, 5.0))
    first, *_ = cut(frames)
    assert first.end / SECOND > 7.4


def test_endless_speech_is_cut_at_its_quietest_point_with_an_overlap() -> None:
    frames = frames_of((True, 12.0))
    frames.loudness[190:196] = 0.02
    first, second = cut(frames)
    assert first.next_overlap == second.overlap > SECOND
    middle = (second.start + first.end) / 2
    assert abs(middle / SECOND - 193 * 0.032) < 0.15
    assert first.speech + second.speech == int(frames.has_speech.sum()) * FRAME_SAMPLES


def test_without_a_vad_true_silence_is_cut_without_an_overlap() -> None:
    frames = frames_of((True, 14.0))
    frames.loudness[190:205] = 0.00001
    first, second = cut(frames)
    assert first.next_overlap == second.overlap == 0
    assert first.end == second.start


def test_a_chunk_comes_as_soon_as_it_is_certain() -> None:
    chunker = Chunker(MAX_S)
    assert chunker.feed(frames_of((True, 4.0), (False, 0.5), (True, 3.0))) == []
    assert len(chunker.feed(frames_of((True, 1.0)))) == 1


def test_a_chunk_says_where_its_speech_is() -> None:
    frames = frames_of((False, 1.0), (True, 2.0), (False, 0.5), (True, 1.0), (False, 9.0))
    (found,) = cut(frames)
    seconds = [(begin / SECOND, end / SECOND) for begin, end in found.spans]
    assert seconds == [pytest.approx((1.0, 3.0), abs=0.05), pytest.approx((3.5, 4.5), abs=0.05)]
    assert sum(end - begin for begin, end in found.spans) == found.speech
    last = cut(frames_of((True, 2.0)), num_samples=SECOND)[-1]
    assert last.spans == ((0, SECOND),)


def test_a_longer_pause_can_be_asked_for_before_a_cut() -> None:
    frames = frames_of((True, 3.0), (False, 0.3), (True, 3.0), (False, 1.2), (True, 3.0))
    with_short, with_long = (Chunker(MAX_S, VadSettings(silence_s=silence_s)) for silence_s in (0.064, 1.0))
    ends = [
        (chunker.feed(frames) + chunker.finish(len(frames) * FRAME_SAMPLES))[0].end / SECOND
        for chunker in (with_short, with_long)
    ]
    assert ends[0] >= 6.3, "the later of two gaps"
    assert 6.3 < ends[1] < 7.5


def test_padding_is_kept_around_speech_as_asked() -> None:
    frames = frames_of((False, 2.0), (True, 2.0), (False, 2.0))
    for padding_s in (0.0, 0.4, 1.0):
        chunker = Chunker(MAX_S, VadSettings(padding_s=padding_s))
        (found,) = chunker.feed(frames) + chunker.finish(len(frames) * FRAME_SAMPLES)
        assert abs(found.start / SECOND - (2.0 - padding_s)) < 0.07
        assert abs(found.end / SECOND - (4.0 + padding_s)) < 0.07


def test_speech_that_never_pauses_can_be_cut_without_an_overlap() -> None:
    frames = spoken([(True, 700)], seed=1)
    chunker = Chunker(MAX_S, overlaps=False)
    ranges = chunker.feed(frames) + chunker.finish(len(frames) * FRAME_SAMPLES)
    assert [one.overlap for one in ranges] == [one.next_overlap for one in ranges] == [0] * len(ranges)
    assert [one.end for one in ranges[:-1]] == [one.start for one in ranges[1:]]
