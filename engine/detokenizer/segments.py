"""Cuts segments where a stop string has cut their text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.protocol.transcript import Segment, TimeSource, TokenLogprob, Word, least_sure


def with_logprobs(
    segments: Sequence[Segment], ids: Sequence[int], logprobs: Sequence[float], pieces: Sequence[bytes]
) -> tuple[Segment, ...]:
    """Return segments that say how sure the model was of their tokens, which are in order in `ids`."""
    told: list[Segment] = []
    place = 0
    for segment in segments:
        chances = []
        for token in segment.tokens:
            place = ids.index(token, place) + 1
            chances.append(TokenLogprob(pieces[place - 1], logprobs[place - 1]))
        told.append(msgspec.structs.replace(segment, token_logprobs=tuple(chances)))
    return tuple(told)


def cut_segments(segments: Sequence[Segment], num_chars: int) -> tuple[Segment, ...]:
    """Return the segments that hold the first `num_chars` of their joined text, the last one shortened.

    It ends with its last word then; without words nobody knows when.
    """
    kept: list[Segment] = []
    for segment in segments:
        text = segment.text[:num_chars]
        num_chars -= len(text)
        if text == segment.text:
            kept.append(segment)
        elif text:
            kept.append(_shortened(segment, text))
    return tuple(kept)


def _shortened(segment: Segment, text: str) -> Segment:
    words = _words_within(segment.words, len(text))
    if not words:
        source = TimeSource.INTERPOLATED
        return msgspec.structs.replace(segment, text=text, words=(), time_source=source)
    source = least_sure((words[0].time_source, words[-1].time_source))
    return msgspec.structs.replace(segment, text=text, words=words, end=words[-1].end, time_source=source)


def _words_within(words: Sequence[Word], num_chars: int) -> tuple[Word, ...]:
    kept: list[Word] = []
    for word in words:
        num_chars -= len(word.text)
        if num_chars < 0:
            break
        kept.append(word)
    return tuple(kept)
