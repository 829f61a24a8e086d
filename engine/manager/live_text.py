"""Confirmed pieces of a live session as the events that tell them: deltas, and segments with words; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.adapters.words import TimedPiece, group_words
from engine.manager.confirm import Piece, text_of
from engine.manager.cuts import legal_cuts
from engine.messages import SAMPLE_RATE_HZ, Finished
from engine.protocol.events import Confirmed, JobEvent, SegmentDone
from engine.protocol.requests import JobId
from engine.protocol.transcript import Segment, least_sure

GAP_SAMPLES: Final = SAMPLE_RATE_HZ
"""A silence within a segment that ends it."""
SENTENCE_SAMPLES: Final = 3 * SAMPLE_RATE_HZ
"""A segment so long ends with its sentence."""
LONG_SAMPLES: Final = 12 * SAMPLE_RATE_HZ
"""One so long ends at any word."""
SHORTEST_S: Final = 0.02
_SENTENCE_ENDS: Final = (".", "?", "!", "。", "？", "！", "…")
_CLOSING_MARKS: Final = " \"'”’»)]」』）"


@dataclass(frozen=True, slots=True)
class Quality:
    """What the last answer said about its own text."""

    temperature: float = 0.0
    avg_logprob: float = 0.0
    compression_ratio: float = 0.0
    no_speech_prob: float = 0.0
    is_suspect: bool = False

    @classmethod
    def of(cls, finished: Finished) -> Quality:
        return cls(
            temperature=finished.temperature,
            avg_logprob=finished.avg_logprob,
            compression_ratio=finished.compression_ratio,
            no_speech_prob=finished.no_speech_prob,
            is_suspect=finished.is_suspect,
        )


class LiveText:
    """The confirmed text of one session. The deltas it tells are its segments' texts, in order."""

    def __init__(self, job: JobId, first_sample: int) -> None:
        self._job = job
        self._reached_s = first_sample / SAMPLE_RATE_HZ
        self._open: list[Piece] = []
        self._text = ""
        self._quality = Quality()

    def confirm(self, pieces: Sequence[Piece], quality: Quality) -> list[JobEvent]:
        """Take confirmed pieces, which begin and end at legal cuts."""
        self._quality = quality
        told: list[JobEvent] = []
        spoken = [index for index, piece in enumerate(pieces) if not piece.is_special]
        cuts = legal_cuts([pieces[index].text for index in spoken])
        run: list[Piece] = []
        for place, index in enumerate(spoken):
            piece = pieces[index]
            is_new_segment = index > 0 and pieces[index - 1].is_special
            if cuts[place] and self._ends_before(piece, run, is_new_segment=is_new_segment):
                told += self._tell(run) + self.end_segment()
                run = []
            run.append(piece)
        return told + self._tell(run)

    def end_segment(self) -> list[JobEvent]:
        """End the segment that is open, if one is."""
        if not self._open:
            return []
        start_s = max(self._reached_s, self._open[0].start / SAMPLE_RATE_HZ)
        end_s = max(start_s + SHORTEST_S, self._open[-1].end / SAMPLE_RATE_HZ)
        words = group_words([_timed(piece) for piece in self._open], start_s, end_s)
        segment = Segment(
            start=start_s,
            end=end_s,
            text=self._text,
            words=words,
            tokens=tuple(piece.id for piece in self._open),
            time_source=least_sure((words[0].time_source, words[-1].time_source)),
            temperature=self._quality.temperature,
            avg_logprob=self._quality.avg_logprob,
            compression_ratio=self._quality.compression_ratio,
            no_speech_prob=self._quality.no_speech_prob,
            is_suspect=self._quality.is_suspect,
        )
        self._reached_s, self._open, self._text = end_s, [], ""
        return [SegmentDone(job=self._job, segment=segment)]

    def _tell(self, run: Sequence[Piece]) -> list[JobEvent]:
        if not run:
            return []
        delta = text_of(run)
        self._open += run
        self._text += delta
        end_s = max(self._reached_s, run[-1].end / SAMPLE_RATE_HZ)
        return [Confirmed(job=self._job, delta=delta, end=end_s)]

    def _ends_before(self, piece: Piece, run: Sequence[Piece], *, is_new_segment: bool) -> bool:
        """Say whether the open segment is over where `piece` begins."""
        said = [*self._open, *run]
        text = piece.text.decode(errors="replace")
        if not said or not any(char.isalnum() for char in text):
            return False
        length = said[-1].end - said[0].start
        ends_sentence = text_of(said[-3:]).rstrip(_CLOSING_MARKS).endswith(_SENTENCE_ENDS)
        return (
            is_new_segment
            or piece.start - said[-1].end >= GAP_SAMPLES
            or (ends_sentence and length >= SENTENCE_SAMPLES)
            or length >= LONG_SAMPLES
        )


def _timed(piece: Piece) -> TimedPiece:
    start_s, end_s = piece.start / SAMPLE_RATE_HZ, piece.end / SAMPLE_RATE_HZ
    return TimedPiece(piece.text, start_s, end_s, piece.logprob, piece.time_source)
