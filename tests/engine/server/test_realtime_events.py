"""What is understood of a realtime caller's events: both dialects, and nothing that makes no sense."""

from __future__ import annotations

import json
from typing import Any

import hypothesis
import hypothesis.strategies as st
import pytest

from engine.protocol.transcript import VadSettings
from engine.server.errors import ApiError
from engine.server.realtime_audio import AudioFormat
from engine.server.realtime_events import (
    DEFAULT_TURNS,
    Append,
    Misunderstood,
    RealtimeSettings,
    Update,
    read_event,
    session_object,
    updated,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
KINDS = st.sampled_from(
    [
        "session.update",
        "transcription_session.update",
        "input_audio_buffer.append",
        "input_audio_buffer.commit",
    ]
)
NAMES = st.sampled_from(
    ["type", "audio", "input", "format", "transcription", "turn_detection", "include", "model", "language",
     "prompt", "threshold", "silence_duration_ms", "eagerness", "input_audio_format", "vad"]
)  # fmt: skip
NESTED = st.recursive(JSON, lambda inner: st.dictionaries(NAMES, inner, max_size=4), max_leaves=16)


def _settings(session: dict[str, Any], *, is_old: bool = False) -> RealtimeSettings:
    return updated(RealtimeSettings(), Update(session, is_old))


def test_both_dialects_say_the_same() -> None:
    vad = {"type": "server_vad", "threshold": 0.7, "prefix_padding_ms": 100, "silence_duration_ms": 900}
    heard = {"model": "whisper-base", "language": "Korean", "prompt": "이름"}
    include = ["item.input_audio_transcription.logprobs"]
    new = {
        "type": "transcription",
        "audio": {"input": {"format": {"type": "audio/pcmu"}, "transcription": heard, "turn_detection": vad}},
        "include": include,
    }
    old = {
        "input_audio_format": "g711_ulaw",
        "input_audio_transcription": heard,
        "turn_detection": vad,
        "include": include,
    }
    settings = _settings(new)
    assert settings == _settings(old, is_old=True)
    assert settings == RealtimeSettings(
        format=AudioFormat.PCMU,
        model="whisper-base",
        language="ko",
        prompt="이름",
        turns=VadSettings(threshold=0.7, padding_s=0.1, silence_s=0.9),
        wants_logprobs=True,
    )


def test_what_is_not_named_stays_and_null_turns_detection_off() -> None:
    settings = RealtimeSettings(language="ko", format=AudioFormat.PCMA)
    update = Update({"audio": {"input": {"turn_detection": None}}}, is_old=False)
    now = updated(settings, update)
    assert (now.turns, now.language, now.format) == (None, "ko", AudioFormat.PCMA)
    again = updated(now, Update({"turn_detection": {"type": "server_vad"}}, is_old=True))
    assert again.turns == DEFAULT_TURNS


@pytest.mark.parametrize(
    "session",
    [
        {"type": "realtime"},
        {"audio": "loud"},
        {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}},
        {"audio": {"input": {"format": "mp3"}}},
        {"audio": {"input": {"turn_detection": {"type": "server_vad", "threshold": 2}}}},
        {"audio": {"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": True}}}},
        {"audio": {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "very"}}}},
        {"audio": {"input": {"turn_detection": {"type": "semantic_vad", "eagerness": ["low"]}}}},
        {"audio": {"input": {"transcription": {"model": 3}}}},
        {"audio": {"input": {"transcription": {"language": "klingon"}}}},
        {"audio": {"input": {"transcription": {"prompt": "a" * 9_000}}}},
    ],
)
def test_what_makes_no_sense_is_refused_by_name(session: dict[str, Any]) -> None:
    with pytest.raises(ApiError) as refused:
        _settings(session)
    assert refused.value.status == 400
    assert refused.value.param


@pytest.mark.parametrize("half", [r"\ud800", r"\udc00", r"\ude00\ud83d"])
def test_half_a_character_is_misunderstood(half: str) -> None:
    """It could be neither told again nor passed on to the engine."""
    with pytest.raises(Misunderstood):
        read_event(f'{{"type": "session.update", "session": {{"prompt": "{half}"}}}}')


@hypothesis.given(st.text(max_size=200) | JSON.map(json.dumps))
def test_garbage_is_misunderstood_and_nothing_else(text: str) -> None:
    try:
        read_event(text)
    except Misunderstood as error:
        assert error.error.status == 400


@hypothesis.given(KINDS, NESTED, NESTED)
def test_events_that_are_nearly_right_are_taken_or_misunderstood(kind: str, session: Any, audio: Any) -> None:
    try:
        heard, _ = read_event(json.dumps({"type": kind, "session": session, "audio": audio}))
        if isinstance(heard, Update):
            settings = updated(RealtimeSettings(), heard)
            json.dumps(session_object(settings, "sess_1", is_old=heard.is_old))
        if isinstance(heard, Append):
            assert isinstance(heard.data, bytes)
    except (Misunderstood, ApiError):
        pass
