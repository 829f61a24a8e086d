"""Choosing the next token of each row: the likeliest, or drawn by a row's own dice."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Dice:
    """The chances of one attempt: the same for the same audio and temperature, whoever shares the batch."""

    temperature: float
    random: random.Random = field(compare=False)


def new_dice(content: bytes, temperature: float) -> Dice:
    """Return dice seeded by the chunk's content and the temperature."""
    return Dice(temperature, random.Random(content + repr(temperature).encode()))


def choose(logits: Tensor, dice: Sequence[Dice]) -> tuple[list[int], list[float]]:
    """Return the next id of each row of `logits`, (rows, vocabulary), and its log-probability.

    Log-probabilities are those at temperature 1, so that attempts can be compared.
    """
    ids = logits.argmax(dim=-1)
    for index, row in enumerate(dice):
        if row.temperature > 0:
            ids[index] = _draw(logits[index], row)
    chosen = logits.gather(1, ids[:, None])[:, 0] - torch.logsumexp(logits, dim=-1)
    return ids.tolist(), chosen.tolist()


def _draw(logits: Tensor, dice: Dice) -> int:
    """Draw by one number from the dice along the summed probabilities. (float64: 50 000 terms)"""
    sums = torch.softmax(logits.double() / dice.temperature, dim=-1).cumsum(dim=-1)
    drawn = int(torch.searchsorted(sums, dice.random.random() * sums[-1], right=True))
    # Rounding may put the number at the very end, behind the last id that has a probability.
    return drawn if drawn < len(sums) and logits[drawn] > float("-inf") else int(logits.argmax())
