"""Is an answer to be believed? Pure rules on its text, and what to keep when none is.

Decoding is greedy: the published recipes are, but for one server that cannot be (it asks for a
temperature of 0.01 instead). So a second attempt says something else only if it is told not to repeat
itself, and not told the context that it may have been led astray by.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.adapters.loops import find_loop, num_whole
from engine.messages import FinishReason

REPETITION_PENALTY: Final = 1.1
"""Of the second attempt: the logits of what was said already are made so many times less likely. (Keskar
et al. 2019, CTRL)"""
DOUBTFUL_NO_SPEECH: Final = 0.2
"""So probably nobody speaks: then the words of the context are no evidence that somebody said them."""
MIN_ECHO_WORDS: Final = 4
"""A context so long is not repeated word for word by chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One decoding of a chunk, complete. `ids` are without the end-of-text id."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    reason: FinishReason
    text: str
    avg_logprob: float
    """Over all ids and the one that ended the text."""
    no_speech_prob: float
    language: str | None = None
    language_probability: float | None = None
    is_echo: bool = False
    """It says the context and nothing else."""

    @property
    def objection(self) -> str | None:
        """What speaks against the attempt, in a word."""
        if self.is_echo:
            return "echo"
        return self.reason.value if self.reason in (FinishReason.LOOP, FinishReason.LENGTH) else None


def is_echo(text: str, context: str) -> bool:
    """Say whether an answer is the whole context, word for word."""
    said, given = _words(text), _words(context)
    return len(given) >= MIN_ECHO_WORDS and said == given


def is_leak(text: str, context: str, no_speech_prob: float) -> bool:
    """Say whether an answer is made of the context's words where probably nobody speaks."""
    said = _words(text)
    return bool(said) and no_speech_prob > DOUBTFUL_NO_SPEECH and set(said) <= set(_words(context))


def settle(attempts: Sequence[Attempt], pieces: Sequence[bytes]) -> Attempt:
    """Return what to keep of `attempts`: the first that nothing speaks against, else the likeliest.

    A loop is cut to two repeats; of two answers that only say the context nothing is kept. `pieces` are
    the bytes of each id of the vocabulary.
    """
    best = max(attempts, key=lambda attempt: (attempt.objection is None, attempt.avg_logprob))
    if best.is_echo:
        return silenced(best)
    return without_loop(best, pieces)


def silenced(attempt: Attempt) -> Attempt:
    """Return `attempt` with nothing said."""
    return replace(attempt, ids=(), logprobs=(), text="", reason=FinishReason.SILENCE)


def without_loop(attempt: Attempt, pieces: Sequence[bytes]) -> Attempt:
    """Return `attempt` without most of the loop it ends in; itself if there is none."""
    loop = find_loop(attempt.ids)
    if loop is None:
        return attempt
    kept = len(attempt.ids) - loop.surplus
    kept = num_whole([pieces[id_] for id_ in attempt.ids[:kept]])
    return replace(attempt, ids=attempt.ids[:kept], logprobs=attempt.logprobs[:kept])


def _words(text: str) -> list[str]:
    """Return the words of a text in small letters, without its marks."""
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()
