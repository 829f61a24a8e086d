"""Torch's threads are as many as a piece of work asks for, and afterwards as many as before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from engine.adapters.crew import SHARED_BYTES, SHARED_TEXT_BYTES, share_weight, use_threads


@pytest.fixture(autouse=True)
def _three_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


def test_inside_there_are_as_many_as_asked_for_even_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), use_threads(1):
        assert torch.get_num_threads() == 1
        with use_threads(2):
            assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == 1
        raise ZeroDivisionError
    assert torch.get_num_threads() == 3


def test_who_asks_for_nothing_gets_what_there_is() -> None:
    with use_threads(None):
        assert torch.get_num_threads() == 3


def test_only_a_large_weight_is_shared() -> None:
    assert share_weight(SHARED_BYTES, 8) == 8
    assert share_weight(SHARED_BYTES - 1, 8) == 1


def test_only_keys_of_several_rows_are_shared() -> None:
    assert share_weight(SHARED_TEXT_BYTES, 8, SHARED_TEXT_BYTES) == 8
    assert share_weight(SHARED_TEXT_BYTES - 1, 8, SHARED_TEXT_BYTES) == 1
