"""A chunk that is decoded anew, for whatever reason, is told once and in the end is told."""

from __future__ import annotations

from engine.manager.assembler import Assembler, Told
from engine.messages import Finished, FinishReason, MediaChunk, RequestKey, StrOutput
from engine.protocol.events import Confirmed, Tail
from engine.protocol.transcript import Segment

FINISHED = Finished(
    reason=FinishReason.STOP,
    temperature=0.0,
    avg_logprob=-0.1,
    no_speech_prob=0.0,
    compression_ratio=1.0,
    num_samples=16_000,
)


def _assembler() -> Assembler:
    assembler = Assembler("job")
    assembler.add_chunk(
        MediaChunk(
            job="job", index=0, start_sample=0, overlap_samples=0, pcm=b"\0" * 64_000, speech_samples=9
        )
    )
    assembler.end(1, 16_000)
    return assembler


def _partial(delta: str, *, attempt: int, is_first: bool = False) -> StrOutput:
    return StrOutput(key=RequestKey("job", 0, attempt), delta=delta, is_first=is_first)


def _answer(text: str, *, attempt: int) -> StrOutput:
    segment = Segment(start=0.0, end=1.0, text=text)
    return StrOutput(key=RequestKey("job", 0, attempt), delta=text, segments=(segment,), finished=FINISHED)


def _tails(told: list[Told]) -> list[str]:
    return [event.text for event in told if isinstance(event, Tail)]


def _confirmed(told: list[Told]) -> str:
    return "".join(event.delta for event in told if isinstance(event, Confirmed))


def test_a_new_process_that_counts_its_attempts_from_zero_is_heard() -> None:
    """The answer of attempt 0 was ignored after a death in attempt 2, and the job never ended."""
    assembler = _assembler()
    assembler.answer(_partial(" wrong", attempt=2))
    assembler.restart(0)
    assert _tails(assembler.answer(_partial(" ri", attempt=0, is_first=True))) == [" ri"]
    assert _confirmed(assembler.answer(_answer(" right", attempt=0))) == " right"
    assert assembler.is_complete


def test_what_a_dead_process_said_last_is_not_told_together_with_its_successors_text() -> None:
    assembler = _assembler()
    assembler.answer(_partial(" he", attempt=0, is_first=True))
    assembler.restart(0)
    assembler.answer(_partial("llo", attempt=0))
    assert _tails(assembler.answer(_partial(" hel", attempt=0, is_first=True))) == [" hel"]


def test_a_retry_replaces_the_tail() -> None:
    assembler = _assembler()
    assembler.answer(_partial(" loop loop", attempt=0, is_first=True))
    assert _tails(assembler.answer(_partial(" no", attempt=1, is_first=True))) == [" no"]
