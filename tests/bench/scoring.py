"""Error rates: words through Whisper's normalisers, characters where words are not written apart."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import jiwer
from whisper_normalizer.basic import BasicTextNormalizer
from whisper_normalizer.english import EnglishTextNormalizer

CHARACTER_LANGUAGES = frozenset({"ko", "ja", "zh"})
_english = EnglishTextNormalizer()
_basic = BasicTextNormalizer()


@dataclass(frozen=True)
class Score:
    """Errors and length of one text, in words or characters."""

    errors: int
    length: int


def units(text: str, language: str) -> list[str]:
    """Return what is counted in `text`: normalised words, or characters without spaces."""
    if language in CHARACTER_LANGUAGES:
        return list(re.sub(r"\s", "", _basic(unicodedata.normalize("NFKC", text))))
    return (_english if language == "en" else _basic)(text).split()


def score(reference: str, hypothesis: str, language: str) -> Score:
    """Count the substitutions, deletions and insertions that turn one text into the other."""
    wanted, heard = units(reference, language), units(hypothesis, language)
    if not wanted or not heard:
        return Score(len(wanted) + len(heard), len(wanted))
    result = jiwer.process_words(" ".join(wanted), " ".join(heard))
    return Score(result.substitutions + result.deletions + result.insertions, len(wanted))


def pooled(scores: Sequence[Score]) -> float:
    """Return the error rate of all texts together, in per cent."""
    length = sum(item.length for item in scores)
    return 100.0 * sum(item.errors for item in scores) / length if length else 0.0


def bootstrap_difference(ours: Sequence[Score], peers: Sequence[Score]) -> tuple[float, float]:
    """Return the 95 % interval of our rate minus the peer's, resampling texts in pairs."""
    rng = random.Random(20)
    differences = []
    for _ in range(2_000):
        picks = [rng.randrange(len(ours)) for _ in ours]
        differences.append(pooled([ours[i] for i in picks]) - pooled([peers[i] for i in picks]))
    differences.sort()
    return differences[int(0.025 * len(differences))], differences[int(0.975 * len(differences))]


def aligned_starts(
    sentences: Sequence[str], words: Sequence[tuple[str, float]], language: str
) -> list[float | None]:
    """Return when each sentence's first word was heard, or None where that word was not.

    `words` are (text, start in seconds). Sentences and words are aligned as one edit-distance path.
    """
    wanted: list[str] = []
    firsts: list[int | None] = []
    for sentence in sentences:
        tokens = units(sentence, language)
        firsts.append(len(wanted) if tokens else None)
        wanted += tokens
    heard: list[str] = []
    starts: list[float] = []
    for text, start in words:
        tokens = units(text, language)
        heard += tokens
        starts += [start] * len(tokens)
    if not heard:
        return [None] * len(sentences)
    path = jiwer.process_words(" ".join(wanted), " ".join(heard)).alignments[0]
    heard_at: dict[int, float] = {}
    for part in path:
        if part.type == "equal":
            for offset in range(part.ref_end_idx - part.ref_start_idx):
                heard_at[part.ref_start_idx + offset] = starts[part.hyp_start_idx + offset]
    return [None if first is None else heard_at.get(first) for first in firsts]
