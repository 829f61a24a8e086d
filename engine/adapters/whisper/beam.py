"""Beam search: the few likeliest answers to one window, followed side by side. Pure.

The method is the reference's (openai/whisper, decoding.py: `BeamSearchDecoder` with patience 1, and
`MaximumLikelihoodRanker`): of all ways to go on, the likeliest as many as there are beams go on; an
answer that ends leaves the search; when as many have ended as there are beams, the one with the best
log-probability per id is kept. Two rules are ours: an answer that runs into a loop is dropped, and one
that has ended is preferred to one that was cut off by its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import NamedTuple

from engine.adapters.kv import Move
from engine.messages import FinishReason


class Choice(NamedTuple):
    """An id that may be said next."""

    id: int
    logprob: float


@dataclass(frozen=True, slots=True)
class Beam:
    """An answer that goes on; `slot` holds all of its ids but the last."""

    slot: int
    ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    total: float = 0.0
    """The sum of `logprobs`."""

    def say(self, choice: Choice) -> Beam:
        """Return the beam one id longer, still in the slot of this one."""
        ids, logprobs = (*self.ids, choice.id), (*self.logprobs, choice.logprob)
        return Beam(self.slot, ids, logprobs, self.total + choice.logprob)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is over."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    end_logprob: float
    """Of the end-of-text id; 0 where it was not said."""
    reason: FinishReason

    @property
    def rank(self) -> tuple[bool, float]:
        """What the best answer has most of."""
        total = sum(self.logprobs) + self.end_logprob
        return self.reason is FinishReason.STOP, total / max(1, len(self.ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRules:
    """What ends an answer."""

    end_id: int
    max_ids: int
    is_loop: Callable[[Sequence[int]], bool]
    """Says of an answer's ids that they end in a loop."""


class BeamSearch:
    """As many beams as there are `slots`; the first slot holds the `num_forced` ids before all answers."""

    def __init__(self, slots: Sequence[int], num_forced: int, rules: SearchRules) -> None:
        self.active: list[Beam] = [Beam(slots[0])]
        """The answers that go on, likeliest first."""
        self.agreed: tuple[int, ...] = ()
        """What every answer that may still be kept begins with; grows only."""
        self.agreed_logprobs: tuple[float, ...] = ()
        self._width = len(slots)
        self._num_forced = num_forced
        self._rules = rules
        self._held: dict[int, tuple[int, ...] | None] = dict.fromkeys(slots)
        """The answer's ids in each slot; None where it was never used."""
        self._ended: list[Answer] = []
        self._looped: list[Answer] = []

    @property
    def num_choices(self) -> int:
        """How many choices of each beam are needed: one of them may be the end."""
        return self._width + 1

    @property
    def is_over(self) -> bool:
        """No beam can go on, or enough have ended."""
        is_full = bool(self.active) and len(self.active[0].ids) >= self._rules.max_ids
        return is_full or not self.active or len(self._ended) >= self._width

    def advance(self, choices: Sequence[Sequence[Choice]]) -> list[Move]:
        """Let the beams say one id more, each one of its `choices`; returns who has to change slots."""
        for beam in self.active:
            self._held[beam.slot] = beam.ids
        going_on: list[Beam] = []
        for parent, choice in self._by_likelihood(choices):
            if choice.id == self._rules.end_id:
                self._end(parent, choice.logprob)
                continue
            beam = parent.say(choice)
            if self._rules.is_loop(beam.ids):
                self._looped.append(Answer(beam.ids, beam.logprobs, 0.0, FinishReason.LOOP))
                continue
            going_on.append(beam)
            if len(going_on) == self._width:
                break
        moves = self._take_slots(going_on)
        self._agree()
        return moves

    def answer(self) -> Answer:
        """Return the best answer; only when the search `is_over`. It begins with what was `agreed`."""
        cut_off = [Answer(beam.ids, beam.logprobs, 0.0, FinishReason.LENGTH) for beam in self.active]
        looped = [answer for answer in self._looped if answer.ids[: len(self.agreed)] == self.agreed]
        return max(self._ended + cut_off or looped, key=lambda answer: answer.rank)

    def _by_likelihood(self, choices: Sequence[Sequence[Choice]]) -> list[tuple[Beam, Choice]]:
        ways = [
            (beam, choice)
            for beam, of_beam in zip(self.active, choices, strict=True)
            for choice in of_beam
            if choice.logprob > float("-inf")
        ]
        return sorted(ways, key=lambda way: way[0].total + way[1].logprob, reverse=True)

    def _end(self, beam: Beam, end_logprob: float) -> None:
        if len(self._ended) < self._width:
            self._ended.append(Answer(beam.ids, beam.logprobs, end_logprob, FinishReason.STOP))

    def _take_slots(self, beams: Sequence[Beam]) -> list[Move]:
        """Let each beam go on in its parent's slot where no likelier sibling does, else in a free one."""
        free = [slot for slot in self._held if slot not in {beam.slot for beam in beams}]
        taken: set[int] = set()
        moves: list[Move] = []
        self.active = []
        for beam in beams:
            slot = beam.slot
            if slot in taken:
                slot = free.pop(0)
                moves.append(Move(beam.slot, slot, self._num_common(slot, beam.ids[:-1])))
            taken.add(slot)
            self.active.append(Beam(slot, beam.ids, beam.logprobs, beam.total))
        return moves

    def _num_common(self, slot: int, ids: Sequence[int]) -> int:
        """Return how many tokens of `slot` are those in front of an answer of `ids` and its own."""
        held = self._held[slot]
        return 0 if held is None else self._num_forced + num_common(held, ids)

    def _agree(self) -> None:
        answers = [*(beam.ids for beam in self.active), *(answer.ids for answer in self._ended)]
        if answers:
            num_agreed = min(num_common(answers[0], other) for other in answers)
            self.agreed = answers[0][:num_agreed]
            logprobs = self.active[0].logprobs if self.active else self._ended[0].logprobs
            self.agreed_logprobs = logprobs[:num_agreed]


def num_common(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many ids two answers begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(left, right, strict=False)))
