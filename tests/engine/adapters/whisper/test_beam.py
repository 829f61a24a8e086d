"""Beam search says what the reference's plain algorithm says, and moves as little as possible."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

import pytest

from engine.adapters.kv import Move
from engine.adapters.whisper.beam import Answer, BeamSearch, Choice, SearchRules
from engine.messages import FinishReason

END = 0
NUM_IDS = 12
WIDTH = 5
NUM_FORCED = 3


class Language:
    """What may follow a text, and how likely: made up, always the same for the same text."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def choices(self, ids: Sequence[int]) -> list[Choice]:
        """Return all ids, likeliest first."""
        random = Random(f"{self._seed} {ids}")
        scores = [random.gauss(0, 2) for _ in range(NUM_IDS)]
        total = math.log(sum(map(math.exp, scores)))
        ranked = sorted(range(NUM_IDS), key=lambda id_: -scores[id_])
        return [Choice(id_, scores[id_] - total) for id_ in ranked]


def stutters(ids: Sequence[int]) -> bool:
    return len(ids) > 2 and ids[-1] == ids[-2] == ids[-3]


def plain_search(language: Language, max_ids: int) -> tuple[tuple[int, ...], FinishReason, float]:
    """Search as the reference does, with dictionaries of whole texts; returns text, reason and total."""
    active: dict[tuple[int, ...], float] = {(): 0.0}
    ended: dict[tuple[int, ...], float] = {}
    looped: dict[tuple[int, ...], float] = {}
    for _ in range(max_ids):
        scores = {
            (*text, id_): total + logprob
            for text, total in active.items()
            for id_, logprob in language.choices(text)[: WIDTH + 1]
        }
        active = {}
        for text in sorted(scores, key=lambda text: -scores[text]):
            if text[-1] == END:
                if len(ended) < WIDTH:
                    ended[text[:-1]] = scores[text]
            elif stutters(text):
                looped[text] = scores[text]
            else:
                active[text] = scores[text]
            if len(active) == WIDTH:
                break
        if len(ended) >= WIDTH or not active:
            break
    for reason, texts in (
        (FinishReason.STOP, ended),
        (FinishReason.LENGTH, active),
        (FinishReason.LOOP, looped),
    ):
        if texts:
            best = max(texts, key=lambda text: texts[text] / max(1, len(text)))
            return best, reason, texts[best]
    raise AssertionError("nothing was said")


class Slots:
    """What each slot really holds, to prove that no beam reads what another one has said."""

    def __init__(self) -> None:
        self.held: dict[int, list[int]] = {slot: [-1] * 40 for slot in range(WIDTH)}
        self.held[0] = [*range(100, 100 + NUM_FORCED)]

    def move(self, moves: Sequence[Move]) -> None:
        sources = {move.source for move in moves}
        assert not sources & {move.target for move in moves}
        for source, target, num_common in ((m.source, m.target, m.num_common) for m in moves):
            self.held[target] = self.held[target][:num_common] + self.held[source][num_common:]

    def read(self, search: BeamSearch) -> None:
        """Let each beam read its last id behind what its slot holds; that must be the beam's own text."""
        for beam in search.active:
            held = self.held[beam.slot]
            assert held == [*range(100, 100 + NUM_FORCED), *beam.ids[:-1]]
            held.append(beam.ids[-1])


def searched(language: Language, max_ids: int) -> tuple[Answer, list[tuple[int, ...]]]:
    """Return the answer, and what was agreed on after each step."""
    rules = SearchRules(end_id=END, max_ids=max_ids, is_loop=stutters)
    search = BeamSearch(range(WIDTH), NUM_FORCED, rules)
    slots = Slots()
    agreed = []
    while not search.is_over:
        moves = search.advance([language.choices(b.ids)[: search.num_choices] for b in search.active])
        slots.move(moves)
        slots.read(search)
        agreed.append(search.agreed)
    return search.answer(), agreed


@pytest.mark.parametrize("max_ids", [1, 4, 30])
def test_the_answer_is_that_of_the_plain_algorithm(max_ids: int) -> None:
    reasons = set()
    for seed in range(60):
        language = Language(seed)
        answer, agreed = searched(language, max_ids)
        ids, reason, total = plain_search(language, max_ids)
        assert (answer.ids, answer.reason) == (ids, reason)
        assert sum(answer.logprobs) + answer.end_logprob == pytest.approx(total)
        for before, after in zip(agreed, [*agreed[1:], answer.ids], strict=True):
            assert after[: len(before)] == before, "what was shown is never taken back"
        reasons.add(reason)
    assert FinishReason.STOP in reasons
    assert (FinishReason.LENGTH in reasons) == (max_ids < 30)


def test_a_beam_stays_in_its_slot_and_a_copy_begins_where_the_texts_part() -> None:
    rules = SearchRules(end_id=END, max_ids=30, is_loop=lambda ids: False)
    search = BeamSearch([4, 7], 2, rules)
    assert search.advance([[Choice(5, -0.1), Choice(6, -0.2), Choice(7, -9.0)]]) == [Move(4, 7, 0)]
    # Both go on with the first beam's text: the second one's slot has what was forced in common with it.
    steps = [[Choice(8, -0.1), Choice(9, -0.2), Choice(1, -9.0)], [Choice(8, -5.0)]]
    assert search.advance(steps) == [Move(4, 7, 2)]
    steps = [[Choice(3, -0.1), Choice(2, -9.0)], [Choice(3, -0.1), Choice(2, -9.0)]]
    assert search.advance(steps) == []
    assert [beam.ids for beam in search.active] == [(5, 8, 3), (5, 9, 3)]
    assert search.agreed == (5,)


def test_what_loops_is_dropped_and_kept_only_where_nothing_else_is_left() -> None:
    rules = SearchRules(end_id=END, max_ids=30, is_loop=lambda ids: ids[-1] == 9)
    search = BeamSearch([0, 1], 0, rules)
    search.advance([[Choice(9, -0.1), Choice(5, -3.0), Choice(6, -4.0)]])
    assert [beam.ids for beam in search.active] == [(5,), (6,)]
    search.advance([[Choice(9, -0.1)], [Choice(9, -0.2)]])
    assert search.is_over
    assert search.answer().reason is FinishReason.LOOP


def test_an_answer_that_ended_is_preferred_to_a_likelier_one_that_was_cut_off() -> None:
    rules = SearchRules(end_id=END, max_ids=2, is_loop=lambda ids: False)
    search = BeamSearch([0, 1], 0, rules)
    search.advance([[Choice(5, -0.1), Choice(6, -2.0), Choice(7, -3.0)]])
    search.advance([[Choice(8, -0.1), Choice(3, -4.0)], [Choice(END, -0.5), Choice(3, -1.0)]])
    assert search.is_over
    assert (search.answer().ids, search.answer().reason) == ((6,), FinishReason.STOP)


def test_what_is_forbidden_is_no_way_to_go_on() -> None:
    rules = SearchRules(end_id=END, max_ids=30, is_loop=lambda ids: False)
    search = BeamSearch([0, 1, 2], 0, rules)
    search.advance([[Choice(5, -0.1), Choice(6, -math.inf), Choice(7, -math.inf)]])
    assert [beam.ids for beam in search.active] == [(5,)]
