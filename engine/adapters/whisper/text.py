"""Whisper's ids as text, segments and words, for the detokenizer. Never imports torch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from engine.adapters.byte_text import ByteText
from engine.adapters.whisper.vocabulary import TIMESTAMP_STEP_S, Vocabulary
from engine.adapters.words import TimedPiece, group_words, is_cut
from engine.messages import SAMPLE_RATE_HZ, Finished
from engine.protocol.transcript import Segment, TimeSource, Word, after_move, least_sure


class WhisperText(ByteText):
    """Implements `AsrText` over a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(
            vocabulary.pieces,
            special_ids=vocabulary.special_ids,
            stop_ids=frozenset({vocabulary.special.end}),
            name=vocabulary.name,
        )
        self._vocabulary = vocabulary

    def segments(
        self, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> tuple[Segment, ...]:
        """Group all ids of an accepted attempt into segments, times in seconds within the chunk.

        The segments' texts joined are exactly the decoded text without special tokens.
        """
        duration_s = finished.num_samples / SAMPLE_RATE_HZ
        spans = _fit(list(self._spans(ids, finished)), duration_s)
        return tuple(self._segment(span, ids, logprobs, finished) for span in spans)

    def _spans(self, ids: Sequence[int], finished: Finished) -> Iterator[_Span]:
        """Cut at timestamps that follow text; a missing end is where the last word or the audio ends.

        A timestamp inside a character cuts nothing, so each part can be decoded by itself.
        """
        vocabulary = self._vocabulary
        first, start_s, text = 0, 0.0, b""
        begun = TimeSource.INTERPOLATED
        for index, (id_, piece) in enumerate(zip(ids, self.pieces(ids), strict=True)):
            text += piece
            if not vocabulary.is_timestamp(id_) or is_cut(text):
                continue
            time_s = vocabulary.timestamp_s(id_)
            if text:
                yield _Span(first, index + 1, start_s, time_s, begun)
                first, text = index + 1, b""
            start_s, begun = time_s, TimeSource.MODEL
        if text:
            times = finished.token_times
            end_s = times[len(ids) - 1][1] if times else finished.num_samples / SAMPLE_RATE_HZ
            source = begun if times else TimeSource.INTERPOLATED
            yield _Span(first, len(ids), start_s, max(end_s, start_s), source)

    def _segment(
        self, span: _Span, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> Segment:
        words = self._words(span, ids, logprobs, finished)
        return Segment(
            start=words[0].start if words else span.start_s,
            end=words[-1].end if words else span.end_s,
            text=self.text(ids[span.first : span.last]),
            words=words,
            tokens=tuple(id_ for id_ in ids[span.first : span.last] if id_ not in self.special_ids),
            time_source=least_sure((words[0].time_source, words[-1].time_source)) if words else span.source,
            temperature=finished.temperature,
            avg_logprob=finished.avg_logprob,
            compression_ratio=finished.compression_ratio,
            no_speech_prob=finished.no_speech_prob,
            is_suspect=finished.is_suspect,
        )

    def _words(
        self, span: _Span, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> tuple[Word, ...]:
        if not finished.token_times:
            return ()
        places = [i for i in range(span.first, span.last) if ids[i] not in self.special_ids]
        pieces = self.pieces([ids[place] for place in places])
        timed = [
            TimedPiece(piece, *finished.token_times[place], logprobs[place])
            for place, piece in zip(places, pieces, strict=True)
        ]
        return group_words(timed, span.start_s, span.end_s)


@dataclass(frozen=True, slots=True)
class _Span:
    """Ids [first, last), the seconds they were spoken in, and where those come from."""

    first: int
    last: int
    start_s: float
    end_s: float
    source: TimeSource


def _fit(spans: list[_Span], duration_s: float) -> list[_Span]:
    """Put spans in order inside the audio, none of zero length; what has no place joins its neighbour."""
    fitted: list[_Span] = []
    for span in spans:
        before_s = fitted[-1].end_s if fitted else 0.0
        start_s = max(before_s, min(span.start_s, duration_s))
        end_s = min(max(span.end_s, start_s + TIMESTAMP_STEP_S), duration_s)
        if end_s - start_s < TIMESTAMP_STEP_S / 2 and fitted:
            fitted[-1] = replace(fitted[-1], last=span.last)
        elif end_s - start_s < TIMESTAMP_STEP_S / 2:
            whole_s = max(duration_s, TIMESTAMP_STEP_S)
            fitted.append(replace(span, start_s=0.0, end_s=whole_s, source=TimeSource.INTERPOLATED))
        else:
            source = after_move(span.source, (span.start_s, span.end_s), (start_s, end_s))
            fitted.append(replace(span, start_s=start_s, end_s=end_s, source=source))
    return fitted
