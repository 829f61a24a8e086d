"""Slots that grow: rows keep what they hold, and memory goes back when nobody needs it."""

from __future__ import annotations

import pytest
import torch

from engine.adapters.base import OutOfMemory
from engine.adapters.growing_kv import STEP_TOKENS, USUAL_TOKENS, GrowingKV, RowShape

SHAPE = RowShape(num_layers=2, num_heads=3, head_dim=4, max_tokens=USUAL_TOKENS + 2 * STEP_TOKENS)


@pytest.fixture
def pool() -> GrowingKV:
    return GrowingKV(SHAPE, 3, torch.float32, torch.device("cpu"))


def fill(pool: GrowingKV, row: int, num_tokens: int, value: float) -> None:
    pool.make_room(num_tokens)
    with torch.inference_mode():
        for layer in pool.layers:
            layer.keys[row, :, :num_tokens] = value
            layer.values[row, :, :num_tokens] = -value
    pool.set_length(row, num_tokens)


def test_rows_are_taken_from_the_lowest_free_one(pool: GrowingKV) -> None:
    assert [pool.allocate() for _ in range(3)] == [0, 1, 2]
    with pytest.raises(OutOfMemory):
        pool.allocate()
    pool.free([1])
    assert (pool.num_free, pool.allocate()) == (1, 1)


def test_growing_keeps_what_rows_hold(pool: GrowingKV) -> None:
    first, second = pool.allocate(), pool.allocate()
    fill(pool, first, 10, 1.0)
    fill(pool, second, USUAL_TOKENS + 1, 2.0)
    assert pool.capacity == USUAL_TOKENS + STEP_TOKENS
    for layer in pool.layers:
        assert (layer.keys[first, :, :10] == 1.0).all()
        assert (layer.values[second, :, : USUAL_TOKENS + 1] == -2.0).all()
        assert layer.keys.isfinite().all()
    pool.free([second])
    assert pool.capacity > USUAL_TOKENS, "the other row still runs"
    pool.free([first])
    assert pool.capacity == USUAL_TOKENS


def test_a_row_has_an_end(pool: GrowingKV) -> None:
    pool.make_room(SHAPE.max_tokens)
    with pytest.raises(ValueError, match="at most"):
        pool.make_room(SHAPE.max_tokens + 1)


def test_what_is_copied_out_can_be_copied_behind_other_tokens(pool: GrowingKV) -> None:
    first, second = pool.allocate(), pool.allocate()
    fill(pool, first, 20, 3.0)
    part = pool.copy_out(first, 5, 20)
    assert part.num_tokens == 15
    assert part.num_bytes == 15 * SHAPE.token_bytes(torch.float32)
    fill(pool, second, 7, 9.0)
    pool.copy_in(second, part)
    assert pool.length(second) == 22
    for layer in pool.layers:
        assert (layer.keys[second, :, :7] == 9.0).all()
        assert (layer.keys[second, :, 7:22] == 3.0).all()
        assert (layer.values[second, :, 7:22] == -3.0).all()


def test_fewer_rows_take_less_once_those_in_use_are_free(pool: GrowingKV) -> None:
    row = pool.allocate()
    fill(pool, row, 5, 1.0)
    pool.resize(1)
    assert pool.num_free == 0
    assert (pool.layers[0].keys[row, :, :5] == 1.0).all()
    pool.free([row])
    assert pool.layers[0].keys.shape[0] == 1
    assert pool.allocate() == 0
