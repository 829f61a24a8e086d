"""Answers as OpenAI, SGLang, vLLM and speaches document them, and answers of nobody's."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from engine.remote.shapes import (
    Delta,
    EventLines,
    NotUnderstood,
    ServerWord,
    StreamError,
    Whole,
    language_code,
    read_answer,
    read_event,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["text", "segments", "words", "start", "end", "word"]), inner)
    ),
    max_leaves=20,
)


def _read(value: object) -> Any:
    return read_answer(json.dumps(value).encode(), "application/json")


def test_openais_verbose_json_has_segments_words_and_a_language() -> None:
    segment = {"id": 0, "seek": 0, "start": 0.5, "end": 2.0, "text": " Hello there.", "tokens": [50364, 2425]}
    likelihoods = {"temperature": 0.2, "avg_logprob": -0.3, "compression_ratio": 1.2, "no_speech_prob": 0.01}
    reply = _read(
        {
            "task": "transcribe",
            "language": "english",
            "duration": 2.5,
            "text": "Hello there.",
            "segments": [segment | likelihoods],
            "words": [
                {"word": "Hello", "start": 0.5, "end": 0.9},
                {"word": "there", "start": 1.0, "end": 2.0},
            ],
            "usage": {"type": "duration", "seconds": 3},
        }
    )
    assert (reply.text, reply.language) == ("Hello there.", "en")
    assert reply.words == (ServerWord("Hello", 0.5, 0.9), ServerWord("there", 1.0, 2.0))
    [one] = reply.segments
    assert (one.start, one.end, one.avg_logprob, one.temperature) == (0.5, 2.0, -0.3, 0.2)
    assert not one.is_suspect


def test_a_segment_that_openai_calls_failed_is_suspect() -> None:
    segment = {"start": 0, "end": 1, "text": " la la la la", "avg_logprob": -0.2, "compression_ratio": 2.6}
    assert _read({"text": "la", "segments": [segment]}).segments[0].is_suspect


def test_sglangs_language_is_not_believed_and_its_unfinished_segment_has_a_length() -> None:
    """It tells "en" unasked, and ends a last segment without an end where it began."""
    segments = [
        {"id": 0, "start": 0.0, "end": 1.0, "text": "안녕"},
        {"id": 1, "start": 1.0, "end": 0.0, "text": "끝"},
    ]
    reply = _read(
        {"task": "transcribe", "language": "en", "duration": "2.0", "text": "안녕 끝", "segments": segments}
    )
    assert reply.language is None
    assert [(one.start, one.end) for one in reply.segments] == [(0.0, 1.0), (1.0, 1.0)]


def test_words_may_lie_in_their_segments() -> None:
    """(speaches)"""
    words = [{"word": " Hi", "start": "0.1", "end": "0.4", "probability": 0.9}]
    reply = _read({"text": "Hi", "segments": [{"start": 0, "end": 1, "text": " Hi", "words": words}]})
    assert reply.segments[0].words == (ServerWord("Hi", 0.1, 0.4),)


@pytest.mark.parametrize(
    ("content", "content_type"),
    [(b"Hello\n", "text/plain; charset=utf-8"), (b'"Hello"', "application/json"), (b'{"text":"Hello"}', "")],
)
def test_bare_text_is_text(content: bytes, content_type: str) -> None:
    assert read_answer(content, content_type).text == "Hello"


@pytest.mark.parametrize("content", [b"", b"<html>", b"[1]", b"{}", b'{"text": 3}', b"[" * 100_000, b"\xff"])
def test_what_is_no_answer_is_not_understood(content: bytes) -> None:
    with pytest.raises(NotUnderstood):
        read_answer(content, "application/json")


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"type": "transcript.text.delta", "delta": " he", "logprobs": []}, Delta(" he")),
        ({"type": "transcript.text.done", "text": "he", "usage": {}}, Whole("he")),
        ({"type": "transcript.text.segment", "text": "he", "start": 0}, None),
        ({"object": "transcription.chunk", "choices": [{"delta": {"content": "he"}}]}, Delta("he")),
        ({"object": "transcription.chunk", "choices": [{"delta": {}, "finish_reason": "stop"}]}, Delta("")),
        ({"object": "transcription.chunk", "choices": [], "usage": {"total_tokens": 3}}, Delta("")),
        ({"text": "he"}, Delta("he")),
        ({"error": {"message": "no", "code": 500}}, StreamError({"message": "no", "code": 500})),
        ({"object": "error", "message": "no"}, StreamError({"object": "error", "message": "no"})),
    ],
)
def test_each_servers_events_are_understood(event: dict[str, Any], expected: object) -> None:
    assert read_event(json.dumps(event)) == expected


def test_done_ends_a_stream() -> None:
    assert read_event("[DONE]") == Whole(None)


def test_an_event_may_have_several_lines_and_comments_between() -> None:
    lines = EventLines()
    taken = [lines.take(line) for line in (": ping", "event: x", "data: {", "data: }", "", "", "data:[DONE]")]
    assert taken == [None, None, None, None, "{\n}", None, None]
    assert lines.end() == "[DONE]"


@pytest.mark.parametrize(
    ("told", "code"),
    [
        ("english", "en"),
        ("Korean", "ko"),
        ("en-US", "en"),
        ("zh", "zh"),
        ("", None),
        ("klingon", None),
        (3, None),
    ],
)
def test_languages_are_told_by_name_or_code(told: object, code: str | None) -> None:
    assert language_code(told) == code


@hypothesis.given(
    st.binary(max_size=300) | JSON.map(lambda value: json.dumps(value).encode()), st.text(max_size=9)
)
def test_any_answer_is_read_or_not_understood(content: bytes, content_type: str) -> None:
    try:
        reply = read_answer(content, content_type)
    except NotUnderstood:
        return
    assert all(0.0 <= one.start <= one.end for one in (*reply.segments, *reply.words))


@hypothesis.given(st.text(max_size=100) | JSON.map(json.dumps))
def test_any_event_is_read_or_not_understood(data: str) -> None:
    with contextlib.suppress(NotUnderstood):
        read_event(data)
