"""Lays text over the stretches in which speech was heard, where no model knows its times; pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final

from engine.messages import Spans
from engine.protocol.transcript import TimeSource, least_sure

_SHORTEST_PAUSE_S: Final = 0.15
_LONG_PAUSE_S: Final = 1.0
"""Longer ones are no likelier to be ends of sentences."""
_SLACK_S: Final = 0.6
_SLACK: Final = 0.3
"""The end of a sentence lies at a pause that is nearer than this, or than this part of the shorter
sentence beside it, by as much more as the pause is long; times are of speech alone."""


@dataclass(frozen=True, slots=True)
class Place:
    """A part of the text in the recording, in seconds; `source` is that of its less sure end."""

    start_s: float
    end_s: float
    source: TimeSource


def place_parts(lengths_s: Sequence[float], speech: Spans, duration_s: float) -> list[Place]:
    """Return where parts of a text lie that were said one after the other, all of it in `speech`.

    `lengths_s` is about how long each takes to say; only their ratios count. A border between two parts
    is put to a pause that is near, from where speech ends to where it begins again; else between its
    neighbours, and is a guess. Without `speech` everything is one, laid over [0, duration_s).
    """
    if not lengths_s:
        return []
    clock = _SpeechClock(speech or ((0.0, duration_s),))
    outer = TimeSource.VAD if speech else TimeSource.INTERPOLATED
    borders = [_Border(clock.spans[0][0], clock.spans[0][0], outer)]
    borders += _inner_borders(lengths_s, clock)
    borders.append(_Border(clock.spans[-1][1], clock.spans[-1][1], outer))
    return [
        Place(left.starts_s, max(left.starts_s, right.ends_s), least_sure((left.source, right.source)))
        for left, right in pairwise(borders)
    ]


@dataclass(frozen=True, slots=True)
class _Border:
    """Where one part ends and the next one starts."""

    ends_s: float
    starts_s: float
    source: TimeSource


@dataclass(frozen=True, slots=True)
class _Pause:
    """A silence between two stretches of speech, after `spoken_s` seconds of it."""

    spoken_s: float
    begin_s: float
    end_s: float


class _SpeechClock:
    """Time that goes on only while somebody speaks."""

    def __init__(self, spans: Spans) -> None:
        self.spans = spans
        self._spoken = [0.0, *accumulate(end - start for start, end in spans)]

    @property
    def total_s(self) -> float:
        return self._spoken[-1]

    def at(self, spoken_s: float) -> float:
        """Return when so much has been said, in the recording's time."""
        index = min(len(self.spans) - 1, max(0, bisect_right(self._spoken, spoken_s) - 1))
        start, end = self.spans[index]
        return min(end, start + max(0.0, spoken_s - self._spoken[index]))

    def pauses(self) -> list[_Pause]:
        pairs = zip(self._spoken[1:], self.spans, self.spans[1:], strict=False)
        pauses = [_Pause(spoken_s, left[1], right[0]) for spoken_s, left, right in pairs]
        return [pause for pause in pauses if pause.end_s - pause.begin_s >= _SHORTEST_PAUSE_S]


def _inner_borders(lengths_s: Sequence[float], clock: _SpeechClock) -> list[_Border]:
    shares = list(accumulate(max(length, 1e-6) for length in lengths_s))
    expected = [clock.total_s * share / shares[-1] for share in shares]
    chosen = _match(expected, clock.pauses())
    # Between two borders that are known the text goes on evenly.
    known = [-1, *chosen, len(expected) - 1]
    spoken = {-1: 0.0, len(expected) - 1: clock.total_s}
    spoken |= {index: pause.spoken_s for index, pause in chosen.items()}
    borders = []
    for index in range(len(expected) - 1):
        if (pause := chosen.get(index)) is not None:
            borders.append(_Border(pause.begin_s, pause.end_s, TimeSource.VAD))
            continue
        place = bisect_left(known, index)
        left, right = known[place - 1], known[place]
        before = shares[left] if left >= 0 else 0.0
        share = (shares[index] - before) / (shares[right] - before)
        time_s = clock.at(spoken[left] + share * (spoken[right] - spoken[left]))
        borders.append(_Border(time_s, time_s, TimeSource.INTERPOLATED))
    return borders


def _match(expected: Sequence[float], pauses: Sequence[_Pause]) -> dict[int, _Pause]:
    """Return a pause for those borders that have one near, none crossing; by border, in order.

    `expected` is where parts end, in seconds of speech; the last of them is the end. Maximises the sum of
    how near the pauses are and how long, by dynamic programming over (borders, pauses).
    """
    num_borders = len(expected) - 1
    best = [[0.0] * (len(pauses) + 1) for _ in range(num_borders + 1)]
    for border in range(1, num_borders + 1):
        for place, pause in enumerate(pauses, start=1):
            gain = _gain(expected, border - 1, pause)
            joined = best[border - 1][place - 1] + gain if gain > 0 else 0.0
            best[border][place] = max(best[border - 1][place], best[border][place - 1], joined)
    chosen: dict[int, _Pause] = {}
    border, place = num_borders, len(pauses)
    while border and place:
        if best[border][place] == best[border - 1][place]:
            border -= 1
        elif best[border][place] == best[border][place - 1]:
            place -= 1
        else:
            border, place = border - 1, place - 1
            chosen[border] = pauses[place]
    return dict(reversed(chosen.items()))


def _gain(expected: Sequence[float], border: int, pause: _Pause) -> float:
    """Return how good it is to end part `border` at `pause`; not above 0 where it is too far."""
    before = expected[border] - (expected[border - 1] if border else 0.0)
    after = expected[border + 1] - expected[border]
    length_s = min(pause.end_s - pause.begin_s, _LONG_PAUSE_S)
    slack_s = max(_SLACK_S, _SLACK * min(before, after)) + length_s
    distance_s = abs(expected[border] - pause.spoken_s)
    if distance_s >= slack_s:
        return 0.0
    return 1.0 - distance_s / slack_s + length_s / _LONG_PAUSE_S
