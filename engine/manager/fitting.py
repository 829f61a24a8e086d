"""Makes times follow one another: no span overlaps the next, none is empty, none leaves its range; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from engine.protocol.transcript import Segment, after_move

SHORTEST_S: Final = 0.01


def fit(segments: Sequence[Segment], start_s: float, end_s: float) -> list[Segment]:
    """Return `segments`, which are in order of text, with times in order within `[start_s, end_s]`.

    Times that already are stay what they were, to the millisecond; those that are moved are no longer
    measured. Words follow one another within their segment.
    """
    spans = squeeze([(segment.start, segment.end) for segment in segments], start_s, end_s)
    return [_fitted(segment, *span) for segment, span in zip(segments, spans, strict=True)]


def squeeze(spans: Sequence[tuple[float, float]], low: float, high: float) -> list[tuple[float, float]]:
    """Return spans `(start, end)` that do not overlap, within `[low, high]`, none of them empty.

    Pushes forward what begins too early, then back what ends too late. Where there is no room for
    `SHORTEST_S` each, they share what room there is.
    """
    shortest = min(SHORTEST_S, max(0.0, high - low) / max(1, len(spans)))
    pushed = []
    reached = low
    for start, end in spans:
        start = max(start, reached)
        reached = max(end, start + shortest)
        pushed.append((start, reached))
    squeezed = []
    reached = high
    for start, end in reversed(pushed):
        end = min(end, reached)
        reached = max(low, min(start, end - shortest))
        squeezed.append((round(reached, 3), round(end, 3)))
    return squeezed[::-1]


def _fitted(segment: Segment, start: float, end: float) -> Segment:
    spans = squeeze([(word.start, word.end) for word in segment.words], start, end)
    words = tuple(
        msgspec.structs.replace(
            word,
            start=span[0],
            end=span[1],
            time_source=after_move(word.time_source, (word.start, word.end), span),
        )
        for word, span in zip(segment.words, spans, strict=True)
    )
    return msgspec.structs.replace(
        segment,
        start=start,
        end=end,
        words=words,
        time_source=after_move(segment.time_source, (segment.start, segment.end), (start, end)),
    )
