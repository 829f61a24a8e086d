"""Batches are answered in order, requests do not disturb one another, and no state is left behind."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.detokenizer.manager import DetokenizerManager
from engine.messages import (
    Abort,
    BatchEmbeddingOutput,
    BatchStrOutput,
    BatchTokenIDOutput,
    DecodingOptions,
    DetokenizerMessage,
    Ended,
    EndedReason,
    Finish,
    Finished,
    FinishReason,
    FreezeGC,
    LoadText,
    RequestKey,
    StrOutput,
    TokenIDs,
)
from engine.protocol.failures import FailureKind
from tests.helpers.toy import expected_ids, expected_text, toy_audio, write_toy_model

A, B = RequestKey("a", 0), RequestKey("b", 0)
FINISHED = Finished(
    reason=FinishReason.STOP,
    temperature=0.0,
    avg_logprob=-0.5,
    no_speech_prob=0.0,
    compression_ratio=1.0,
    num_samples=16_000,
)


class FakeWires:
    """Gives what was put into `inbox`, and keeps what is said."""

    def __init__(self) -> None:
        self.inbox: list[DetokenizerMessage] = []
        self.sent: list[msgspec.Struct] = []

    def receive(self, timeout_s: float | None) -> list[DetokenizerMessage]:
        messages, self.inbox = self.inbox, []
        return messages

    def send(self, message: msgspec.Struct) -> None:
        self.sent.append(message)


class Bench:
    """A detokenizer that knows a toy's text, with its wires."""

    def __init__(self, folder: Path, max_states: int = 100) -> None:
        self.wires = FakeWires()
        self.manager = DetokenizerManager(self.wires, max_states=max_states)
        self.load = LoadText(model="toy", family="Toy", folder=str(write_toy_model(folder / "toy")))
        self.hear(self.load)

    def hear(self, *messages: DetokenizerMessage) -> list[msgspec.Struct]:
        """Return what the messages, taken in one turn, are answered with."""
        self.wires.inbox += messages
        self.wires.sent.clear()
        self.manager.turn()
        return list(self.wires.sent)

    def say(self, *outputs: TokenIDs, model: str = "toy") -> list[StrOutput]:
        """Return the answers to a batch that has no other."""
        (answer,) = self.hear(BatchTokenIDOutput(model=model, outputs=outputs))
        assert isinstance(answer, BatchStrOutput)
        return list(answer.outputs)


def _ids(
    key: RequestKey,
    ids: Sequence[int] | str,
    first: int = 0,
    *,
    finished: Finished | None = None,
    options: DecodingOptions | None = None,
    prefix: Sequence[int] = (),
) -> TokenIDs:
    numbers = tuple(ids.encode()) if isinstance(ids, str) else tuple(ids)
    return TokenIDs(
        key=key,
        first_index=first,
        ids=numbers,
        logprobs=(-0.5,) * len(numbers),
        prefix_ids=tuple(prefix),
        options=options or DecodingOptions(),
        finished=finished,
    )


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_ids_come_back_as_text_with_their_bytes(bench: Bench) -> None:
    output = msgspec.structs.replace(
        _ids(A, [300, *b" a"]), attended_s=(0.1, 0.2, 0.3), language="ko", language_probability=0.5
    )
    (answer,) = bench.say(output)
    assert (answer.key, answer.delta) == (A, " a")
    assert (answer.ids, answer.pieces) == ((300, 32, 97), (b"", b" ", b"a"))
    assert (answer.logprobs, answer.attended_s) == ((-0.5,) * 3, (0.1, 0.2, 0.3))
    assert (answer.language, answer.language_probability) == ("ko", 0.5)


def test_a_whole_request_becomes_segments_and_leaves_no_state(bench: Bench) -> None:
    audio = toy_audio(0, 1, 2, 3, 4)
    ids = expected_ids(audio)
    finished = msgspec.structs.replace(FINISHED, num_samples=len(audio))
    deltas = [bench.say(_ids(A, [id_], index))[0].delta for index, id_ in enumerate(ids)]
    assert bench.manager.num_states == 1
    (last,) = bench.say(_ids(A, [], len(ids), finished=finished))
    assert "".join(deltas) + last.delta == expected_text(audio)
    assert "".join(segment.text for segment in last.segments) == expected_text(audio)
    assert last.finished == finished
    assert bench.manager.num_states == 0


def test_answers_keep_the_order_of_the_batch(bench: Bench) -> None:
    keys = [RequestKey(job, 0) for job in "qwerty"]
    answers = bench.say(*[_ids(key, key.job) for key in keys])
    assert [(answer.key, answer.delta) for answer in answers] == [(key, key.job) for key in keys]


def test_requests_of_one_batch_may_differ_in_what_they_show(bench: Bench) -> None:
    """Another detokenizer decoded the whole batch with the first request's options."""
    shown = DecodingOptions(skip_special_tokens=False)
    answers = bench.say(
        _ids(A, [300, *b" a"], options=shown),
        _ids(B, [300, *b" b"]),
        _ids(RequestKey("c", 0), [301], options=shown),
    )
    assert [answer.delta for answer in answers] == ["<|300|> a", " b", "<|301|>"]


def test_the_language_is_passed_on_before_there_are_ids(bench: Bench) -> None:
    (answer,) = bench.say(msgspec.structs.replace(_ids(A, []), language="en"))
    assert (answer.language, answer.delta) == ("en", "")
    assert bench.say(_ids(A, "a"))[0].delta == "a"


def test_a_forced_prefix_is_context_only(bench: Bench) -> None:
    assert bench.say(_ids(A, " b", prefix=(257, *b" a")))[0].delta == " b"


def test_a_new_attempt_begins_the_text_anew(bench: Bench) -> None:
    bench.say(_ids(A, "caf\u00e9".encode()[:-1]))
    (answer,) = bench.say(_ids(RequestKey("a", 0, 1), "tea", finished=FINISHED))
    assert answer.delta == "tea"
    assert bench.manager.num_states == 0


def test_a_restarted_scheduler_may_begin_the_same_attempt_again(bench: Bench) -> None:
    assert bench.say(_ids(A, "half"))[0].is_first
    assert not bench.say(_ids(A, " done", 4))[0].is_first
    (answer,) = bench.say(_ids(A, "whole"))
    assert (answer.delta, answer.is_first) == ("whole", True)


@pytest.mark.parametrize("output", [_ids(A, "x", 7), _ids(A, "x", 3), _ids(RequestKey("a", 0, 1), "x", 4)])
def test_a_gap_is_answered_as_lost_state(bench: Bench, output: TokenIDs) -> None:
    bench.say(_ids(A, "four"))
    (ended,) = bench.hear(BatchTokenIDOutput(model="toy", outputs=(output,)))
    assert isinstance(ended, Ended)
    assert (ended.key, ended.reason) == (output.key, EndedReason.LOST_STATE)
    assert bench.manager.num_states == 0


def test_a_dropped_request_gets_a_failure_that_names_the_limit(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_states=2)
    c = RequestKey("c", 0)
    bench.say(_ids(A, "a"), _ids(B, "b"))
    bench.say(_ids(A, "a", 1))
    bench.say(_ids(c, "c"))
    assert bench.manager.num_states == 2
    assert [answer.delta for answer in bench.say(_ids(A, "a", 2), _ids(c, "c", 1))] == ["a", "c"]
    (ended,) = bench.hear(BatchTokenIDOutput(model="toy", outputs=(_ids(B, "b", 1),)))
    assert isinstance(ended, Ended) and ended.failure is not None
    assert (ended.key, ended.failure.kind) == (B, FailureKind.LOST_STATE)
    assert "2 requests" in ended.failure.detail
    assert "JAMAK_DETOKENIZER_MAX_STATES" in ended.failure.detail


def test_aborted_requests_leave_no_state(bench: Bench) -> None:
    """Another detokenizer kept the states of aborted requests until the limit pushed out living ones."""
    bench.say(_ids(A, "a"), _ids(RequestKey("a", 1), "a"), _ids(B, "b"))
    assert bench.hear(Abort(job="a")) == [Abort(job="a")]
    assert bench.manager.num_states == 1


def test_endings_and_markers_are_passed_on_in_order(bench: Bench) -> None:
    ended = Ended(key=A, reason=EndedReason.SUPERSEDED)
    finish = Finish(job="a", num_chunks=1)
    bench.say(_ids(A, "a"))
    batch = BatchTokenIDOutput(model="toy", outputs=(_ids(B, "b", finished=FINISHED),))
    sent = bench.hear(ended, batch, finish)
    assert [type(message) for message in sent] == [Ended, BatchStrOutput, Finish]
    assert bench.manager.num_states == 0


def test_vectors_pass_untouched(bench: Bench) -> None:
    data = np.arange(4, dtype="<f4").tobytes()
    vectors = BatchEmbeddingOutput(keys=(A, B), width=2, data=data)
    (passed,) = bench.hear(vectors)
    assert passed is vectors


def test_a_stop_string_cuts_text_and_segments_alike(bench: Bench) -> None:
    options = DecodingOptions(stop_strings=(" stop",))
    ids = [300, *b" one two", 301, *b" st"]
    first = bench.say(_ids(A, ids, options=options))[0].delta
    (last,) = bench.say(_ids(A, "op here", len(ids), options=options, finished=FINISHED))
    assert first + last.delta == " one two"
    assert "".join(segment.text for segment in last.segments) == " one two"


def test_a_broken_request_fails_alone(bench: Bench) -> None:
    broken = _ids(A, [97, -5])
    sent = bench.hear(BatchTokenIDOutput(model="toy", outputs=(broken, _ids(B, "b"))))
    (ended, answer) = sent
    assert isinstance(ended, Ended) and isinstance(answer, BatchStrOutput)
    assert (ended.key, ended.reason) == (A, EndedReason.FAILED)
    assert ended.failure is not None and ended.failure.kind is FailureKind.INTERNAL
    assert [output.delta for output in answer.outputs] == ["b"]


def test_ids_that_cannot_be_grouped_fail_alone(bench: Bench) -> None:
    crooked = msgspec.structs.replace(_ids(A, [300, *b" a"], finished=FINISHED), logprobs=("x",))
    sent = bench.hear(BatchTokenIDOutput(model="toy", outputs=(crooked, _ids(B, "b", finished=FINISHED))))
    assert {type(message) for message in sent} == {Ended, BatchStrOutput}
    assert bench.manager.num_states == 0


def test_ids_of_a_model_without_text_are_answered(bench: Bench) -> None:
    (ended,) = bench.hear(BatchTokenIDOutput(model="stranger", outputs=(_ids(A, "a"),)))
    assert isinstance(ended, Ended) and ended.failure is not None
    assert ended.failure.subject == "stranger"


def test_a_vocabulary_that_cannot_be_read_is_the_answer_until_it_can(bench: Bench, tmp_path: Path) -> None:
    load = LoadText(model="late", family="Toy", folder=str(tmp_path / "late"))
    bench.hear(load)
    (ended,) = bench.hear(BatchTokenIDOutput(model="late", outputs=(_ids(A, "a"),)))
    assert isinstance(ended, Ended) and ended.failure is not None
    assert ended.failure.kind is FailureKind.MODEL_BROKEN
    write_toy_model(tmp_path / "late")
    bench.hear(load)
    assert bench.say(_ids(A, "a"), model="late")[0].delta == "a"


def test_naming_a_text_twice_disturbs_nobody(bench: Bench) -> None:
    bench.say(_ids(A, "a"))
    bench.hear(bench.load)
    assert bench.say(_ids(A, "b", 1))[0].delta == "b"


def test_freezing_takes_what_is_there_out_of_the_collectors_sight(bench: Bench) -> None:
    try:
        bench.hear(FreezeGC())
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
