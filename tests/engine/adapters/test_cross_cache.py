"""Attention to remembered audio: in bytes it is that of floats, rounded, and alike in any company."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from engine.adapters.cross_cache import (
    BYTES,
    FEW_TOKENS,
    ByteCross,
    CrossCache,
    FloatCross,
    WindowShape,
    can_keep_bytes,
    make_cross_cache,
)
from engine.adapters.whisper.adapter import NUM_BEAMS

needs_bytes = pytest.mark.skipif(not can_keep_bytes(), reason="this torch sums no rows of bytes")

CPU = torch.device("cpu")
BASE = WindowShape(num_heads=8, num_frames=1500, head_dim=64)
SHORT = 500
LENGTHS = (BASE.num_frames, BASE.num_frames, BASE.num_frames, SHORT)
"""Of the windows."""
FEW, MANY = FEW_TOKENS, FEW_TOKENS + 1


class Sound:
    """Windows as a network makes them, and who remembers them."""

    def __init__(self) -> None:
        self._dice = torch.Generator().manual_seed(7)
        self.windows = [(self.keys(length), self.random(length)) for length in LENGTHS]
        self.exact = self.remembered_by(FloatCross(BASE, len(LENGTHS), torch.float32, CPU))

    def remembered_by(self, cache: CrossCache) -> CrossCache:
        for window, (keys, values) in enumerate(self.windows):
            cache.write(window, keys.permute(1, 2, 0), values)
        return cache

    def keys(self, num_frames: int) -> Tensor:
        """Return keys of which some channels are large in all frames, as real ones are."""
        keys = self.random(num_frames)
        keys[:, :, :3] += torch.tensor([20.0, -30.0, 8.0])
        return keys

    def queries(self, num_windows: int, num_tokens: int) -> Tensor:
        return self.random(num_windows, num_tokens) / BASE.head_dim**0.5

    def random(self, *size: int) -> Tensor:
        return torch.randn(*size, BASE.num_heads, BASE.head_dim, generator=self._dice)


@pytest.fixture
def sound() -> Sound:
    return Sound()


@pytest.fixture
def in_bytes(sound: Sound) -> CrossCache:
    return sound.remembered_by(ByteCross(BASE, len(LENGTHS)))


def attend(
    cache: CrossCache, q: Tensor, first: int, num_frames: int = BASE.num_frames, num_threads: int = 2
) -> tuple[Tensor, Tensor]:
    return cache.attend(q, tuple(range(first, first + len(q))), num_frames, num_threads)


@needs_bytes
@pytest.mark.parametrize("num_tokens", [1, FEW, MANY, 40])
@pytest.mark.parametrize(
    ("first", "num_windows", "num_frames"), [(0, 1, BASE.num_frames), (0, 3, BASE.num_frames), (3, 1, SHORT)]
)
def test_bytes_hear_what_floats_hear(
    sound: Sound, in_bytes: CrossCache, num_tokens: int, first: int, num_windows: int, num_frames: int
) -> None:
    q = sound.queries(num_windows, num_tokens)
    wanted, wanted_weights = attend(sound.exact, q, first, num_frames)
    heard, weights = attend(in_bytes, q, first, num_frames)
    assert heard.shape == q.shape
    assert weights.shape == (num_windows, num_tokens, BASE.num_heads, num_frames)
    torch.testing.assert_close(weights, wanted_weights, atol=2e-4, rtol=0.05)
    torch.testing.assert_close(heard, wanted, atol=5e-3, rtol=0)
    torch.testing.assert_close(weights.sum(-1), torch.ones(num_windows, num_tokens, BASE.num_heads))


@needs_bytes
@pytest.mark.parametrize("num_tokens", [1, FEW, MANY])
def test_neighbours_and_threads_change_no_bit(sound: Sound, in_bytes: CrossCache, num_tokens: int) -> None:
    q = sound.queries(3, num_tokens)
    together = attend(in_bytes, q, 0)
    for window in range(3):
        for num_threads in (1, 2):
            alone = attend(in_bytes, q[window : window + 1], window, num_threads=num_threads)
            for ours, theirs in zip(alone, together, strict=True):
                assert torch.equal(ours[0], theirs[window])


@needs_bytes
def test_beams_of_one_window_hear_what_each_hears_alone(sound: Sound, in_bytes: CrossCache) -> None:
    assert FEW >= NUM_BEAMS
    for first, num_frames in ((0, BASE.num_frames), (3, SHORT)):
        q = sound.queries(1, FEW)
        heard, _ = attend(in_bytes, q, first, num_frames)
        for beam in range(FEW):
            alone, _ = attend(in_bytes, q[:, beam : beam + 1], first, num_frames)
            assert torch.equal(alone[:, 0], heard[:, beam])


@needs_bytes
@pytest.mark.parametrize("num_tokens", [1, MANY])
def test_what_a_window_held_before_is_not_heard(sound: Sound, in_bytes: CrossCache, num_tokens: int) -> None:
    fresh = ByteCross(BASE, 2)
    q = sound.queries(2, num_tokens)
    for window, (keys, values) in enumerate([sound.windows[3], sound.windows[3]]):
        for cache in (in_bytes, fresh):
            cache.write(window, keys.permute(1, 2, 0), values)
    for ours, theirs in zip(attend(in_bytes, q, 0, SHORT), attend(fresh, q, 0, SHORT), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("dtype", [torch.float32, pytest.param(BYTES, marks=needs_bytes)])
def test_a_smaller_cache_keeps_its_first_windows(sound: Sound, dtype: torch.dtype) -> None:
    cache = sound.remembered_by(make_cross_cache(BASE, len(LENGTHS), dtype, CPU))
    q = sound.queries(1, 1)
    before, _ = attend(cache, q, 0)
    cache.shrink(1)
    assert torch.equal(attend(cache, q, 0)[0], before)


def test_bytes_take_little_more_than_half_of_half_precision() -> None:
    assert BASE.num_bytes(torch.bfloat16) == 2 * 1500 * 512 * 2
    assert BASE.num_bytes(BYTES) == 512 * (1500 + 8) + 8 * 1500 * (64 + 8)
