"""Which chunk finds out the language, and when the others may follow."""

from __future__ import annotations

from engine.manager.language_gate import LanguageGate
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, FinishReason, RequestKey, StrOutput


def chunk(index: int) -> Chunk:
    return Chunk(
        key=RequestKey("j", index),
        kind=ChunkKind.FILE,
        start_sample=0,
        pcm=bytes(8),
        options=DecodingOptions(),
    )


def answer(index: int, language: str | None, probability: float, *, is_over: bool = False) -> StrOutput:
    finished = Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=0.0,
        no_speech_prob=0.0,
        compression_ratio=1.0,
        num_samples=2,
    )
    return StrOutput(
        key=RequestKey("j", index),
        delta="",
        language=language,
        language_probability=probability,
        finished=finished if is_over else None,
    )


def indices(chunks: list[Chunk]) -> list[int]:
    return [item.key.chunk for item in chunks]


def gate_with(*chunks: int, language: str | None = None) -> LanguageGate:
    gate = LanguageGate(language)
    for index in chunks:
        gate.push(chunk(index))
    return gate


def test_a_chosen_language_lets_everything_through_with_it() -> None:
    gate = gate_with(0, 1, language="ko")
    through = gate.take()
    assert indices(through) == [0, 1]
    assert {item.options.language for item in through} == {"ko"}


def test_one_scout_goes_ahead_and_the_rest_follow_in_its_language() -> None:
    gate = gate_with(0, 1, 2)
    scouts = gate.take()
    assert indices(scouts) == [0]
    assert scouts[0].options.language is None
    assert gate.take() == []
    assert gate.num_held_bytes == 16
    assert gate.heard(answer(0, "de", 0.9), has_text=False)
    followers = gate.take()
    assert indices(followers) == [1, 2]
    assert {item.options.language for item in followers} == {"de"}
    assert gate.num_held_bytes == 0
    assert gate.probability == 0.9


def test_a_doubtful_language_counts_only_when_text_came_of_it() -> None:
    gate = gate_with(0, 1)
    gate.take()
    assert not gate.heard(answer(0, "cy", 0.3), has_text=True)
    assert gate.heard(answer(0, "cy", 0.3, is_over=True), has_text=True)
    assert gate.language == "cy"


def test_a_scout_that_was_silence_sends_the_next_one() -> None:
    gate = gate_with(0, 1)
    gate.take()
    assert not gate.heard(answer(0, "nn", 0.3, is_over=True), has_text=False)
    assert gate.language is None
    assert indices(gate.take()) == [1]


def test_what_other_chunks_say_of_the_language_is_not_heard() -> None:
    gate = gate_with(0, 1)
    gate.take()
    assert not gate.heard(answer(1, "fr", 0.99), has_text=True)
    assert gate.heard(answer(0, "de", 0.99), has_text=True)
    assert not gate.heard(answer(0, "fr", 0.99), has_text=True)
    assert gate.language == "de"


def test_a_model_that_never_tells_its_language_is_not_asked_one_chunk_at_a_time() -> None:
    """A server that answers with bare text would hold a long file to one upload after another for ever."""
    gate = gate_with(0, 1, 2)
    assert indices(gate.take()) == [0]
    assert not gate.heard(answer(0, None, 0.0, is_over=True), has_text=True)
    through = gate.take()
    assert indices(through) == [1, 2]
    assert {item.options.language for item in through} == {None}
    assert gate.language is None


def test_a_silent_scout_that_tells_no_language_says_nothing_about_the_model() -> None:
    gate = gate_with(0, 1, 2)
    gate.take()
    gate.heard(answer(0, None, 0.0, is_over=True), has_text=False)
    assert indices(gate.take()) == [1]
