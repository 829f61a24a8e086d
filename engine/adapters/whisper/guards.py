"""Is an attempt to be believed? Pure rules on its text and its probabilities.

The limits are the reference's (openai/whisper, transcribe.py); the loop detector is ours: a loop is the
most reported fault of every Whisper program, and waiting for its end costs the whole token budget.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from engine.adapters.loops import find_loop, num_whole
from engine.messages import FinishReason

MAX_COMPRESSION_RATIO: Final = 2.4
MIN_AVG_LOGPROB: Final = -1.0
MAX_NO_SPEECH_PROB: Final = 0.6
MIN_SURE_LOGPROB: Final = -0.6
"""What speaks against silence where `MAX_NO_SPEECH_PROB` is exceeded. The reference takes -1.0, but base
reads thanks for watching into white and pink noise at -0.7 (0.65 no speech), and speech, noisy or in seven
languages, at -0.45 or better (0.07 or less)."""
MAX_HOPELESS_NO_SPEECH_PROB: Final = 0.3
"""Enough to call silence what the guards object to at every temperature ("Music", at 0.34 and more)."""


class Verdict(StrEnum):
    """What to do with an attempt."""

    ACCEPT = "accept"
    SILENCE = "silence"
    RETRY = "retry"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One decoding of a chunk, complete. `ids` and `logprobs` are without the end-of-text token."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    reason: FinishReason
    temperature: float
    avg_logprob: float
    """Over all ids and the end-of-text token, as in the reference."""
    compression_ratio: float
    no_speech_prob: float
    language: str | None = None
    language_probability: float | None = None
    attended_s: tuple[float, ...] = ()
    token_times: tuple[tuple[float, float], ...] = ()


def judge(attempt: Attempt) -> tuple[Verdict, str]:
    """Return the verdict and, for a retry, the objection in a word."""
    objection = _objection(attempt)
    # A loop is likely by itself, so its probability does not speak against silence.
    is_sure = objection is None and attempt.avg_logprob >= MIN_SURE_LOGPROB
    if attempt.no_speech_prob > MAX_NO_SPEECH_PROB and not is_sure:
        return Verdict.SILENCE, ""
    if objection is None:
        return Verdict.ACCEPT, ""
    return Verdict.RETRY, objection


def _objection(attempt: Attempt) -> str | None:
    if attempt.reason is not FinishReason.STOP:
        return attempt.reason.value
    if attempt.compression_ratio > MAX_COMPRESSION_RATIO:
        return "repetitive"
    if attempt.avg_logprob < MIN_AVG_LOGPROB:
        return "unlikely"
    return None


def settle(attempts: Sequence[Attempt]) -> Attempt:
    """Return what to keep when the guards objected to all `attempts`: the best one, or silence."""
    best = _best_of(attempts)
    return silenced(best) if best.no_speech_prob > MAX_HOPELESS_NO_SPEECH_PROB else best


def silenced(attempt: Attempt) -> Attempt:
    """Return `attempt` with nothing said."""
    return replace(attempt, ids=(), logprobs=(), attended_s=(), token_times=(), reason=FinishReason.SILENCE)


def _best_of(attempts: Sequence[Attempt]) -> Attempt:
    """Return the most believable attempt: whole before likely."""

    def rank(attempt: Attempt) -> tuple[bool, bool, float]:
        is_whole = attempt.reason is FinishReason.STOP
        return is_whole, attempt.compression_ratio <= MAX_COMPRESSION_RATIO, attempt.avg_logprob

    return max(attempts, key=rank)


def compression_ratio(text: bytes) -> float:
    """Return how much shorter zlib makes a text; 0 for none. Repetition compresses well."""
    return len(text) / len(zlib.compress(text)) if text else 0.0


def without_loop(attempt: Attempt, first_special: int, pieces: Sequence[bytes] = ()) -> Attempt:
    """Return `attempt` with the loop it ends in said only twice; itself if there is none.

    Ids from `first_special` on are not text. (timestamps) With the `pieces` of the vocabulary, the bytes
    of each id, no character is cut.
    """
    places = [index for index, id_ in enumerate(attempt.ids) if id_ < first_special]
    loop = find_loop([attempt.ids[place] for place in places])
    if loop is None:
        return attempt
    num_text = len(places) - loop.surplus
    if pieces:
        num_text = num_whole([pieces[attempt.ids[place]] for place in places[:num_text]])
    num_ids = places[num_text - 1] + 1 if num_text else 0
    return replace(
        attempt,
        ids=attempt.ids[:num_ids],
        logprobs=attempt.logprobs[:num_ids],
        attended_s=attempt.attended_s[:num_ids],
        token_times=attempt.token_times[:num_ids],
    )
