"""Puts the answers of a job's chunks, which come in any order, into the one order they are told in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import msgspec

from engine.manager.fitting import fit
from engine.manager.stitch import stitch
from engine.messages import SAMPLE_RATE_HZ, MediaChunk, Spans, StrOutput
from engine.protocol.events import Confirmed, SegmentDone, Tail
from engine.protocol.requests import JobId
from engine.protocol.transcript import Segment, TimeSource

Told = Confirmed | SegmentDone | Tail

_BOUNDARY_SLACK: Final = SAMPLE_RATE_HZ // 200
"""Half the shortest segment: the client's boundary went through seconds and back."""


@dataclass(slots=True)
class _Expected:
    """A chunk whose text is not told yet; samples of the recording."""

    start: int
    end: int
    next_overlap: int
    speech: Spans
    attempt: int = 0
    partial: str = ""
    segments: tuple[Segment, ...] | None = None
    """Its answer, in seconds of the recording."""


class Assembler:
    """The transcript of one job while it grows; pure, owned by the manager's loop.

    Every method returns what may now be told, in order. Late, doubled and unknown answers are ignored.
    """

    def __init__(self, job: JobId, *, resume_at_sample: int = 0) -> None:
        """Segments that start before `resume_at_sample` are not told: the client has them."""
        self._job = job
        self._resume_at = resume_at_sample
        self._expected: dict[int, _Expected] = {}
        self._front: int | None = None
        """Index of the earliest chunk that is not told; None before the first is known."""
        self._num_chunks: int | None = None
        self._num_samples = 0
        self._silent_until = 0
        self._done = resume_at_sample
        self._tail = ""

    def add_chunk(self, chunk: MediaChunk) -> list[Told]:
        """Expect an answer to `chunk`; chunks come in order, indexes before the first are taken as told."""
        if self._front is None:
            self._front = chunk.index
        self._expected[chunk.index] = _Expected(
            start=chunk.start_sample,
            end=chunk.start_sample + len(chunk.pcm) // 4,
            next_overlap=chunk.next_overlap_samples,
            speech=chunk.speech,
        )
        return []

    def answer(self, output: StrOutput) -> list[Told]:
        """Take new text of a chunk, or with `finished` its whole answer.

        Another attempt replaces the one before, and may have a lower number: a new process counts from 0.
        """
        chunk = self._expected.get(output.key.chunk)
        if chunk is None or chunk.segments is not None:
            return []
        if output.is_first or output.key.attempt != chunk.attempt:
            chunk.attempt, chunk.partial = output.key.attempt, ""
        chunk.partial += output.delta
        if output.finished is not None:
            chunk.segments = _placed(chunk, output.segments)
        return self._release()

    def restart(self, index: int) -> list[Told]:
        """Forget the unfinished text of a chunk that is sent again under the same key (its worker died)."""
        chunk = self._expected.get(index)
        if chunk is not None and chunk.segments is None:
            chunk.partial = ""
        return self._release()

    def skip(self, index: int) -> list[Told]:
        """Take "no text" for the answer to a chunk."""
        chunk = self._expected.get(index)
        if chunk is not None and chunk.segments is None:
            chunk.segments = ()
        return self._release()

    def nothing_until(self, sample: int) -> list[Told]:
        """Know that no chunk that is still to come starts before `sample`."""
        self._silent_until = max(self._silent_until, sample)
        return []

    def end(self, num_chunks: int, num_samples: int) -> list[Told]:
        """Know that the media has ended."""
        self._num_chunks = num_chunks
        self._num_samples = num_samples
        if self._front is None:
            self._front = num_chunks
        return self._release()

    @property
    def is_complete(self) -> bool:
        """The media has ended and every chunk is answered and told."""
        return self._num_chunks is not None and not self._expected

    @property
    def done_samples(self) -> int:
        """Everything before this sample is confirmed; never goes back."""
        if self.is_complete:
            return max(self._done, self._num_samples)
        return self._done if self._expected else max(self._done, self._silent_until)

    def _release(self) -> list[Told]:
        told: list[Told] = []
        while (chunk := self._take_front()) is not None:
            told += self._confirm(chunk)
        tail = self._current_tail()
        if tail != self._tail:
            self._tail = tail
            told.append(Tail(job=self._job, text=tail))
        return told

    def _take_front(self) -> _Expected | None:
        """Return the earliest chunk if it can be told now; it is then no longer expected."""
        if self._front is None:
            return None
        chunk = self._expected.get(self._front)
        if chunk is None or chunk.segments is None:
            return None
        if chunk.next_overlap and self._front + 1 != self._num_chunks:
            follower = self._expected.get(self._front + 1)
            if follower is None or follower.segments is None:
                return None
            _share(chunk, follower)
        del self._expected[self._front]
        self._front += 1
        return chunk

    def _confirm(self, chunk: _Expected) -> list[Told]:
        self._done = max(self._done, chunk.end)
        told: list[Told] = []
        start_s, end_s = chunk.start / SAMPLE_RATE_HZ, chunk.end / SAMPLE_RATE_HZ
        for segment in fit(chunk.segments or (), start_s, end_s):
            if segment.start * SAMPLE_RATE_HZ > self._resume_at - _BOUNDARY_SLACK:
                told.append(Confirmed(job=self._job, delta=segment.text))
                told.append(SegmentDone(job=self._job, segment=segment))
        return told

    def _current_tail(self) -> str:
        chunk = self._expected.get(self._front) if self._front is not None else None
        if chunk is None or chunk.start < self._resume_at:
            return ""
        if chunk.segments is not None:
            return "".join(segment.text for segment in chunk.segments)
        return chunk.partial


def _placed(chunk: _Expected, segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Return the segments that have text, in seconds of the recording, in order and within the chunk.

    An answer that has text and no segments becomes one segment over the chunk's speech.
    """
    offset_s, end_s = chunk.start / SAMPLE_RATE_HZ, chunk.end / SAMPLE_RATE_HZ
    if not segments and chunk.partial.strip():
        source = TimeSource.VAD if chunk.speech else TimeSource.INTERPOLATED
        spans = chunk.speech or ((0.0, end_s - offset_s),)
        segments = (Segment(start=spans[0][0], end=spans[-1][1], text=chunk.partial, time_source=source),)
    shifted = [_shifted(segment, offset_s) for segment in segments if segment.text.strip()]
    # Fitted before anything is known of the neighbours, so that a resumed job, which may lack them,
    # finds the same times.
    return tuple(fit(shifted, offset_s, end_s))


def _shifted(segment: Segment, offset_s: float) -> Segment:
    words = tuple(
        msgspec.structs.replace(word, start=word.start + offset_s, end=word.end + offset_s)
        for word in segment.words
    )
    return msgspec.structs.replace(
        segment, start=segment.start + offset_s, end=segment.end + offset_s, words=words
    )


def _share(chunk: _Expected, follower: _Expected) -> None:
    """Give each word of the overlap to one of the two, and each of them its own stretch of time."""
    stitched = stitch(
        chunk.segments or (),
        follower.segments or (),
        overlap_start_s=follower.start / SAMPLE_RATE_HZ,
        overlap_end_s=chunk.end / SAMPLE_RATE_HZ,
    )
    chunk.segments, follower.segments = stitched.first, stitched.second
    chunk.end = follower.start = round(stitched.cut_s * SAMPLE_RATE_HZ)
    chunk.next_overlap = 0
