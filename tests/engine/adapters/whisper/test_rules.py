"""What a Whisper may say next: the reference's grammar of timestamps, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.adapters.whisper.rules import Allowed, TokenRules, allowed_next
from engine.adapters.whisper.vocabulary import Vocabulary, read_vocabulary

pytestmark = pytest.mark.weights

FIRST = 50_364
END = 50_257
TEXT = 1000


@pytest.fixture(scope="module")
def vocabulary(whisper_base: Path) -> Vocabulary:
    return read_vocabulary(whisper_base)


@pytest.fixture(scope="module")
def rules(vocabulary: Vocabulary) -> TokenRules:
    return TokenRules(vocabulary, suppressed=(7, -1, END), at_start=(220, END))


def likely(*ids: int, rows: int = 1) -> Tensor:
    """Logits in which only `ids` stand out, the first most."""
    logits = torch.full((rows, 51_865), -20.0)
    for rank, id_ in enumerate(ids):
        logits[:, id_] = 10.0 - rank
    return logits


def best(logits: Tensor) -> list[int]:
    chosen: list[int] = logits.argmax(dim=-1).tolist()
    return chosen


def test_an_answer_begins_with_a_timestamp_within_the_first_second(
    vocabulary: Vocabulary, rules: TokenRules
) -> None:
    allowed = allowed_next([], 500, vocabulary)
    assert best(rules.apply(likely(END, TEXT, FIRST + 51, FIRST + 50), [allowed])) == [FIRST + 50]


def test_the_first_timestamp_is_followed_by_text_or_end(vocabulary: Vocabulary, rules: TokenRules) -> None:
    allowed = allowed_next([FIRST], 500, vocabulary)
    assert best(rules.apply(likely(FIRST + 100, TEXT), [allowed])) == [TEXT]
    assert best(rules.apply(likely(FIRST + 100, END), [allowed])) == [END]


def test_a_timestamp_behind_text_is_followed_by_another_or_the_end(
    vocabulary: Vocabulary, rules: TokenRules
) -> None:
    allowed = allowed_next([FIRST, TEXT, FIRST + 100], 500, vocabulary)
    assert best(rules.apply(likely(TEXT, FIRST + 99, FIRST + 100), [allowed])) == [FIRST + 100]
    assert best(rules.apply(likely(TEXT, END), [allowed])) == [END]


def test_a_segment_cannot_have_no_length(vocabulary: Vocabulary) -> None:
    assert allowed_next([FIRST + 10, TEXT], 500, vocabulary) == Allowed(11, 500)
    assert allowed_next([FIRST, TEXT, FIRST + 100, FIRST + 100, TEXT], 500, vocabulary) == Allowed(101, 500)


def test_no_timestamp_lies_behind_the_audio_and_none_begins_at_its_end(vocabulary: Vocabulary) -> None:
    assert allowed_next([FIRST, TEXT], 120, vocabulary).last_step == 120
    closed_at_the_end = allowed_next([FIRST, TEXT, FIRST + 120], 120, vocabulary)
    assert closed_at_the_end.first_step > closed_at_the_end.last_step


def test_a_begun_segment_is_not_left_while_there_is_audio(vocabulary: Vocabulary, rules: TokenRules) -> None:
    """A chunk ended with "…the block books,<|24.40|><|24.40|>" and 3.5 s of its speech were lost.

    Whisper was taught to stop there when its window cuts the next segment off; ours ends in silence.
    """
    pair = [FIRST, TEXT, FIRST + 100, FIRST + 100]
    assert best(rules.apply(likely(END, TEXT), [allowed_next(pair, 300, vocabulary)])) == [TEXT]
    assert best(rules.apply(likely(END, TEXT), [allowed_next(pair, 140, vocabulary)])) == [END]


def test_timestamps_together_outweigh_the_likeliest_text(vocabulary: Vocabulary, rules: TokenRules) -> None:
    logits = likely(TEXT)
    logits[:, FIRST + 11 : FIRST + 411] = 8.0  # each is less likely than the text, but there are 400
    assert best(rules.apply(logits, [allowed_next([FIRST + 10, TEXT], 500, vocabulary)])) == [FIRST + 11]


def test_suppressed_ids_and_commands_are_never_said(vocabulary: Vocabulary, rules: TokenRules) -> None:
    special = vocabulary.special
    logits = likely(7, special.start, special.no_timestamps, special.languages["ko"], TEXT)
    assert best(rules.apply(logits, [allowed_next([FIRST], 500, vocabulary)])) == [TEXT]


def test_rows_do_not_see_one_another(vocabulary: Vocabulary, rules: TokenRules) -> None:
    histories = [[], [FIRST], [FIRST, TEXT], [FIRST, TEXT, FIRST + 9]]
    allowed = [allowed_next(history, 500, vocabulary) for history in histories]
    logits = torch.randn(4, 51_865, generator=torch.Generator().manual_seed(1))
    alone = [rules.apply(logits[i : i + 1].clone(), [allowed[i]]) for i in range(4)]
    assert torch.equal(rules.apply(logits.clone(), allowed), torch.cat(alone))
