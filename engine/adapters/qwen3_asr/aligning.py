"""What an aligner is asked and what its answer means: words in, times of tokens out. Torch-free, pure.

The network reads each word with two marks behind it and says at each mark where in time it lies. It was
trained on words where there are spaces, and on single characters in Chinese.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.adapters.words import word_sizes
from engine.messages import Spans

ALIGNED_LANGUAGES: Final = frozenset({"de", "en", "es", "fr", "it", "ja", "ko", "pt", "ru", "yue", "zh"})
"""Codes of what it was trained on."""
_MAX_ODD_SHARE: Final = 0.5
_END_SLACK_S: Final = 0.5
MAX_SNAPPED: Final = 2
"""So many odd times in a row are taken for a neighbour's; more are spread between two."""
_HAN: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2CEAF), (0x2F800, 0x2FA1F))


@dataclass(frozen=True, slots=True)
class Unit:
    """What gets a time of its own: the letters of a word, or one Han character; tokens [first, last]."""

    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class TokenTimes:
    """When each token was said, seconds, in order; `guessed` are the indices the aligner did not say."""

    spans: Spans
    guessed: tuple[int, ...]

    def among(self, shown: Sequence[int], num_ids: int) -> TokenTimes:
        """Return these times, which are of the ids at `shown`, with those without text between them."""
        spans: list[tuple[float, float]] = []
        known = dict(zip(shown, self.spans, strict=True))
        for index in range(num_ids):
            before = spans[-1][1] if spans else self.spans[0][0]
            spans.append(known.get(index, (before, before)))
        guessed = {shown[place] for place in self.guessed} | (set(range(num_ids)) - set(shown))
        return TokenTimes(tuple(spans), tuple(sorted(guessed)))


def units_of(pieces: Sequence[bytes]) -> list[Unit]:
    """Return what to ask for in a text of tokens, none of them empty; marks and spaces are not asked for."""
    units: list[Unit] = []
    first = 0
    for size in word_sizes(pieces):
        units += _units_of_word(pieces, range(first, first + size))
        first += size
    return units


def repaired(times_ms: Sequence[float]) -> tuple[list[int], list[bool]]:
    """Return times that never go back, whole milliseconds, and which of them are not what was said.

    The longest run of times that do not go back is believed. Up to two others in a row get the time of
    the nearer believed one, more are spread evenly between those around them. (as in the reference)
    """
    if not times_ms:
        return [], []
    said = np.asarray(times_ms, dtype=np.float64)
    is_odd = np.ones(len(said), np.bool_)
    is_odd[_longest_rise(said)] = False
    fixed = said.copy()
    for first, last in np.flatnonzero(np.diff(is_odd, prepend=False, append=False)).reshape(-1, 2).tolist():
        left = fixed[first - 1] if first else fixed[last]
        right = fixed[last] if last < len(said) else left
        count = last - first
        steps = np.arange(1, count + 1)
        if count <= MAX_SNAPPED:
            fixed[first:last] = np.where(steps <= count + 1 - steps, left, right)
        else:
            fixed[first:last] = left + (right - left) / (count + 1) * steps
    return fixed.astype(np.int64).tolist(), is_odd.tolist()


def is_credible(times_ms: Sequence[float], duration_s: float) -> bool:
    """Say whether what was said of words fits together: else they were not said in this audio.

    Such an answer looks like any other. Most times must come one after the other, and in the audio.
    """
    _, is_odd = repaired(times_ms)
    last_ms = 1000 * (duration_s + _END_SLACK_S)
    num_bad = sum(odd or time > last_ms for time, odd in zip(times_ms, is_odd, strict=True))
    return num_bad <= _MAX_ODD_SHARE * len(times_ms)


def token_times(num_tokens: int, units: Sequence[Unit], times_ms: Sequence[float]) -> TokenTimes:
    """Return the times of all tokens from what was said of the units' two marks each, in milliseconds.

    Tokens of one unit share its time evenly; those of none lie where the one before ends, and are guesses.
    """
    fixed, is_odd = repaired(times_ms)
    starts: list[float | None] = [None] * num_tokens
    ends = [0.0] * num_tokens
    guessed: set[int] = set()
    for index, unit in enumerate(units):
        start_s, end_s = fixed[2 * index] / 1000, fixed[2 * index + 1] / 1000
        count = unit.last - unit.first + 1
        for place in range(count):
            token = unit.first + place
            if starts[token] is None:
                starts[token] = start_s + (end_s - start_s) * place / count
            ends[token] = start_s + (end_s - start_s) * (place + 1) / count
            if is_odd[2 * index] or is_odd[2 * index + 1]:
                guessed.add(token)
    spans: list[tuple[float, float]] = []
    reached_s = next((start for start in starts if start is not None), 0.0)
    for token, start in enumerate(starts):
        if start is None:
            guessed.add(token)
            spans.append((reached_s, reached_s))
        else:
            spans.append((start, ends[token]))
            reached_s = ends[token]
    return TokenTimes(tuple(spans), tuple(sorted(guessed)))


def _units_of_word(pieces: Sequence[bytes], word: range) -> Iterator[Unit]:
    ends = list(accumulate(len(pieces[index]) for index in word))
    raw = b"".join(pieces[index] for index in word).decode(errors="surrogateescape")
    kept, first, last = "", 0, 0
    token = offset = 0
    for character in raw:
        size = len(character.encode(errors="surrogateescape"))
        while ends[token] <= offset:
            token += 1
        begin = word.start + token
        while ends[token] < offset + size:
            token += 1
        offset += size
        is_han = _is_han(character)
        if kept and is_han:
            yield Unit(kept, first, last)
            kept = ""
        if is_han:
            yield Unit(character, begin, word.start + token)
        elif character == "'" or unicodedata.category(character)[0] in "LN":
            first = first if kept else begin
            kept, last = kept + character, word.start + token
    if any(map(str.isalnum, kept)):
        yield Unit(kept, first, last)


def _is_han(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in _HAN)


def _longest_rise(values: npt.NDArray[np.float64]) -> list[int]:
    """Return the indices of a longest part of `values` that never falls; of several the reference's."""
    lengths = np.ones(len(values), np.int64)
    parents = np.full(len(values), -1)
    for index in range(1, len(values)):
        candidates = np.where(values[:index] <= values[index], lengths[:index], 0)
        best = int(candidates.argmax())
        if candidates[best]:
            lengths[index] = candidates[best] + 1
            parents[index] = best
    chosen: list[int] = []
    index = int(lengths.argmax())
    while index >= 0:
        chosen.append(index)
        index = int(parents[index])
    return chosen[::-1]
