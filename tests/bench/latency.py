"""How late live text is, and how much of it is taken back: from when it was said to when it was told."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import jiwer
from scoring import units

Timed = tuple[str, float]
"""A piece of text and a time in seconds."""


def delays(spoken: Sequence[Timed], told: Sequence[Timed], language: str) -> list[float]:
    """Return how long after its end each word was told; 0 at least, words that were not told left out.

    `spoken` are words with their ends, `told` are deltas with when they came, on the same clock. Both
    are aligned as one edit-distance path over normalised words (characters in some languages).
    """
    said, said_at = _spread(spoken, language)
    heard, heard_at = _spread(told, language)
    if not said or not heard:
        return []
    path = jiwer.process_words(" ".join(said), " ".join(heard)).alignments[0]
    found = []
    for part in path:
        if part.type in ("equal", "substitute"):
            for offset in range(part.ref_end_idx - part.ref_start_idx):
                late_s = heard_at[part.hyp_start_idx + offset] - said_at[part.ref_start_idx + offset]
                found.append(max(0.0, late_s))
    return found


def num_taken_back(deltas: Sequence[Timed], tails: Sequence[Timed]) -> int:
    """Return how many characters were on the screen and had to go again; tails replace one another."""
    shown = [
        "".join(delta for delta, delta_s in deltas if delta_s <= tail_s) + tail for tail, tail_s in tails
    ]
    return sum(len(before) - num_same(before, after) for before, after in pairwise(shown))


def num_same(one: str, other: str) -> int:
    """Return how many characters both begin with."""
    pairs = zip(one, other, strict=False)
    return next((index for index, pair in enumerate(pairs) if pair[0] != pair[1]), min(len(one), len(other)))


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of all do not exceed; NaN of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def _spread(texts: Sequence[Timed], language: str) -> tuple[list[str], list[float]]:
    tokens: list[str] = []
    times: list[float] = []
    for text, time_s in texts:
        parts = units(text, language)
        tokens += parts
        times += [time_s] * len(parts)
    return tokens, times
