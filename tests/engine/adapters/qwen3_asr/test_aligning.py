"""Words are asked for one by one, and what is said of them is put in order."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.qwen3_asr.aligning import TokenTimes, Unit, is_credible, repaired, token_times, units_of
from tests.helpers.tiny_aligner import TINY


def units(*pieces: str) -> list[tuple[str, int, int]]:
    return [(unit.text, unit.first, unit.last) for unit in units_of([piece.encode() for piece in pieces])]


def test_words_are_asked_for_without_their_marks() -> None:
    assert units(" Hel", "lo", ",", " it", "'s", ".") == [("Hello", 0, 1), ("it's", 3, 4)]
    assert units(" 안", "녕", "하세요", "!") == [("안녕하세요", 0, 2)]
    assert units("♪", " ", "—") == []


def test_han_is_asked_for_by_character_and_kana_by_token() -> None:
    assert units("天气", "好", "。") == [("天", 0, 0), ("气", 0, 0), ("好", 1, 1)]
    assert units("行きます", "。") == [("行", 0, 0), ("きます", 0, 0)]
    assert units("A股", "涨") == [("A", 0, 0), ("股", 0, 0), ("涨", 1, 1)]


def test_a_character_in_several_tokens_has_one_time() -> None:
    first, second = "語".encode()[:1], "語".encode()[1:]
    assert units_of([b"a ", first, second]) == [Unit("a", 0, 0), Unit("語", 1, 2)]


def test_tokens_of_a_word_share_its_time_and_marks_take_none() -> None:
    pieces = [b" Hel", b"lo", b",", b" you"]
    times = token_times(4, units_of(pieces), [80, 480, 560, 800])
    expected = [(0.08, 0.28), (0.28, 0.48), (0.48, 0.48), (0.56, 0.8)]
    assert list(times.spans) == [pytest.approx(span) for span in expected]
    assert times.guessed == (2,)


def test_a_token_of_two_characters_lasts_from_one_to_the_other() -> None:
    times = token_times(1, units_of(["天气".encode()]), [80, 160, 240, 400])
    assert times.spans == ((0.08, 0.4),)


def test_times_that_went_back_are_guesses_afterwards() -> None:
    times = token_times(3, units_of([b" a", b" b", b" c"]), [0, 80, 960, 160, 240, 400])
    assert times.guessed == (1,)
    assert times.spans == ((0.0, 0.08), (0.08, 0.16), (0.24, 0.4))


labels = st.lists(st.integers(0, 120), min_size=2, max_size=60).filter(lambda found: len(found) % 2 == 0)


@pytest.fixture(scope="module")
def processor() -> Any:
    from transformers import Qwen3ASRProcessor

    return Qwen3ASRProcessor.from_pretrained(TINY)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(found=labels)
def test_repaired_times_are_the_references(processor: Any, found: list[int]) -> None:
    logits = torch.zeros(1, len(found), 121)
    logits[0, torch.arange(len(found)), torch.tensor(found)] = 1.0
    marks = torch.full((1, len(found)), 7)
    words = [str(index) for index in range(len(found) // 2)]
    (expected,) = processor.decode_forced_alignment(logits, marks, [words], 7)
    fixed, is_odd = repaired([label * 80 for label in found])
    flat = [time for word in expected for time in (word["start_time"], word["end_time"])]
    assert np.allclose(np.array(fixed) / 1000, flat)
    assert all(left <= right for left, right in pairwise(fixed))
    assert all(odd or time == label * 80 for time, label, odd in zip(fixed, found, is_odd, strict=True))


def test_nothing_said_is_nothing_repaired() -> None:
    assert repaired([]) == ([], [])


texts = st.lists(st.text(st.sampled_from("ab 天気はい'.,♪한글é"), min_size=1, max_size=3), max_size=20)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(pieces=texts, data=st.data())
def test_times_of_tokens_never_go_back(pieces: list[str], data: st.DataObject) -> None:
    asked = units_of([piece.encode() for piece in pieces])
    places = st.lists(st.integers(0, 100), min_size=2 * len(asked), max_size=2 * len(asked))
    times = token_times(len(pieces), asked, [80 * place for place in data.draw(places)])
    assert len(times.spans) == len(pieces)
    for start, end in times.spans:
        assert start <= end
    for one, other in pairwise(times.spans):
        assert one[1] <= other[0] + 1e-9
    asked_for = {token for unit in asked for token in range(unit.first, unit.last + 1)}
    assert set(range(len(pieces))) - asked_for <= set(times.guessed)


def test_ids_without_text_lie_between_the_others() -> None:
    times = TokenTimes(((0.1, 0.5), (0.5, 0.9)), (1,)).among([1, 3], 5)
    assert times.spans == ((0.1, 0.1), (0.1, 0.5), (0.5, 0.5), (0.5, 0.9), (0.9, 0.9))
    assert times.guessed == (0, 2, 3, 4)


@pytest.mark.parametrize(
    ("times_s", "is_sense"),
    [
        ([0.0, 0.4, 0.4, 0.8, 0.9, 1.2], True),
        ([0.0, 0.4, 0.1, 0.2, 0.9, 1.2], True),
        ([1.2, 0.9, 0.8, 0.4, 0.1, 0.0], False),
        ([0.0, 0.4, 9.0, 9.1, 9.5, 9.9], False),
        ([], True),
    ],
)
def test_most_times_must_be_in_order_and_in_the_audio(times_s: list[float], is_sense: bool) -> None:
    assert is_credible([1000 * time for time in times_s], 2.0) is is_sense
