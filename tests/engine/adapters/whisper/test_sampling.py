"""Chance that is no accident: the same audio at the same temperature says the same."""

from __future__ import annotations

import math

import pytest
import torch

from engine.adapters.whisper.sampling import choose, likeliest, new_dice


def test_at_temperature_zero_the_likeliest_is_chosen() -> None:
    logits = torch.tensor([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]])
    ids, logprobs = choose(logits, [new_dice(b"a", 0.0), new_dice(b"b", 0.0)])
    assert ids == [1, 0]
    assert math.isclose(logprobs[0], 2 - math.log(1 + math.e + math.e**2), rel_tol=1e-5)


def test_draws_depend_on_audio_and_temperature_and_not_on_the_batch() -> None:
    logits = torch.zeros(1, 1000)

    def draws(content: bytes, temperature: float, rows: int) -> list[int]:
        dice = [new_dice(content, temperature), *(new_dice(b"other", 0.8) for _ in range(rows - 1))]
        return [choose(logits.repeat(rows, 1), dice)[0][0] for _ in range(5)]

    assert draws(b"a", 0.4, 1) == draws(b"a", 0.4, 3)
    assert draws(b"a", 0.4, 1) != draws(b"b", 0.4, 1)
    assert draws(b"a", 0.4, 1) != draws(b"a", 0.6, 1)


def test_the_forbidden_is_never_drawn() -> None:
    logits = torch.full((1, 100), float("-inf"))
    logits[0, 40] = 0.0
    logits[0, 60] = 0.0
    dice = new_dice(b"a", 1.0)
    assert {choose(logits, [dice])[0][0] for _ in range(50)} == {40, 60}


def test_low_temperatures_prefer_the_likely() -> None:
    logits = torch.tensor([[0.0, 1.0]])
    cold, warm = new_dice(b"a", 0.2), new_dice(b"a", 1.0)
    num_cold = sum(choose(logits, [cold])[0][0] for _ in range(200))
    num_warm = sum(choose(logits, [warm])[0][0] for _ in range(200))
    assert num_cold > 190
    assert 120 < num_warm < 175


@pytest.mark.parametrize("num_ids", [100, 51_840, 51_864, 51_865, 51_866])
def test_the_likeliest_is_the_first_largest_in_any_vocabulary(num_ids: int) -> None:
    torch.manual_seed(num_ids)
    logits = torch.randn(6, num_ids)
    logits[1] = float("-inf")
    logits[1, -1] = 0.0
    logits[2, [3, 70, num_ids - 1]] = 9.0
    logits[3, num_ids - 2 :] = 9.0
    assert torch.equal(likeliest(logits), logits.argmax(-1))
