"""Choosing the next token of each row: the likeliest, drawn by a row's own dice, or several for beams."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor

from engine.adapters.whisper.beam import Choice

_BLOCK_IDS: Final = 128


@dataclass(frozen=True, slots=True)
class Dice:
    """The chances of one attempt: the same for the same audio and temperature, whoever shares the batch."""

    temperature: float
    random: random.Random = field(compare=False)


def new_dice(content: bytes, temperature: float) -> Dice:
    """Return dice seeded by the chunk's content and the temperature."""
    return Dice(temperature, random.Random(content + repr(temperature).encode()))


def pick(logits: Tensor, ways: Sequence[Dice | int]) -> list[list[Choice]]:
    """Return what each row of `logits`, (rows, vocabulary), may say next, likeliest first.

    Of its `ways`, dice give one id, and a number so many of the likeliest.
    """
    alone = [(index, way) for index, way in enumerate(ways) if isinstance(way, Dice)]
    beams = [(index, way) for index, way in enumerate(ways) if isinstance(way, int)]
    picked: list[list[Choice]] = [[] for _ in ways]
    if alone:
        ids, logprobs = choose(_rows_of(logits, alone), [way for _, way in alone])
        for (index, _), id_, logprob in zip(alone, ids, logprobs, strict=True):
            picked[index] = [Choice(id_, logprob)]
    if beams:
        ranked = rank(_rows_of(logits, beams), max(way for _, way in beams))
        for (index, way), choices in zip(beams, ranked, strict=True):
            picked[index] = choices[:way]
    return picked


def _rows_of(logits: Tensor, places: Sequence[tuple[int, Dice | int]]) -> Tensor:
    """Return those rows; all of them without a copy."""
    return logits if len(places) == len(logits) else logits[[index for index, _ in places]]


def choose(logits: Tensor, dice: Sequence[Dice]) -> tuple[list[int], list[float]]:
    """Return the next id of each row of `logits`, (rows, vocabulary), and its log-probability.

    Log-probabilities are those at temperature 1, so that attempts can be compared.
    """
    ids = likeliest(logits)
    for index, row in enumerate(dice):
        if row.temperature > 0:
            ids[index] = _draw(logits[index], row)
    logprobs = _logprobs(logits, ids[:, None])
    return ids.tolist(), logprobs[:, 0].tolist()


def rank(logits: Tensor, num_choices: int) -> list[list[Choice]]:
    """Return the likeliest ids of each row of `logits`, (rows, vocabulary), likeliest first."""
    ids = likeliest_few(logits, num_choices)
    logprobs = _logprobs(logits, ids)
    return [
        [Choice(*pair) for pair in zip(*of_row, strict=True)]
        for of_row in zip(ids.tolist(), logprobs.tolist(), strict=True)
    ]


def _logprobs(logits: Tensor, ids: Tensor) -> Tensor:
    """Return the log-probabilities, (rows, chosen), of `ids`; `logits` are used up.

    Not by a sum of our own: of a single row several threads would sum a part each, and of many rows
    each thread whole ones, which is not the same to the last bit.
    """
    return torch.log_softmax(logits, dim=-1, out=logits).gather(1, ids)


def likeliest(logits: Tensor) -> Tensor:
    """Return the first largest place of each row, (rows,).

    As `argmax`, in a fifth of the time: on a CPU that looks at one value after the other, while a
    maximum alone is found many values at a time. So the block that has it is found first.
    """
    num_rows, num_ids = logits.shape
    num_blocks = num_ids // _BLOCK_IDS
    if logits.device.type != "cpu" or num_blocks < _BLOCK_IDS:
        return logits.argmax(dim=-1)
    whole = logits[:, : num_blocks * _BLOCK_IDS].view(num_rows, num_blocks, _BLOCK_IDS)
    rest = logits[:, num_blocks * _BLOCK_IDS :]
    largest, block = whole.amax(dim=-1).max(dim=-1)
    place: Tensor = block * _BLOCK_IDS + whole[torch.arange(num_rows), block].argmax(dim=-1)
    if not rest.shape[1]:
        return place
    rest_largest, rest_place = rest.max(dim=-1)
    return torch.where(rest_largest > largest, num_blocks * _BLOCK_IDS + rest_place, place)


def likeliest_few(logits: Tensor, num_ids: int) -> Tensor:
    """Return the first `num_ids` places of each row, (rows, num_ids), the largest first.

    As `topk`, but on a CPU only in the blocks that have the largest values.
    """
    num_rows, num_all = logits.shape
    num_blocks = num_all // _BLOCK_IDS
    if logits.device.type != "cpu" or num_blocks < _BLOCK_IDS:
        return logits.topk(num_ids, dim=-1).indices
    whole = logits[:, : num_blocks * _BLOCK_IDS].view(num_rows, num_blocks, _BLOCK_IDS)
    blocks = whole.amax(dim=-1).topk(num_ids, dim=-1).indices
    rest = torch.arange(num_blocks * _BLOCK_IDS, num_all).expand(num_rows, -1)
    inside = blocks[:, :, None] * _BLOCK_IDS + torch.arange(_BLOCK_IDS)
    places = torch.cat([inside.flatten(1), rest], dim=1)
    few = logits.gather(1, places).topk(num_ids, dim=-1).indices
    return places.gather(1, few)


def _draw(logits: Tensor, dice: Dice) -> int:
    """Draw by one number from the dice along the summed probabilities. (float64: 50 000 terms)"""
    sums = torch.softmax(logits.double() / dice.temperature, dim=-1).cumsum(dim=-1)
    drawn = int(torch.searchsorted(sums, dice.random.random() * sums[-1], right=True))
    # Rounding may put the number at the very end, behind the last id that has a probability.
    return drawn if drawn < len(sums) and logits[drawn] > float("-inf") else int(logits.argmax())
