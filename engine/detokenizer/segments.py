"""Cuts segments where a stop string has cut their text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from engine.protocol.transcript import Segment, Word


def cut_segments(segments: Sequence[Segment], num_chars: int) -> tuple[Segment, ...]:
    """Return the segments that hold the first `num_chars` of their joined text, the last one shortened."""
    kept: list[Segment] = []
    for segment in segments:
        text = segment.text[:num_chars]
        num_chars -= len(text)
        if text == segment.text:
            kept.append(segment)
        elif text:
            words = _words_within(segment.words, len(text))
            kept.append(msgspec.structs.replace(segment, text=text, words=words))
    return tuple(kept)


def _words_within(words: Sequence[Word], num_chars: int) -> tuple[Word, ...]:
    kept: list[Word] = []
    for word in words:
        num_chars -= len(word.text)
        if num_chars < 0:
            break
        kept.append(word)
    return tuple(kept)
