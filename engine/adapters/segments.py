"""Makes segments of text that its model gave no segments: by sentence, with the times there are; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from engine.adapters.placing import Place, place_parts
from engine.adapters.sentences import sentences, spoken_s
from engine.adapters.words import MIN_WORD_S, TimedPiece, group_words, word_sizes
from engine.messages import SAMPLE_RATE_HZ, Finished
from engine.protocol.transcript import Segment, TimeSource, Word, least_sure

GAP_S: Final = 1.0
"""A silence between two words that ends a segment, though the sentence goes on."""


def sentence_segments(
    ids: Sequence[int], pieces: Sequence[bytes], logprobs: Sequence[float], finished: Finished
) -> tuple[Segment, ...]:
    """Return the segments of an answer, times in seconds within the chunk, in order and apart.

    `pieces` are the bytes of `ids`, empty where one is not text. Where `finished` has times of the ids,
    a segment has words and is as long as they are; else it is laid over the speech that was heard. The
    texts joined are exactly the pieces' text.
    """
    shown = [index for index, piece in enumerate(pieces) if piece]
    texts = [pieces[index] for index in shown]
    shown_ids = [ids[index] for index in shown]
    if finished.token_times:
        timed = _timed(shown, texts, logprobs, finished)
        return tuple(_segments_of_words(shown_ids, timed, finished))
    return tuple(_segments_on_speech(shown_ids, texts, finished))


def _segments_on_speech(ids: Sequence[int], texts: Sequence[bytes], finished: Finished) -> Iterator[Segment]:
    parts = sentences(texts)
    said = [_decoded(texts, part) for part in parts]
    places = place_parts([spoken_s(text) for text in said], finished.speech, _duration_s(finished))
    for part, text, place in zip(parts, said, places, strict=True):
        yield _segment(ids, part, text, place, finished)


def _segments_of_words(
    ids: Sequence[int], timed: Sequence[TimedPiece], finished: Finished
) -> Iterator[Segment]:
    texts = [piece.text for piece in timed]
    runs = [run for part in sentences(texts) for run in _runs(part, timed)]
    num_words = [len(word_sizes(texts[run.start : run.stop])) for run in runs]
    reached_s, end_s = 0.0, _duration_s(finished)
    # The words of later segments need some time before the end, too.
    word_s = min(MIN_WORD_S, end_s / max(1, sum(num_words)))
    for index, run in enumerate(runs):
        limit_s = end_s - word_s * sum(num_words[index + 1 :])
        words = group_words([timed[token] for token in run], reached_s, limit_s)
        source = least_sure((words[0].time_source, words[-1].time_source))
        place = Place(words[0].start, words[-1].end, source)
        yield _segment(ids, run, _decoded(texts, run), place, finished, words)
        reached_s = words[-1].end


def _segment(
    ids: Sequence[int],
    part: range,
    text: str,
    place: Place,
    finished: Finished,
    words: tuple[Word, ...] = (),
) -> Segment:
    return Segment(
        start=place.start_s,
        end=place.end_s,
        text=text,
        words=words,
        tokens=tuple(ids[part.start : part.stop]),
        time_source=place.source,
        temperature=finished.temperature,
        avg_logprob=finished.avg_logprob,
        compression_ratio=finished.compression_ratio,
        no_speech_prob=finished.no_speech_prob,
        is_suspect=finished.is_suspect,
    )


def _timed(
    shown: Sequence[int], texts: Sequence[bytes], logprobs: Sequence[float], finished: Finished
) -> list[TimedPiece]:
    guessed = set(finished.guessed)
    return [
        TimedPiece(
            text,
            *finished.token_times[index],
            logprobs[index],
            TimeSource.INTERPOLATED if index in guessed else finished.times_source,
        )
        for index, text in zip(shown, texts, strict=True)
    ]


def _runs(part: range, timed: Sequence[TimedPiece]) -> Iterator[range]:
    """Cut a sentence between two words that a silence lies between."""
    sizes = word_sizes([timed[index].text for index in part])
    starts = [part.start]
    for size in sizes:
        starts.append(starts[-1] + size)
    cuts = [start for start in starts[1:-1] if timed[start].start_s - timed[start - 1].end_s >= GAP_S]
    for first, last in pairwise([part.start, *cuts, part.stop]):
        yield range(first, last)


def _decoded(texts: Sequence[bytes], part: range) -> str:
    return b"".join(texts[part.start : part.stop]).decode(errors="replace")


def _duration_s(finished: Finished) -> float:
    return finished.num_samples / SAMPLE_RATE_HZ
