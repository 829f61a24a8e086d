"""How many are served at a time, and when the others should come again."""

from __future__ import annotations

import pytest

from engine.server.errors import ApiError
from engine.server.places import Places


def test_one_too_many_is_told_when_a_place_should_be_free() -> None:
    now_s = 0.0
    places = Places(2, clock=lambda: now_s)
    with places.one():
        now_s = 21.0
    with places.one(), places.one(), pytest.raises(ApiError) as refused, places.one():
        pass
    assert (refused.value.status, refused.value.retry_after_s) == (429, 11)
    assert places.num_taken == 0


def test_a_place_is_free_again_whatever_happened_in_it() -> None:
    places = Places(1)
    with pytest.raises(ArithmeticError), places.one():
        raise ArithmeticError
    with places.one():
        assert places.num_taken == 1
