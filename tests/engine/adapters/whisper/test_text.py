"""Ids become text and segments: nothing lost, times in order, ends that mean something."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.adapters.whisper.prompt import MAX_CONTEXT_IDS, build_prompt
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import Vocabulary, read_vocabulary
from engine.messages import DecodingOptions, Finished, FinishReason
from engine.protocol.transcript import Task, TimeSource

pytestmark = pytest.mark.weights


@pytest.fixture(scope="module")
def vocabulary(whisper_base: Path) -> Vocabulary:
    return read_vocabulary(whisper_base)


@pytest.fixture(scope="module")
def text(vocabulary: Vocabulary) -> WhisperText:
    return WhisperText(vocabulary)


def accepted(seconds: float, times: tuple[tuple[float, float], ...] = ()) -> Finished:
    return Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=-0.2,
        no_speech_prob=0.01,
        compression_ratio=1.2,
        num_samples=round(seconds * 16_000),
        token_times=times,
    )


def ids_of(vocabulary: Vocabulary, *parts: str | float) -> list[int]:
    """Numbers are timestamps, strings are text."""
    ids: list[int] = []
    for part in parts:
        first = vocabulary.special.first_timestamp
        ids += vocabulary.encode(part) if isinstance(part, str) else [first + round(part / 0.02)]
    return ids


def cut(text: WhisperText, ids: list[int], seconds: float) -> list[tuple[float, float, str]]:
    segments = text.segments(ids, [-0.1] * len(ids), accepted(seconds))
    return [(segment.start, segment.end, segment.text) for segment in segments]


def test_segments_end_where_a_timestamp_pair_says(vocabulary: Vocabulary, text: WhisperText) -> None:
    ids = ids_of(vocabulary, 0.0, " Hello.", 1.24, 2.0, " World.", 3.5)
    assert cut(text, ids, 10.0) == [(0.0, 1.24, " Hello."), (2.0, 3.5, " World.")]


def test_an_unterminated_segment_ends_with_the_audio(vocabulary: Vocabulary, text: WhisperText) -> None:
    ids = ids_of(vocabulary, 0.0, " Hello.", 1.24, 2.0, " World.")
    assert cut(text, ids, 9.5)[-1] == (2.0, 9.5, " World.")


def test_an_unterminated_segment_ends_with_its_last_word_where_that_is_known(
    vocabulary: Vocabulary, text: WhisperText
) -> None:
    ids = ids_of(vocabulary, 2.0, " World")
    (segment,) = text.segments(ids, [-0.1, -0.1], accepted(9.5, ((2.0, 2.0), (2.2, 2.9))))
    assert (segment.start, segment.end) == (2.2, 2.9)


def test_a_segment_behind_the_end_of_the_audio_joins_the_one_before(
    vocabulary: Vocabulary, text: WhisperText
) -> None:
    ids = ids_of(vocabulary, 0.0, " Hello.", 4.0, 4.4, " Bye.", 8.0)
    assert cut(text, ids, 4.0) == [(0.0, 4.0, " Hello. Bye.")]


def test_text_without_any_timestamp_is_one_segment(vocabulary: Vocabulary, text: WhisperText) -> None:
    assert cut(text, ids_of(vocabulary, " Hello."), 3.0) == [(0.0, 3.0, " Hello.")]


def test_timestamps_without_text_are_no_segment(vocabulary: Vocabulary, text: WhisperText) -> None:
    assert cut(text, ids_of(vocabulary, 0.0, 2.0), 3.0) == []


def test_special_tokens_are_shown_when_asked_for(vocabulary: Vocabulary, text: WhisperText) -> None:
    ids = [vocabulary.special.start, *ids_of(vocabulary, 0.0, " Hi")]
    assert text.decode([ids], skip_special=False) == ["<|startoftranscript|><|0.00|> Hi"]
    assert text.decode([ids, []], skip_special=True) == [" Hi", ""]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    # Ids 94 … 255 are single bytes, most of them parts of characters.
    st.lists(st.integers(94, 255) | st.integers(0, 50_256) | st.integers(50_364, 51_864), max_size=60),
    st.floats(0.0, 30.0),
    st.booleans(),
    st.randoms(),
)
def test_segments_of_any_ids_keep_text_and_order(
    text: WhisperText, ids: list[int], seconds: float, with_words: bool, random: Random
) -> None:
    moments = sorted(random.uniform(0.0, seconds) for _ in range(len(ids) + 1))
    times = tuple(pairwise(moments)) if with_words else ()
    segments = text.segments(ids, [-0.5] * len(ids), accepted(seconds, times))
    assert "".join(segment.text for segment in segments) == text.decode([ids], skip_special=True)[0]
    edges = [moment for segment in segments for moment in (segment.start, segment.end)]
    assert edges == sorted(edges)
    assert all(segment.start < segment.end for segment in segments)
    for segment in segments:
        if segment.words:
            assert "".join(word.text for word in segment.words) == segment.text
            assert all(word.start < word.end for word in segment.words)
            assert all(a.end <= b.start for a, b in pairwise(segment.words))


@given(ids=st.lists(st.integers(0, 60_000), max_size=40))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_pieces_joined_are_the_text(text: WhisperText, ids: list[int]) -> None:
    joined = b"".join(text.pieces(ids)).decode(errors="replace")
    assert text.decode([ids], skip_special=True) == [joined]


def test_decoding_agrees_with_the_tokenizers_library(whisper_base: Path, text: WhisperText) -> None:
    from tokenizers import Tokenizer

    reference = Tokenizer.from_file(str(whisper_base / "tokenizer.json"))
    for start in range(0, 50_257, 50):
        ids = list(range(start, min(start + 50, 50_257)))
        assert text.decode([ids], skip_special=True) == [reference.decode(ids)]


def test_a_prompt_names_language_and_task(vocabulary: Vocabulary) -> None:
    special = vocabulary.special
    options = DecodingOptions(task=Task.TRANSLATE)
    assert build_prompt(vocabulary, options, "ko") == (special.start, 50264, special.translate)


def test_an_english_only_prompt_is_the_start_alone(whisper_tiny_en: Path) -> None:
    vocabulary = read_vocabulary(whisper_tiny_en)
    assert build_prompt(vocabulary, DecodingOptions(), "en") == (vocabulary.special.start,)


def test_context_stands_before_the_start_and_is_bounded(vocabulary: Vocabulary) -> None:
    options = DecodingOptions(initial_prompt="word " * 400 + "last", hotwords="Jamak 자막")
    prompt = build_prompt(vocabulary, options, "en")
    start = prompt.index(vocabulary.special.start)
    assert prompt[0] == vocabulary.special.previous
    assert start == MAX_CONTEXT_IDS + 1
    context = b"".join(vocabulary.pieces[id_] for id_ in prompt[1:start]).decode()
    assert context.startswith(" Jamak 자막")
    assert context.endswith(" word last")


def test_times_that_the_model_did_not_give_are_interpolated(
    vocabulary: Vocabulary, text: WhisperText
) -> None:
    ids = ids_of(vocabulary, 0.0, " Hello.", 1.24, 2.0, " World.")
    segments = text.segments(ids, [-0.1] * len(ids), accepted(9.5))
    assert [segment.time_source for segment in segments] == [TimeSource.MODEL, TimeSource.INTERPOLATED]
    (bare,) = text.segments(ids_of(vocabulary, " Hello."), [-0.1] * 2, accepted(3.0))
    assert bare.time_source is TimeSource.INTERPOLATED


def test_word_times_by_attention_are_the_models(vocabulary: Vocabulary, text: WhisperText) -> None:
    ids = ids_of(vocabulary, 2.0, " World")
    (segment,) = text.segments(ids, [-0.1, -0.1], accepted(9.5, ((2.0, 2.0), (2.2, 2.9))))
    assert segment.time_source is TimeSource.MODEL
    assert [word.time_source for word in segment.words] == [TimeSource.MODEL]
