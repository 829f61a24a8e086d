"""Slots of the decoder come and go one by one, and the pool can shrink while rows run."""

from __future__ import annotations

import pytest
import torch

from engine.adapters.base import OutOfMemory
from engine.adapters.kv import KVCache, SlotShape
from engine.adapters.runtime import Formats

SHAPE = SlotShape(num_layers=2, num_heads=2, head_dim=4, max_tokens=8, num_frames=6)
FLOAT32 = Formats("float32", text=torch.float32, audio=torch.float32, encoder=torch.float32)


@pytest.fixture
def cache() -> KVCache:
    return KVCache(SHAPE, 4, FLOAT32, torch.device("cpu"))


def fill(cache: KVCache, row: int, value: float, length: int) -> None:
    for layer in cache.layers:
        for tensor in (layer.self_keys, layer.self_values, layer.cross_keys, layer.cross_values):
            tensor[row] = value
    cache.set_length(row, length)


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


def test_beams_can_change_places(cache: KVCache) -> None:
    rows = cache.allocate(2)
    fill(cache, rows[0], 1.0, length=3)
    fill(cache, rows[1], 2.0, length=5)
    cache.copy_rows(rows, rows[::-1], with_audio=False)
    assert [cache.length(row) for row in rows] == [5, 3]
    for layer in cache.layers:
        assert bool((layer.self_keys[rows[0], :, :5] == 2.0).all())
        assert bool((layer.self_values[rows[1], :, :3] == 1.0).all())
        assert bool((layer.cross_keys[rows[0]] == 1.0).all())


def test_a_new_beam_hears_what_its_source_heard(cache: KVCache) -> None:
    source, target = cache.allocate(2)
    fill(cache, source, 7.0, length=2)
    cache.copy_rows([source], [target], with_audio=True)
    assert all(bool((layer.cross_values[target] == 7.0).all()) for layer in cache.layers)
    assert cache.length(target) == 2


def test_a_smaller_pool_keeps_its_running_rows_and_gives_memory_back_when_they_leave(cache: KVCache) -> None:
    rows = cache.allocate(4)
    fill(cache, 3, 3.0, length=4)
    cache.free([0, 1, 2])
    cache.resize(1)
    assert (cache.num_slots, cache.num_free) == (1, 0)
    assert bool((cache.layers[1].cross_keys[3] == 3.0).all())
    cache.free(rows[3:])
    assert cache.num_free == 1
    assert cache.layers[0].cross_keys.shape[0] == 1
    assert cache.layers[0].cross_keys.untyped_storage().nbytes() == 2 * 6 * 4 * 4
