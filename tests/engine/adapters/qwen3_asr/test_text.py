"""Korean and Chinese ids on their way to the screen: whole characters, each once, none taken back.

The tiny vocabulary knows few syllables; all others are three ids of one byte each.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.adapters import import_families
from engine.adapters.base import PrefixRollback
from engine.adapters.qwen3_asr.config import read_config
from engine.adapters.qwen3_asr.text import Qwen3Text
from engine.adapters.qwen3_asr.vocabulary import Vocabulary, read_vocabulary
from engine.detokenizer.manager import DetokenizerManager
from engine.manager.confirm import Hypothesis, Piece, confirmer_for, text_of
from engine.messages import (
    SAMPLE_RATE_HZ,
    BatchStrOutput,
    BatchTokenIDOutput,
    DecodingOptions,
    DetokenizerMessage,
    Finished,
    FinishReason,
    LoadText,
    RequestKey,
    TokenIDs,
)
from tests.helpers.tiny_qwen3 import NATIVE

BROKEN = "\ufffd"
SENTENCES = (
    "오늘은 꿩 대신 닭을 먹었습니다.",
    "뷁! 값이 3.5원이라고? 정말 감사합니다.",
    "他们说普通话，不说粤语。",
    "今天天气很好。𠮷野家在哪里？",
    "한국어 ABC 中文 😀 섞인 글",
)


class Wires:
    """Gives what was put into `inbox`, and keeps what is said."""

    def __init__(self) -> None:
        self.inbox: list[DetokenizerMessage] = []
        self.sent: list[msgspec.Struct] = []

    def receive(self, timeout_s: float | None) -> list[DetokenizerMessage]:
        messages, self.inbox = self.inbox, []
        return messages

    def send(self, message: msgspec.Struct) -> None:
        self.sent.append(message)


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    return read_vocabulary(NATIVE, read_config(NATIVE))


def deltas(ids: Sequence[int], turns: Sequence[int], prefix: Sequence[int] = ()) -> Iterator[str]:
    """Yield what a detokenizer tells of ids that come so many a turn, by the real folder."""
    import_families()
    wires = Wires()
    manager = DetokenizerManager(wires, max_states=10)
    wires.inbox.append(LoadText(model="tiny", family="Qwen3ASR", folder=str(NATIVE)))
    manager.turn()
    first = 0
    while first < len(ids):
        last = min(len(ids), first + turns[first % len(turns)])
        output = TokenIDs(
            key=RequestKey("job", 0),
            first_index=first,
            ids=tuple(ids[first:last]),
            logprobs=(-0.1,) * (last - first),
            prefix_ids=tuple(prefix) if first == 0 else (),
            options=DecodingOptions(),
            finished=_finished() if last == len(ids) else None,
        )
        wires.inbox.append(BatchTokenIDOutput(model="tiny", outputs=(output,)))
        wires.sent.clear()
        manager.turn()
        (answer,) = wires.sent
        assert isinstance(answer, BatchStrOutput)
        yield answer.outputs[0].delta
        first = last


def _finished() -> Finished:
    return Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=-0.1,
        no_speech_prob=0.0,
        compression_ratio=1.0,
        num_samples=3 * SAMPLE_RATE_HZ,
    )


@pytest.mark.parametrize("sentence", SENTENCES)
@pytest.mark.parametrize("turns", [(1,), (2,), (3, 1), (5,), (100,)])
def test_each_character_is_told_once_and_whole(
    vocabulary: Vocabulary, sentence: str, turns: tuple[int, ...]
) -> None:
    ids = vocabulary.encode(sentence)
    assert any(len(vocabulary.pieces[id_]) == 1 for id_ in ids)
    told = list(deltas(ids, turns))
    assert not any(BROKEN in delta for delta in told)
    assert "".join(told) == sentence


@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_answer_behind_a_prefix_tells_only_what_is_new(vocabulary: Vocabulary, sentence: str) -> None:
    ids = vocabulary.encode(sentence)
    text = Qwen3Text(vocabulary)
    whole = [
        cut for cut in range(1, len(ids)) if BROKEN not in text.decode([ids[:cut]], skip_special=True)[0]
    ]
    for cut in whole:
        said = vocabulary.text_of(ids[:cut])
        assert said + "".join(deltas(ids[cut:], (1,), prefix=ids[:cut])) == sentence


@given(
    sentence=st.sampled_from(SENTENCES),
    other=st.sampled_from(SENTENCES),
    slips=st.lists(st.integers(0, 9), max_size=12),
    steps=st.lists(st.integers(1, 9), min_size=1, max_size=5),
)
def test_confirmed_text_is_never_taken_back_nor_broken(
    sentence: str, other: str, slips: list[int], steps: list[int]
) -> None:
    """Each chunk ends anywhere, also within a character, and its last ids may say something else."""
    vocabulary, ids = _VOCABULARY, _VOCABULARY.encode(sentence)
    confirmer = confirmer_for(PrefixRollback(unfixed_s=0.0))
    confirmed, num_heard, chunk = "", 0, 0
    while num_heard < len(ids):
        num_heard = min(len(ids), num_heard + steps[chunk % len(steps)])
        kept = num_heard - (slips[chunk] if chunk < len(slips) and num_heard < len(ids) else 0)
        # An answer goes on behind what is confirmed, where a character begins.
        start = next(end for end in _whole_ends(ids) if end >= len(confirmer.open))
        said = list(ids[start:num_heard])
        if kept < num_heard:
            until = max(end for end in _whole_ends(ids) if end <= max(start, kept))
            said = [*ids[start:until], *vocabulary.encode(other)[: num_heard - until]]
        answer = [*_ids(confirmer.open), *said]
        update = confirmer.update(Hypothesis(_pieces(vocabulary, answer), num_heard))
        assert BROKEN not in update.confirmed_delta + update.tail_text
        confirmed += update.confirmed_delta
        assert confirmed == text_of(confirmer.open)
        chunk += 1
    start = next(end for end in _whole_ends(ids) if end >= len(confirmer.open))
    last = [*_ids(confirmer.open), *ids[start:]]
    update = confirmer.finish(Hypothesis(_pieces(vocabulary, last), len(ids)))
    assert confirmed + update.confirmed_delta == text_of(confirmer.open)
    assert update.tail == ()


_VOCABULARY = read_vocabulary(NATIVE, read_config(NATIVE))


def _ids(pieces: Sequence[Piece]) -> list[int]:
    return [piece.id for piece in pieces]


def _pieces(vocabulary: Vocabulary, ids: Sequence[int]) -> tuple[Piece, ...]:
    return tuple(Piece(id_, vocabulary.pieces[id_], 0, 0, 0) for id_ in ids)


def _whole_ends(ids: Sequence[int]) -> list[int]:
    """Return behind which ids no character is cut; behind the last one for all that goes beyond them."""
    ends = [end for end in range(len(ids) + 1) if BROKEN not in _VOCABULARY.text_of(ids[:end])]
    return [*ends, 1_000_000]
