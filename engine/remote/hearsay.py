"""From what a server answers to what a chunk's answer is made of: timed words, ids, segments; pure.

A server tells text, not tokens. Its words stand for them: the id of a word is computed from its
letters alone, so that the same word heard twice has the same id, whatever marks stand around it.
"""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from engine.adapters.words import TimedPiece, group_words, is_spaceless
from engine.messages import Chunk, Finished, FinishReason, Spans
from engine.protocol.transcript import Segment, TimeSource, Word
from engine.remote.shapes import Reply, ServerSegment, ServerWord

LOGPROB: Final = -0.25
"""Taken for a word's where the server tells none."""
SEARCH_CHARS: Final = 60
"""So far ahead a server's word is looked for in the text."""


class Placed(msgspec.Struct, frozen=True):
    """A stretch of text with where its characters are in time."""

    text: str
    start: float
    end: float
    words: tuple[Word, ...]
    about: ServerSegment


def place(reply: Reply, duration_s: float, speech: Spans) -> list[Placed]:
    """Return the reply's text in time order, each stretch with a leading space where its script has spaces.

    Where the server times nothing, the text lies over the `speech` that was sent, or all of it.
    """
    told = _complete(reply, duration_s)
    spans: Spans = ()
    if not told:
        spans = _spans_within(speech or ((0.0, duration_s),), reply.start_s, duration_s)
        source = TimeSource.VAD if speech else TimeSource.INTERPOLATED
        told = (ServerSegment(text=reply.text, start=spans[0][0], end=spans[-1][1], source=source),)
    words = list(reply.words)
    placed: list[Placed] = []
    for segment in told:
        text = spaced(segment.text)
        if not text.strip():
            continue
        start = min(segment.start, duration_s)
        end = min(max(segment.end, start), duration_s)
        known = segment.words or _words_of(segment, words)
        pieces = _pieces(text, known, _spans_within(spans, start, end), segment.avg_logprob)
        placed.append(Placed(text, start, end, group_words(pieces, start, max(end, start + 0.02)), segment))
    return placed


def segments_of(placed: Sequence[Placed], *, with_words: bool) -> tuple[Segment, ...]:
    """Return what is told of a file's chunk."""
    return tuple(
        Segment(
            start=one.start,
            end=max(one.end, one.start + 0.02),
            text=one.text,
            words=one.words if with_words else (),
            time_source=one.about.source,
            temperature=one.about.temperature,
            avg_logprob=one.about.avg_logprob or 0.0,
            compression_ratio=one.about.compression_ratio,
            no_speech_prob=one.about.no_speech_prob,
            is_suspect=one.about.is_suspect,
        )
        for one in placed
    )


def finished(placed: Sequence[Placed], words: Sequence[Word], chunk: Chunk) -> Finished:
    """Return how an answer ended; `words` are those that are told as tokens."""
    about = [one.about for one in placed]
    known = [one.avg_logprob for one in about if one.avg_logprob is not None]
    guessed = tuple(index for index, word in enumerate(words) if not word.time_source.is_measured)
    return Finished(
        reason=FinishReason.STOP if placed else FinishReason.SILENCE,
        temperature=max((one.temperature for one in about), default=0.0),
        avg_logprob=sum(known) / len(known) if known else LOGPROB,
        no_speech_prob=max((one.no_speech_prob for one in about), default=0.0),
        compression_ratio=max((one.compression_ratio for one in about), default=0.0),
        num_samples=chunk.num_samples,
        token_times=tuple((word.start, word.end) for word in words),
        guessed=guessed,
        speech=chunk.speech,
        is_suspect=any(one.is_suspect for one in about),
    )


def word_id(text: str) -> int:
    """Return the id of a word: of its letters and digits, or of the mark it is."""
    letters = "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())
    # 31 bits, so that it fits whatever an id is kept in.
    return zlib.crc32((letters or text.strip()).encode()) & 0x7FFFFFFF


def behind_prefix(words: Sequence[Word], prefix: Sequence[int]) -> Sequence[Word]:
    """Return the words behind those that are confirmed already.

    A server cannot be told to go on behind a text: it hears the whole window anew, and may hear its
    beginning a little differently. What is taken for the confirmed part is the beginning that is
    nearest to it, counted in words to be put in, left out or exchanged (Levenshtein 1965); of
    several, one that ends with the same word, else the one as long as it is.
    """
    heard = [word_id(word.text) for word in words]
    row = list(range(len(heard) + 1))
    for known in prefix:
        last, row[0] = row[0], row[0] + 1
        for index, one in enumerate(heard, start=1):
            last, row[index] = (
                row[index],
                min(row[index] + 1, row[index - 1] + 1, last + (known != one)),
            )

    def rank(count: int) -> tuple[int, bool, int]:
        ends_alike = bool(count) and bool(prefix) and heard[count - 1] == prefix[-1]
        return row[count], not ends_alike, abs(count - len(prefix))

    return words[min(range(len(row)), key=rank) :]


def newly_confirmed(known: Sequence[int], prefix: Sequence[int]) -> Sequence[int]:
    """Return what `prefix`, whose window may have moved on meanwhile, adds to all that is `known`."""
    for count in range(min(len(known), len(prefix)), 0, -1):
        if tuple(known[-count:]) == tuple(prefix[:count]):
            return prefix[count:]
    return prefix


def spaced(text: str) -> str:
    """Return text as a model writes it behind other text: with a space in front, if its script has any."""
    text = text.strip()
    return text if not text or is_spaceless(text[0]) else " " + text


def _complete(reply: Reply, duration_s: float) -> tuple[ServerSegment, ...]:
    """Return segments that hold all of the text; none where they tell another one.

    vLLM has left away what stands behind the last whole segment (vllm#58029).
    """
    letters = _letters("".join(segment.text for segment in reply.segments))
    whole = _letters(reply.text)
    if not letters or not (letters.startswith(whole) or whole.startswith(letters)):
        return ()
    if len(whole) <= len(letters):
        return reply.segments
    last_s = reply.segments[-1].end
    rest = ServerSegment(
        text=_behind_letters(reply.text, len(letters)),
        start=last_s,
        end=duration_s,
        source=TimeSource.INTERPOLATED,
    )
    return (*reply.segments, rest)


def _behind_letters(text: str, num_letters: int) -> str:
    seen = 0
    for index, char in enumerate(text):
        if seen == num_letters and not char.isspace() and (char.isalnum() or not text[index - 1].isalnum()):
            return text[index:]
        seen += len(_letters(char))
    return ""


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _words_of(segment: ServerSegment, words: list[ServerWord]) -> tuple[ServerWord, ...]:
    """Take the words off the front of `words` that begin before a segment's end."""
    count = 0
    while count < len(words) and (words[count].start + words[count].end) / 2 < segment.end:
        count += 1
    own, words[:count] = tuple(words[:count]), []
    return own


def _spans_within(spans: Spans, start: float, end: float) -> Spans:
    kept = tuple((max(low, start), min(high, end)) for low, high in spans if low < end and high > start)
    return kept or ((start, end),)


def _pieces(text: str, words: Sequence[ServerWord], spans: Spans, logprob: float | None) -> list[TimedPiece]:
    """Return the characters of a text with their times: the server's where it has any, else in between."""
    times = list(_known_times(text, words)) if words else [None] * len(text)
    guesses = _between(times, spans)
    likelihood = LOGPROB if logprob is None else logprob
    return [
        TimedPiece(
            char.encode("utf-8", "replace"),
            *(known or guess),
            likelihood,
            TimeSource.MODEL if known else TimeSource.INTERPOLATED,
        )
        for char, known, guess in zip(text, times, guesses, strict=True)
    ]


def _known_times(text: str, words: Sequence[ServerWord]) -> Iterator[tuple[float, float] | None]:
    """Find the words in the text, in order; each of its characters has the word's time."""
    lowered = [char.casefold() for char in text]
    at = 0
    for word in words:
        wanted = [char.casefold() for char in word.text]
        found = _find(lowered, wanted, at)
        if found is None:
            continue
        yield from [None] * (found - at)
        yield from [(word.start, word.end)] * len(wanted)
        at = found + len(wanted)
    yield from [None] * (len(text) - at)


def _find(text: list[str], wanted: list[str], at: int) -> int | None:
    last = min(len(text) - len(wanted), at + SEARCH_CHARS)
    return next((place for place in range(at, last + 1) if text[place : place + len(wanted)] == wanted), None)


def _between(times: Sequence[tuple[float, float] | None], spans: Spans) -> list[tuple[float, float]]:
    """Return a time for every character: those unknown share the sound between their neighbours."""
    guesses: list[tuple[float, float]] = []
    index = 0
    while index < len(times):
        known = times[index]
        if known is not None:
            guesses.append(known)
            index += 1
            continue
        count = next((n for n, one in enumerate(times[index:]) if one is not None), len(times) - index)
        before = guesses[-1][1] if guesses else spans[0][0]
        behind = times[index + count] if index + count < len(times) else None
        low, high = before, max(before, behind[0] if behind else spans[-1][1])
        guesses += _shared(_spans_within(spans, low, high), count)
        index += count
    return guesses


def _shared(spans: Spans, count: int) -> Iterator[tuple[float, float]]:
    """Lay `count` characters over the spans, each as long as the next."""
    total_s = sum(end - start for start, end in spans)

    def at(share: float) -> float:
        left_s = share * total_s
        for start, end in spans:
            if left_s <= end - start:
                return start + left_s
            left_s -= end - start
        return spans[-1][1]

    return ((at(index / count), at((index + 1) / count)) for index in range(count))
