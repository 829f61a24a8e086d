"""A chunk-wise model on a slow machine: answers cross, and it only guesses when it said what."""

from __future__ import annotations

import pytest

from engine.adapters.base import PrefixRollback
from engine.manager.confirm import Piece
from engine.manager.live import Plan
from engine.messages import SAMPLE_RATE_HZ
from tests.helpers.speaker import WORD_SAMPLES, Speaker


class Guesser(Speaker):
    """Hears every word, writes it otherwise in each chunk, and lays its words evenly over the audio."""

    def _hear(self, plan: Plan) -> tuple[Piece, ...]:
        heard = [
            number
            for start, number in self.said
            if start >= plan.start and start + WORD_SAMPLES // 2 <= plan.end
        ]
        new = heard[len(plan.prefix) :]
        reached = plan.prefix[-1].end if plan.prefix else plan.start
        pieces = []
        for index, number in enumerate(new):
            start, end = (reached + (plan.end - reached) * n // len(new) for n in (index, index + 1))
            name = f" {'wW'[plan.index % 2]}{number}."
            pieces.append(Piece(hash(name), name.encode(), start, end, end, -0.1))
        return tuple(pieces)


@pytest.mark.parametrize("delay_s", [0.3, 2.5, 3.0, 4.7])
def test_an_answer_that_was_overtaken_neither_repeats_nor_loses_a_word(delay_s: float) -> None:
    speaker = Guesser(delay_s=delay_s, confirmation=PrefixRollback())
    speaker.speak(16)
    speaker.rest(1.2)
    speaker.speak(9)
    speaker.finish()
    assert speaker.confirmed.lower() == speaker.spoken
    assert speaker.session.num_revisions == 0
    assert speaker.session.is_settled
    longest_s = max(plan.end - plan.start for plan in speaker.plans) / SAMPLE_RATE_HZ
    assert longest_s > 12
