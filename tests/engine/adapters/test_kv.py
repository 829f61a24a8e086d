"""Slots of the decoder come and go one by one, and the pool can shrink while rows run."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.adapters.cross_cache import BYTES, ByteCross, can_keep_bytes
from engine.adapters.kv import KVCache, LayerCache, Move, SlotShape
from engine.adapters.runtime import choose_runtime

SHAPE = SlotShape(num_layers=2, num_heads=2, head_dim=4, max_tokens=8, num_frames=6)
FLOAT32 = choose_runtime(RuntimeOptions(device="cpu", dtype="float32")).formats
needs_bytes = pytest.mark.skipif(not can_keep_bytes(), reason="this torch sums no rows of bytes")


@pytest.fixture(params=[torch.float32, pytest.param(BYTES, marks=needs_bytes)])
def cache(request: pytest.FixtureRequest) -> KVCache:
    return KVCache(SHAPE, 4, replace(FLOAT32, cross=request.param), torch.device("cpu"))


def fill(cache: KVCache, row: int, value: float, length: int) -> None:
    for layer in cache.layers:
        for tensor in (layer.self_keys, layer.self_values):
            tensor[row] = value
        heard = torch.full((SHAPE.num_frames, SHAPE.num_heads, SHAPE.head_dim), value)
        layer.cross.write(row, heard.permute(1, 2, 0), heard)
    cache.set_length(row, length)


def hears(layer: LayerCache, window: int) -> float:
    """Return what `fill` wrote to a window, wherever in it one listens."""
    q = torch.ones(1, 1, SHAPE.num_heads, SHAPE.head_dim)
    heard, _ = layer.cross.attend(q, (window,), SHAPE.num_frames, num_threads=1)
    assert heard.max() - heard.min() < 1e-3
    return round(heard.mean().item(), 3)


def test_the_lowest_free_rows_are_taken_first(cache: KVCache) -> None:
    assert cache.allocate(3) == [0, 1, 2]
    cache.free([1])
    assert cache.allocate(2) == [1, 3]
    assert cache.num_free == 0


def test_more_rows_than_are_free_are_out_of_memory_and_take_nothing(cache: KVCache) -> None:
    cache.allocate(3)
    with pytest.raises(OutOfMemory):
        cache.allocate(2)
    assert cache.num_free == 1


def test_a_freed_row_comes_back_empty(cache: KVCache) -> None:
    [row] = cache.allocate(1)
    cache.set_length(row, 5)
    cache.free([row])
    assert cache.allocate(1) == [row]
    assert cache.length(row) == 0


def test_a_beam_takes_over_the_text_of_another_from_where_they_part(cache: KVCache) -> None:
    first, second = cache.allocate(2)
    fill(cache, first, 1.0, length=3)
    fill(cache, second, 2.0, length=5)
    cache.copy_text([Move(source=second, target=first, num_common=2)])
    assert [cache.length(row) for row in (first, second)] == [5, 5]
    for layer in cache.layers:
        assert layer.self_keys[first, 0, :, 0].tolist() == [1.0, 1.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0]
        assert layer.self_values[first, 1, :6, 0].tolist() == [1.0, 1.0, 2.0, 2.0, 2.0, 1.0]
        assert hears(layer, first) == 1.0


def test_texts_copied_at_once_are_those_copied_one_by_one(cache: KVCache) -> None:
    moves = [Move(source=0, target=2, num_common=1), Move(source=1, target=3)]
    cache.allocate(4)
    for row, length in enumerate((5, 3, 4, 0)):
        fill(cache, row, row + 1.0, length)
        for layer in cache.layers:
            layer.self_keys[row, :, :1] = layer.self_values[row, :, :1] = 1.0
    texts = [text for layer in cache.layers for text in (layer.self_keys, layer.self_values)]
    before = [text.clone() for text in texts]
    cache.copy_one_by_one(moves)
    wanted = [(text[2, :, :5].clone(), text[3, :, :3].clone()) for text in texts]
    for text, old in zip(texts, before, strict=True):
        text.copy_(old)
    cache.copy_at_once(moves)
    for text, (second, third), old in zip(texts, wanted, before, strict=True):
        assert torch.equal(text[2, :, :5], second)
        assert torch.equal(text[3, :, :3], third)
        assert torch.equal(text[:2], old[:2])


def test_rows_beside_another_hear_its_window_and_take_no_other(cache: KVCache) -> None:
    [first] = cache.allocate(1)
    beside = cache.allocate_beside(first, 2)
    assert beside == [1, 2]
    assert {cache.window(row) for row in (first, *beside)} == {0}
    [other] = cache.allocate(1)
    assert (other, cache.window(other)) == (3, 1)
    cache.free([first, 2])
    assert (cache.allocate(1), cache.num_free) == ([0], 1)
    assert cache.window(0) == 2, "the first window is still heard"


def test_a_smaller_pool_keeps_its_running_rows_and_gives_memory_back_when_they_leave(cache: KVCache) -> None:
    rows = cache.allocate(4)
    fill(cache, 3, 3.0, length=4)
    cache.free([0, 1, 2])
    cache.resize(1)
    assert (cache.num_slots, cache.num_free) == (1, 0)
    assert hears(cache.layers[1], 3) == 3.0
    cache.free(rows[3:])
    assert cache.num_free == 1
    text, cross = cache.layers[0].self_keys, cache.layers[0].cross
    assert text.untyped_storage().nbytes() == (1 + 1) * 2 * 8 * 4 * 4, "one row, and the spare one"
    held = [value for value in vars(cross).values() if isinstance(value, torch.Tensor)]
    dtype = BYTES if isinstance(cross, ByteCross) else torch.float32
    assert sum(tensor.untyped_storage().nbytes() for tensor in held) == SHAPE.window.num_bytes(dtype)
    assert hears(cache.layers[0], 0) == 0.0
    with pytest.raises(IndexError):
        cache.layers[0].cross.write(1, torch.ones(2, 4, 6), torch.ones(6, 2, 4))
