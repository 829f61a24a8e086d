"""Sentences end where a reader would say so, and never inside a token."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.sentences import LONG_S, sentences, spoken_s


def tokens_of(text: str) -> list[bytes]:
    """Cut like byte-level BPE does at least: letters and marks apart, a space before what it precedes."""
    return [token.encode() for token in re.findall(r" ?\w+| ?[^\w\s]+|\s+", text)]


def cut(text: str) -> list[str]:
    pieces = tokens_of(text)
    assert b"".join(pieces).decode() == text
    return [b"".join(pieces[part.start : part.stop]).decode() for part in sentences(pieces)]


@pytest.mark.parametrize(
    "parts",
    [
        (" Hello.", " How are you?", " Fine!"),
        (' He said "go."', " And they went."),
        (" It cost 3.5 million.", " Mr. Smith paid."),
        (" J. S. Bach was born in 1685.",),
        (" Wait... what?", " Yes."),
        ("오늘 날씨가 좋아요.", " 내일도 맑겠습니다."),
        ("请打开窗户。", "谢谢！", "好吗？"),
        ("「行こう。」", "と言った。"),
        ("これは3.5です。", "はい"),
        ("no mark at all",),
        (" One.\n", "Two."),
        (" ...",),
    ],
)
def test_a_sentence_ends_where_its_script_says(parts: tuple[str, ...]) -> None:
    assert cut("".join(parts)) == list(parts)


@pytest.mark.parametrize(
    "text",
    [" and so on, he went on" * 30, "那么我们就继续走吧，" * 40, "가나다라마바사" * 60, " word" * 300],
)
def test_a_sentence_too_long_to_be_read_is_cut(text: str) -> None:
    pieces = tokens_of(text)
    if len(pieces) < 10:
        pieces = [character.encode() for character in text]
    parts = [b"".join(pieces[part.start : part.stop]).decode() for part in sentences(pieces)]
    assert "".join(parts) == text
    assert max(map(spoken_s, parts)) <= LONG_S + 1.0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.binary(min_size=1, max_size=4) | st.sampled_from([b".", b" ", "。".encode(), b" A"])))
def test_every_token_is_in_one_sentence_whatever_its_bytes(pieces: list[bytes]) -> None:
    parts = sentences(pieces)
    assert [index for part in parts for index in part] == list(range(len(pieces)))
    texts = [b"".join(pieces[part.start : part.stop]).decode(errors="replace") for part in parts]
    assert "".join(texts) == b"".join(pieces).decode(errors="replace")


def test_han_takes_longer_to_say_than_letters() -> None:
    assert spoken_s("天气很好") > spoken_s("abcd")
    assert spoken_s("。，！") == 0.0
