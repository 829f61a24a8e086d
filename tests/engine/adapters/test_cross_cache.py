"""Attention to remembered audio: in bytes it is that of floats, rounded, and alike in any company."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.adapters.cross_cache import ByteCross, CrossCache, FloatCross, can_keep_bytes

pytestmark = pytest.mark.skipif(not can_keep_bytes(), reason="this torch sums no rows of bytes")

HEADS, FRAMES, DIM = 2, 90, 16
LENGTHS = (FRAMES, FRAMES, 40)
"""Of the windows, of which one is short."""


class Pair:
    """The same windows in exact floats and in bytes."""

    def __init__(self) -> None:
        self.dice = torch.Generator().manual_seed(7)
        sizes = (len(LENGTHS), HEADS, FRAMES, DIM)
        self.exact = FloatCross(*sizes, torch.float32, torch.device("cpu"))
        self.bytes = ByteCross(*sizes)
        for window, length in enumerate(LENGTHS):
            keys, values = self.random(length), self.random(length)
            # As real ones: a few numbers of keys are large in all frames.
            keys[:, 0, :3] += torch.tensor([20.0, -30.0, 8.0])
            for cache in (self.exact, self.bytes):
                cache.write(window, keys, values)

    def random(self, *size: int) -> Tensor:
        return torch.randn(*size, HEADS, DIM, generator=self.dice)


@pytest.fixture
def pair() -> Pair:
    return Pair()


def attend(cache: CrossCache, q: Tensor, first: int, num_frames: int = FRAMES) -> tuple[Tensor, Tensor]:
    return cache.attend(q, slice(first, first + len(q)), num_frames, num_threads=2)


@pytest.mark.parametrize("num_tokens", [1, 5, 6, 30])
@pytest.mark.parametrize(("first", "num_windows", "num_frames"), [(0, 2, FRAMES), (2, 1, 40)])
def test_bytes_hear_what_floats_hear(
    pair: Pair, num_tokens: int, first: int, num_windows: int, num_frames: int
) -> None:
    q = pair.random(num_windows, num_tokens) / DIM**0.5
    (wanted, wanted_weights), (heard, weights) = (
        attend(cache, q, first, num_frames) for cache in (pair.exact, pair.bytes)
    )
    assert heard.shape == q.shape
    assert weights.shape == (num_windows, num_tokens, HEADS, num_frames)
    torch.testing.assert_close(weights, wanted_weights, atol=0.02, rtol=0)
    torch.testing.assert_close(heard, wanted, atol=0.05, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(num_windows, num_tokens, HEADS))


@pytest.mark.parametrize("num_tokens", [1, 6])
def test_neighbours_and_threads_change_no_bit(pair: Pair, num_tokens: int) -> None:
    q = pair.random(2, num_tokens)
    together = attend(pair.bytes, q, 0)
    for window in range(2):
        for num_threads in (1, 2):
            alone = pair.bytes.attend(
                q[window : window + 1], slice(window, window + 1), FRAMES, num_threads=num_threads
            )
            for ours, theirs in zip(alone, together, strict=True):
                assert torch.equal(ours[0], theirs[window])


@pytest.mark.parametrize("num_tokens", [1, 6])
def test_what_a_window_held_before_is_not_heard(pair: Pair, num_tokens: int) -> None:
    keys, values, q = pair.random(30), pair.random(30), pair.random(1, num_tokens)
    fresh = ByteCross(1, HEADS, FRAMES, DIM)
    for cache in (pair.bytes, fresh):
        cache.write(0, keys, values)
    assert torch.equal(attend(pair.bytes, q, 0, 30)[0], attend(fresh, q, 0, 30)[0])


def test_a_smaller_cache_keeps_its_first_windows(pair: Pair) -> None:
    q = pair.random(1, 1)
    before = attend(pair.bytes, q, 0)
    pair.bytes.shrink(1)
    assert torch.equal(attend(pair.bytes, q, 0)[0], before[0])
