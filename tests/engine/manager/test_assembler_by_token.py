"""Text that is confirmed while it is generated: append-only, and exactly the segments' text in the end."""

from __future__ import annotations

from engine.manager.assembler import Assembler
from engine.messages import Finished, FinishReason, MediaChunk, RequestKey, StrOutput
from engine.protocol.events import Confirmed, SegmentDone
from engine.protocol.transcript import Segment

JOB = "job"
SECOND = 16_000


def make_assembler(*starts_s: int) -> Assembler:
    """Return one that expects chunks of two seconds which begin there."""
    assembler = Assembler(JOB, confirms_tokens=True)
    for index, start_s in enumerate(starts_s):
        assembler.add_chunk(
            MediaChunk(
                job=JOB,
                index=index,
                start_sample=start_s * SECOND,
                overlap_samples=0,
                pcm=bytes(4 * 2 * SECOND),
                speech_samples=2 * SECOND,
            )
        )
    return assembler


def partial(chunk: int, delta: str, *, is_first: bool = False) -> StrOutput:
    return StrOutput(key=RequestKey(JOB, chunk), delta=delta, is_first=is_first)


def last(chunk: int, delta: str, *texts: str, is_first: bool = False) -> StrOutput:
    finished = Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=-0.1,
        no_speech_prob=0.0,
        compression_ratio=1.0,
        num_samples=2 * SECOND,
    )
    segments = tuple(
        Segment(start=0.5 * place, end=0.5 * place + 0.5, text=text) for place, text in enumerate(texts)
    )
    return StrOutput(
        key=RequestKey(JOB, chunk), delta=delta, is_first=is_first, segments=segments, finished=finished
    )


def confirmed(told: list[object]) -> str:
    return "".join(event.delta for event in told if isinstance(event, Confirmed))


def spoken(told: list[object]) -> list[str]:
    return [event.segment.text for event in told if isinstance(event, SegmentDone)]


def test_each_token_of_the_earliest_chunk_is_confirmed_at_once() -> None:
    assembler = make_assembler(0, 2)
    assert assembler.answer(partial(0, " Hel", is_first=True)) == [Confirmed(job=JOB, delta=" Hel")]
    assert assembler.answer(partial(1, " late", is_first=True)) == []
    told = assembler.answer(last(0, "lo.", " Hello."))
    assert confirmed(told) == "lo. late"
    assert spoken(told) == [" Hello."]


def test_the_deltas_joined_are_the_segments_joined_blanks_included() -> None:
    assembler = make_assembler(0)
    told = assembler.answer(partial(0, " ", is_first=True))
    assert told == []
    told += assembler.answer(partial(0, " One. \n"))
    told += assembler.answer(last(0, " Two. ", " ", " One.", " \n", " Two.", " "))
    told += assembler.end(1, 2 * SECOND)
    assert confirmed(told) == "".join(spoken(told)) == "  One. \n Two. "
    assert assembler.is_complete and not assembler.is_contradicted


def test_a_chunk_that_is_decoded_anew_repeats_what_is_known_unheard() -> None:
    assembler = make_assembler(0)
    told = assembler.answer(partial(0, " Hello", is_first=True))
    told += assembler.restart(0)
    told += assembler.answer(partial(0, " He", is_first=True))
    told += assembler.answer(partial(0, "llo wor"))
    told += assembler.answer(last(0, "ld.", " Hello world."))
    assert confirmed(told) == " Hello world."
    assert not assembler.is_contradicted


def test_another_text_after_a_death_is_noticed_before_it_is_told() -> None:
    assembler = make_assembler(0)
    assembler.answer(partial(0, " Hello", is_first=True))
    assembler.restart(0)
    assert assembler.answer(partial(0, " Hallo", is_first=True)) == []
    assert assembler.is_contradicted


def test_silence_after_text_was_told_is_noticed() -> None:
    assembler = make_assembler(0)
    assembler.answer(partial(0, " Thanks", is_first=True))
    assembler.restart(0)
    assembler.answer(last(0, "", is_first=True))
    assert assembler.is_contradicted
