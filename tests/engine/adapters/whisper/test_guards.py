"""What is believed, what is decoded again, and what is kept when nothing helps."""

from __future__ import annotations

import pytest

from engine.adapters.whisper.guards import (
    Attempt,
    Verdict,
    compression_ratio,
    judge,
    settle,
    without_loop,
)
from engine.messages import FinishReason

TIMESTAMP = 60_000


def attempt(
    ids: tuple[int, ...] = (1, 2),
    *,
    logprob: float = -0.3,
    ratio: float = 1.3,
    no_speech: float = 0.1,
    reason: FinishReason = FinishReason.STOP,
) -> Attempt:
    return Attempt(
        ids=ids,
        logprobs=(logprob,) * len(ids),
        reason=reason,
        temperature=0.0,
        avg_logprob=logprob,
        compression_ratio=ratio,
        no_speech_prob=no_speech,
    )


@pytest.mark.parametrize(
    ("tried", "verdict"),
    [
        (attempt(), Verdict.ACCEPT),
        (attempt(ratio=2.41), Verdict.RETRY),
        (attempt(logprob=-1.01), Verdict.RETRY),
        (attempt(reason=FinishReason.LOOP), Verdict.RETRY),
        (attempt(reason=FinishReason.LENGTH), Verdict.RETRY),
        (attempt(no_speech=0.61), Verdict.ACCEPT),
        (attempt(no_speech=0.61, logprob=-0.61), Verdict.SILENCE),
        (attempt(no_speech=0.59, logprob=-0.61), Verdict.ACCEPT),
        (attempt(no_speech=0.61, logprob=-1.01), Verdict.SILENCE),
        (attempt(no_speech=0.61, reason=FinishReason.LOOP), Verdict.SILENCE),
    ],
)
def test_guards_speak_about_text_probability_and_silence(tried: Attempt, verdict: Verdict) -> None:
    assert judge(tried)[0] is verdict


def test_the_best_attempt_is_whole_before_it_is_likely() -> None:
    loop = attempt(logprob=-0.1, reason=FinishReason.LOOP)
    repetitive = attempt(logprob=-0.2, ratio=3.0)
    unlikely, unlikelier = attempt(logprob=-1.2), attempt(logprob=-1.5)
    assert settle([loop, repetitive, unlikely, unlikelier]) is unlikely
    assert settle([loop, repetitive]) is repetitive


def test_what_nothing_helps_and_hardly_sounds_like_speech_is_silence() -> None:
    settled = settle([attempt(logprob=-1.2, no_speech=0.4), attempt(logprob=-1.5, no_speech=0.4)])
    assert settled.reason is FinishReason.SILENCE
    assert settled.ids == settled.logprobs == ()


def test_repetition_compresses_and_prose_does_not() -> None:
    assert compression_ratio(b"thank you " * 20) > 2.4
    assert compression_ratio(b"ask not what your country can do for you") < 1.5
    assert compression_ratio(b"") == 0.0


def test_a_loop_that_nothing_breaks_is_cut_to_two_rounds() -> None:
    ids = (TIMESTAMP, 7, 8, *((1, 2, 3, 4, TIMESTAMP + 1, TIMESTAMP + 1) * 6))
    cut = without_loop(attempt(ids, reason=FinishReason.LOOP), first_special=TIMESTAMP)
    assert [id_ for id_ in cut.ids if id_ < TIMESTAMP] == [7, 8, 1, 2, 3, 4, 1, 2, 3, 4]
    assert len(cut.logprobs) == len(cut.ids)


def test_an_attempt_without_a_loop_is_left_as_it_is() -> None:
    whole = attempt(tuple(range(30)), reason=FinishReason.LENGTH)
    assert without_loop(whole, first_special=TIMESTAMP) is whole


def test_a_loop_is_not_cut_within_a_character() -> None:
    """Where a character is several ids, the end of the text was shown as U+FFFD."""
    pieces = [bytes([byte]) for byte in range(256)]
    ids = tuple("네 ".encode() + "정말".encode()[2:] + "정말".encode() * 7)
    cut = without_loop(attempt(ids, reason=FinishReason.LOOP), first_special=256, pieces=pieces)
    assert b"".join(pieces[id_] for id_ in cut.ids).decode(errors="replace")[-1] in "정말"
