"""Decides where a recording is cut into chunks, from what the VAD heard; pure.

A chunk begins and ends in silence wherever there is any. The cut is the gap that is long and late:
long gaps are ends of sentences, late ones make full chunks, and a full chunk costs no more to encode
than a short one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.transcript import DEFAULT_VAD, VadSettings

_FRAMES_A_SECOND: Final = SAMPLE_RATE_HZ / FRAME_SAMPLES
_PAUSE: Final = round(6.0 * _FRAMES_A_SECOND)
"""So long a silence ends a chunk however empty it is; models invent text in longer ones."""
_SHORTEST_SILENCE: Final = 2
"""Frames; between two spans of speech."""
_SHORTEST_SPEECH: Final = round(0.2 * _FRAMES_A_SECOND)
"""A chunk with less speech than this is a click, not a word."""
_GOOD_GAP: Final = round(0.5 * _FRAMES_A_SECOND)
_OVERLAP: Final = 2 * round(1.0 * _FRAMES_A_SECOND)
"""Shared by the chunks around a forced cut: a few words, enough to find them again in both."""
_SMOOTHING: Final = 5
_QUIET: Final = 10 ** (-30 / 20)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkRange:
    """Samples `[start, end)` to decode together."""

    start: int
    end: int
    overlap: int = 0
    """How much of the start also ends the chunk before."""
    next_overlap: int = 0
    """How much of the end also begins the chunk after."""
    speech: int
    """Samples of speech, those of `overlap` not counted."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where speech is, in samples of the recording; a shorter silence than two frames is part of it."""


class Chunker:
    """Cuts one recording while it is being read. Ranges come out as soon as they are certain."""

    def __init__(
        self,
        max_chunk_s: float,
        settings: VadSettings = DEFAULT_VAD,
        *,
        overlaps: bool = True,
        opening_s: float | None = None,
    ) -> None:
        """`max_chunk_s` is the longest range a model takes; less than half a second is not to be had.

        Without `overlaps` no sample is in two ranges, and a word may be cut where speech never pauses.
        With `opening_s` the first range is no longer than that, if speech pauses so soon.
        """
        self._max = max(16, int(max_chunk_s * _FRAMES_A_SECOND))
        self._limit = self._max if opening_s is None else min(self._max, int(opening_s * _FRAMES_A_SECOND))
        """Of the next range."""
        self._overlaps = overlaps
        self._pad = min(round(settings.padding_s * _FRAMES_A_SECOND), self._max // 4)
        self._shortest_gap = max(1, round(settings.silence_s * _FRAMES_A_SECOND))
        self._speech = np.zeros(0, np.bool_)
        self._loudness = np.zeros(0, np.float32)
        self._base = 0
        """Frame that `_speech[0]` describes; everything before it is decided."""
        self._overlap = 0
        """Frames from `_base` on that the chunk before has too."""

    def feed(self, frames: Frames) -> list[ChunkRange]:
        """Take the next frames and return the ranges that are now certain."""
        self._speech = np.concatenate([self._speech, frames.has_speech])
        self._loudness = np.concatenate([self._loudness, frames.loudness])
        return list(self._ranges(is_end=False))

    def finish(self, num_samples: int) -> list[ChunkRange]:
        """Return the remaining ranges of a recording that is `num_samples` long."""
        ranges = [
            replace(
                found,
                end=min(found.end, num_samples),
                speech=min(found.speech, num_samples - found.start),
                spans=tuple((begin, min(end, num_samples)) for begin, end in found.spans),
            )
            for found in self._ranges(is_end=True)
        ]
        self._drop(len(self._speech))
        return ranges

    @property
    def nothing_until(self) -> int:
        """No range that is still to come starts before this sample."""
        return self._base * FRAME_SAMPLES

    def _ranges(self, *, is_end: bool) -> Iterator[ChunkRange]:
        while (cut := self._next_cut(is_end=is_end)) is not None:
            speech = int(self._speech[self._overlap : cut.end].sum())
            if speech >= _SHORTEST_SPEECH or self._overlap or cut.overlap:
                yield ChunkRange(
                    start=(self._base + cut.start) * FRAME_SAMPLES,
                    end=(self._base + cut.end) * FRAME_SAMPLES,
                    overlap=self._overlap * FRAME_SAMPLES,
                    next_overlap=cut.overlap * FRAME_SAMPLES,
                    speech=speech * FRAME_SAMPLES,
                    spans=self._spans(cut),
                )
                self._limit = self._max
            self._drop(cut.end - cut.overlap)
            self._overlap = cut.overlap

    def _spans(self, cut: _Cut) -> tuple[tuple[int, int], ...]:
        first = self._base + cut.start
        return tuple(
            ((first + int(begin)) * FRAME_SAMPLES, (first + int(end)) * FRAME_SAMPLES)
            for begin, end in _runs(self._speech[cut.start : cut.end], _SHORTEST_SILENCE)
        )

    def _next_cut(self, *, is_end: bool) -> _Cut | None:
        """Return the next range in frames from `_base`, or None while more must be heard."""
        runs = _runs(self._speech, self._shortest_gap)
        if not len(runs):
            # Speech that begins with the very next frame would want its padding.
            self._drop(max(0, len(self._speech) - (0 if is_end else self._pad)))
            return None
        start = 0 if self._overlap else max(0, int(runs[0, 0]) - self._pad)
        limit = start + self._limit
        last = _last_before_pause(runs)
        if runs[last, 1] <= limit:
            silent_after = len(self._speech) - runs[last, 1]
            is_closed = is_end or last < len(runs) - 1 or silent_after >= _PAUSE
            return _Cut(start, self._padded_end(runs, last, limit), 0) if is_closed else None
        gap = _best_gap(runs, start, limit)
        if gap is not None:
            return _Cut(start, self._padded_end(runs, gap, limit), 0)
        if self._limit < self._max:
            self._limit = self._max
            return self._next_cut(is_end=is_end)
        return self._forced_cut(start, limit)

    def _padded_end(self, runs: npt.NDArray[np.intp], last: int, limit: int) -> int:
        """Return the end of a chunk whose last speech is run `last`; a short gap is shared in halves."""
        end = int(runs[last, 1])
        padded = min(end + self._pad, limit, len(self._speech))
        following = int(runs[last + 1, 0]) if last + 1 < len(runs) else limit + 1
        return min(padded, (end + following + 1) // 2) if following <= limit else padded

    def _forced_cut(self, start: int, limit: int) -> _Cut:
        """Cut speech that never pauses where it is quietest, late; overlapping, unless that is silence."""
        overlap = min(_OVERLAP, self._max // 8 * 2) if self._overlaps else 0
        first, last = start + self._max * 2 // 3, limit - overlap // 2
        kernel = np.full(_SMOOTHING, 1 / _SMOOTHING, dtype=np.float32)
        smooth = np.convolve(self._loudness[start:limit], kernel, mode="same")
        quietest = first + int(smooth[first - start : last - start].argmin())
        loud = float(np.percentile(smooth, 95))
        if smooth[quietest - start] <= _QUIET * loud:
            return _Cut(start, quietest, 0)
        return _Cut(start, quietest + overlap // 2, overlap)

    def _drop(self, num_frames: int) -> None:
        self._speech = self._speech[num_frames:]
        self._loudness = self._loudness[num_frames:]
        self._base += num_frames


@dataclass(frozen=True, slots=True)
class _Cut:
    start: int
    end: int
    overlap: int


def _runs(speech: npt.NDArray[np.bool_], shortest_gap: int) -> npt.NDArray[np.intp]:
    """Return the stretches of speech as rows `[begin, end)`, gaps of fewer frames closed."""
    edges = np.flatnonzero(np.diff(speech, prepend=False, append=False)).reshape(-1, 2)
    if not len(edges):
        return edges
    is_gap = edges[1:, 0] - edges[:-1, 1] >= shortest_gap
    begins = edges[np.concatenate([[True], is_gap]), 0]
    ends = edges[np.concatenate([is_gap, [True]]), 1]
    return np.stack([begins, ends], axis=1)


def _last_before_pause(runs: npt.NDArray[np.intp]) -> int:
    pauses = np.flatnonzero(runs[1:, 0] - runs[:-1, 1] >= _PAUSE)
    return int(pauses[0]) if len(pauses) else len(runs) - 1


def _best_gap(runs: npt.NDArray[np.intp], start: int, limit: int) -> int | None:
    """Return the run after which to cut: of all but the last, the one whose gap before `limit` scores best.

    Half a second of silence is as good as half a chunk more of speech; longer is no better.
    """
    begins, ends = runs[1:, 0], runs[:-1, 1]
    is_possible = ends <= limit
    if not is_possible.any():
        return None
    lengths = np.minimum(begins, limit) - ends
    fullness = (ends - start) / (limit - start)
    score = np.minimum(lengths / _GOOD_GAP, 1.0) + 2 * fullness
    return int(np.where(is_possible, score, -np.inf).argmax())
