"""How an answer's beginning is taken, id by id: every form of header that was seen, and none at all."""

from __future__ import annotations

import numpy as np
import pytest

from engine.adapters.base import Decode
from engine.adapters.qwen3_asr.config import read_config
from engine.adapters.qwen3_asr.guards import Attempt, is_echo, is_leak, settle
from engine.adapters.qwen3_asr.languages import NAMES, code_of
from engine.adapters.qwen3_asr.prompt import Prompt, header_ids, parse_header
from engine.adapters.qwen3_asr.row import Row
from engine.adapters.qwen3_asr.vocabulary import Vocabulary, read_vocabulary
from engine.messages import FinishReason
from tests.helpers.qwen3_engine import chunk_of
from tests.helpers.tiny_qwen3 import NATIVE

MARK = "<asr_text>"
END = "<|im_end|>"


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return read_vocabulary(NATIVE, read_config(NATIVE))


def ids_of(vocabulary: Vocabulary, answer: str) -> list[int]:
    """Return an answer's ids; the marks in it are marks."""
    ids: list[int] = []
    for part in answer.replace(MARK, f"\0{MARK}\0").replace(END, f"\0{END}\0").split("\0"):
        mark = {MARK: vocabulary.marks.text_start, END: vocabulary.marks.turn_end}.get(part)
        ids += vocabulary.encode(part) if mark is None else (mark,)
    return ids


def play(vocabulary: Vocabulary, answer: str, *, context: str = "") -> tuple[Row, str]:
    """Let a model say an answer, and return the row with the text that was shown before its end."""
    decode = Decode(chunk=chunk_of(np.zeros(32_000, np.float32)), key=chunk_of(np.zeros(0)).key)
    row = Row(
        decode=decode,
        vocabulary=vocabulary,
        prompt=Prompt((), (), 0),
        context=context,
        is_last=False,
        is_free=True,
    )
    row.begin(0, 26, 4096)
    for id_ in ids_of(vocabulary, answer):
        assert row.reason is None, "went on behind the end"
        row.say(id_, -0.1)
    return row, vocabulary.text_of(decode.ids)


@pytest.mark.parametrize(
    ("answer", "language", "text"),
    [
        ("language English<asr_text>Hello.<|im_end|>", "en", " Hello."),
        ("language Chinese<asr_text>你好。<|im_end|>", "zh", "你好。"),
        ("language Korean<asr_text>네.<|im_end|>", "ko", " 네."),
        ("\nlanguage English\n<asr_text>Hello.<|im_end|>", "en", " Hello."),
        ("Language english<asr_text>Hello.<|im_end|>", "en", " Hello."),
        ("English<asr_text>Hello.<|im_end|>", "en", " Hello."),
        ("assistant\nlanguage English<asr_text>Hello.<|im_end|>", "en", " Hello."),
        ("language English,Korean<asr_text>Hello.<|im_end|>", "en", " Hello."),
        ("language Klingon<asr_text>Hello.<|im_end|>", None, " Hello."),
        ("language English<asr_text><|im_end|>", "en", ""),
        ("language English<|im_end|>", None, ""),
        ("language None<asr_text>", None, ""),
        ("<asr_text>Hello.<|im_end|>", None, " Hello."),
        ("Hello there.<|im_end|>", None, " Hello there."),
        ("Language is a wide field, and a long one it is as well.<|im_end|>", None, None),
        ("안녕하세요.<|im_end|>", None, " 안녕하세요."),
        ("你好世界。<|im_end|>", None, "你好世界。"),
        ("<|im_end|>", None, ""),
    ],
)
def test_every_form_of_answer_is_understood(
    vocabulary: Vocabulary, answer: str, language: str | None, text: str | None
) -> None:
    row, shown = play(vocabulary, answer)
    expected = answer.removesuffix(END) if text is None else text.strip()
    assert vocabulary.text_of(row.ids) == expected
    assert shown == (f" {expected}" if text is None else text)
    assert row.decode.language == language
    assert row.reason is (FinishReason.STOP if expected else FinishReason.SILENCE)


def test_nothing_of_a_header_is_ever_shown(vocabulary: Vocabulary) -> None:
    for name in NAMES.values():
        row, shown = play(vocabulary, f"language {name}<asr_text>")
        assert (shown, row.ids) == ("", [])
        assert row.decode.language == code_of(name)


def test_of_a_character_nothing_is_shown_before_its_end(vocabulary: Vocabulary) -> None:
    row, shown = play(vocabulary, "language Korean<asr_text>네")
    rare = vocabulary.encode("꿩")
    assert len(rare) == 3
    for id_ in rare[:2]:
        row.say(id_, -0.1)
        assert vocabulary.text_of(row.decode.ids) == shown == " 네"
    # An answer may end there: by its length, or because the model says so.
    row.say(vocabulary.marks.turn_end, -0.1)
    attempt = row.attempt()
    ids, logprobs = row.shown(attempt.ids, attempt.logprobs)
    assert vocabulary.text_of(ids) == shown
    assert len(logprobs) == len(ids)
    other, _ = play(vocabulary, "language Korean<asr_text>네꿩")
    assert vocabulary.text_of(other.decode.ids) == " 네꿩"


def test_all_names_have_headers_that_are_read_back(vocabulary: Vocabulary) -> None:
    for code, name in NAMES.items():
        ids = header_ids(vocabulary, name)
        assert parse_header(vocabulary.text_of(ids)).language == code


def test_text_is_held_back_while_it_may_be_the_contexts(vocabulary: Vocabulary) -> None:
    row, _ = play(vocabulary, "language English<asr_text>", context="hello world")
    row.no_speech_prob = 0.5
    for id_ in ids_of(vocabulary, "Hello."):
        row.say(id_, -0.1)
    assert row.decode.ids == []
    assert row.ids


def test_the_contexts_words_are_no_evidence_where_nobody_speaks() -> None:
    assert is_leak("Matt!", "Matt Daemon", 0.5)
    assert not is_leak("Matt!", "Matt Daemon", 0.1)
    assert not is_leak("Matt is here.", "Matt Daemon", 0.9)
    assert not is_leak("", "Matt", 0.9)


def test_a_context_said_word_for_word_is_an_echo() -> None:
    assert is_echo("One two, three four.", "one two three four")
    assert not is_echo("One two three.", "one two three")
    assert not is_echo("One two three four five.", "one two three four")


def test_of_two_bad_attempts_the_likelier_is_kept_and_cut() -> None:
    def attempt(ids: list[int], avg: float, reason: FinishReason, *, echo: bool = False) -> Attempt:
        return Attempt(
            ids=tuple(ids),
            logprobs=(avg,) * len(ids),
            reason=reason,
            text="x",
            avg_logprob=avg,
            no_speech_prob=0.0,
            is_echo=echo,
        )

    loop = attempt([1, *[2, 3, 4, 5] * 6], -0.1, FinishReason.LOOP)
    whole = attempt([1, 2, 3], -0.9, FinishReason.STOP)
    pieces = [b"x"] * 10
    assert settle([loop, whole], pieces) is whole
    kept = settle([loop, attempt([9] * 40, -0.5, FinishReason.LENGTH)], pieces)
    assert kept.ids == (1, 2, 3, 4, 5, 2, 3, 4, 5)
    assert len(kept.logprobs) == len(kept.ids)
    assert settle([attempt([1, 2], -0.1, FinishReason.STOP, echo=True)], pieces).ids == ()
