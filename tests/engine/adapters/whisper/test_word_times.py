"""Attention becomes times: the path is the cheapest one, and a clear attention is followed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from engine.adapters.whisper.word_times import FRAME_S, ONSET_S, begin_with_sound, first_frames, token_times


def cheapest_path(costs: np.ndarray) -> float:
    """The textbook's dynamic time warping."""
    total = np.full((costs.shape[0] + 1, costs.shape[1] + 1), np.inf)
    total[0, 0] = 0
    for i, j in np.ndindex(*costs.shape):
        total[i + 1, j + 1] = costs[i, j] + min(total[i, j], total[i, j + 1], total[i + 1, j])
    return float(total[-1, -1])


def path_cost(costs: np.ndarray, entries: np.ndarray) -> float:
    """Cost of the path that enters each token at its frame, and stays until the next is entered."""
    total, last = 0.0, 0
    for token, entry in enumerate(entries):
        stop = entries[token + 1] if token + 1 < len(entries) else costs.shape[1] - 1
        # Moving on along the diagonal leaves the token a frame before the next is entered.
        straight = costs[token, entry : max(entry, stop - 1) + 1].sum()
        late = costs[token, entry : stop + 1].sum()
        total += late if token + 1 == len(entries) else min(straight, late)
        last = stop
    assert last == costs.shape[1] - 1
    return float(total)


def test_the_path_is_as_cheap_as_the_textbook_says() -> None:
    random = np.random.default_rng(7)
    for _ in range(50):
        costs = random.normal(size=(random.integers(1, 12), random.integers(1, 40)))
        entries = first_frames(costs)
        assert np.isclose(path_cost(costs, entries), cheapest_path(costs))
        assert (np.diff(entries) >= 0).all()


def diagonal_attention(num_tokens: int, frames_each: int) -> torch.Tensor:
    """Two heads that look at each token's own frames."""
    attention = torch.full((num_tokens, 2, num_tokens * frames_each), 0.001)
    for token in range(num_tokens):
        attention[token, :, token * frames_each : (token + 1) * frames_each] = 0.1
    return attention


def test_clear_attention_is_followed() -> None:
    times = token_times(diagonal_attention(6, 20), 120)
    assert len(times) == 5
    for index, (start_s, end_s) in enumerate(times):
        assert abs(start_s - index * 20 * FRAME_S) <= 2 * FRAME_S
        assert abs(end_s - (index + 1) * 20 * FRAME_S) <= 2 * FRAME_S


def test_times_never_go_back_and_stay_inside_the_audio() -> None:
    attention = torch.rand(40, 3, 1500, generator=torch.Generator().manual_seed(3))
    times = [moment for span in token_times(attention, 200) for moment in span]
    assert times == sorted(times)
    assert times[-1] <= 200 * FRAME_S


def test_nothing_said_has_no_times() -> None:
    assert token_times(torch.rand(1, 3, 1500), 200) == ()


def heard(*pieces: tuple[float, float]) -> np.ndarray:
    """Noise of some seconds and loudness each, one after the other."""
    random = np.random.default_rng(3)
    parts = [random.normal(size=round(seconds * 16_000)) * loudness for seconds, loudness in pieces]
    return np.concatenate(parts).astype(np.float32)


def test_a_pause_without_a_mark_is_not_part_of_the_word_behind_it() -> None:
    """As in "my fellow Americans ask": the path gives "ask" the second before it, too."""
    samples = heard((0.54, 0.1), (1.06, 0.003), (0.4, 0.1))
    times = begin_with_sound([(0.0, 0.5), (0.5, 2.0)], samples)
    assert times[0] == (0.0, 0.5)
    assert times[1] == (pytest.approx(1.6 - ONSET_S, abs=FRAME_S), 2.0)


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param(((0.2, 0.003), (1.0, 0.1)), id="a short silence, as in the middle of a word"),
        pytest.param(((1.0, 0.02), (0.2, 0.1)), id="a recording that is never quiet"),
        pytest.param(((1.2, 0.1),), id="a long word"),
        pytest.param(((1.2, 0.0),), id="nothing at all"),
        pytest.param(((0.0, 0.0),), id="no samples"),
        pytest.param(((0.7, 0.1), (0.4, 0.003), (0.1, 0.1)), id="a word, a pause, some of the next"),
        pytest.param(((0.5, 0.1), (0.7, 0.003)), id="a pause behind the word"),
    ],
)
def test_what_may_be_sound_stays_part_of_the_word(pieces: tuple[tuple[float, float], ...]) -> None:
    assert begin_with_sound([(0.0, 1.2)], heard(*pieces)) == ((0.0, 1.2),)
