"""Puts the answers of a job's chunks, which come in any order, into the one order they are told in."""

from __future__ import annotations

from collections.abc import Sequence
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

FRAMES_PER_SECOND: Final = 100
"""Of `Segment.seek`."""
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

    def __init__(self, job: JobId, *, resume_at_sample: int = 0, confirms_tokens: bool = False) -> None:
        """Segments that start before `resume_at_sample` are not told: the client has them.

        With `confirms_tokens` the earliest chunk's text is confirmed as it comes; no chunks overlap then.
        """
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
        self._confirms_tokens = confirms_tokens
        self._confirmed = ""
        """Of the front chunk, before its answer is whole."""
        self.is_contradicted = False
        """A chunk that was decoded anew says something else than was confirmed of it."""

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
            # Blanks that were confirmed already must be in some segment.
            segments = _with_blanks(output.segments) if self._confirms_tokens else output.segments
            chunk.segments = _placed(chunk, segments)
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
        if self._confirms_tokens:
            return told + self._confirm_partial()
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
                told += self._confirm_text(segment.text)
                told.append(SegmentDone(job=self._job, segment=segment))
        self.is_contradicted = self.is_contradicted or bool(self._confirmed)
        return told

    def _confirm_text(self, text: str) -> list[Told]:
        """Confirm what was not confirmed before of `text`, with which the front chunk goes on."""
        known = min(len(text), len(self._confirmed))
        if text[:known] != self._confirmed[:known]:
            return []
        self._confirmed = self._confirmed[known:]
        return [Confirmed(job=self._job, delta=text[known:])] if text[known:] else []

    def _confirm_partial(self) -> list[Told]:
        """Confirm what is new of the front chunk; a chunk decoded anew repeats first what is known."""
        chunk = self._expected.get(self._front) if self._front is not None else None
        if chunk is None or chunk.start < self._resume_at or not chunk.partial.strip():
            return []
        known = min(len(chunk.partial), len(self._confirmed))
        if chunk.partial[:known] != self._confirmed[:known]:
            self.is_contradicted = True
            return []
        delta, self._confirmed = chunk.partial[known:], max(chunk.partial, self._confirmed, key=len)
        return [Confirmed(job=self._job, delta=delta)] if delta else []

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


def _with_blanks(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """Return `segments` with the blanks of those that are nothing else joined to their neighbours."""
    spoken: list[Segment] = []
    blank = ""
    for segment in segments:
        if segment.text.strip():
            spoken.append(msgspec.structs.replace(segment, text=blank + segment.text) if blank else segment)
            blank = ""
        elif spoken:
            spoken[-1] = msgspec.structs.replace(spoken[-1], text=spoken[-1].text + segment.text)
        else:
            blank += segment.text
    return tuple(spoken)


def _shifted(segment: Segment, offset_s: float) -> Segment:
    words = tuple(
        msgspec.structs.replace(word, start=word.start + offset_s, end=word.end + offset_s)
        for word in segment.words
    )
    return msgspec.structs.replace(
        segment,
        start=segment.start + offset_s,
        end=segment.end + offset_s,
        words=words,
        seek=round(offset_s * FRAMES_PER_SECOND),
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
