"""What the fields of a form mean, and that whatever else they hold is refused with the field's name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.transcript import DEFAULT_VAD, Options, Task, VadSettings
from engine.server.errors import ApiError
from engine.server.form import Asked, ResponseFormat, read_fields

NAMES = (
    "model",
    "language",
    "languages",
    "prompt",
    "keywords",
    "response_format",
    "temperature",
    "timestamp_granularities",
    "stream",
    "include",
    "chunking_strategy",
    "chunking_strategy[type]",
    "chunking_strategy[threshold]",
    "fallback",
    "vad",
    "known_speaker_names",
    "something_else",
)


def read(**fields: str | list[str]) -> Asked:
    lists = {name: [value] if isinstance(value, str) else value for name, value in fields.items()}
    return read_fields({"model": ["whisper-1"], **lists}, Task.TRANSCRIBE)


def test_a_model_alone_is_asked_for_with_what_the_command_line_would_do() -> None:
    asked = read()
    assert asked == Asked(model="whisper-1", options=Options(), format=ResponseFormat.JSON)


def test_every_field_finds_its_option() -> None:
    asked = read(
        language="Korean",
        prompt="Names: Mina",
        keywords=["Jamak", " SGLang "],
        response_format="verbose_json",
        temperature="0.5",
        timestamp_granularities=["word", "segment"],
    )
    assert (asked.wants_words, asked.wants_segments) == (True, True)
    assert asked.options == Options(
        language="ko",
        initial_prompt="Names: Mina",
        hotwords="Jamak, SGLang",
        temperatures=(0.5, 0.7, 0.9),
        word_timestamps=True,
    )


def test_words_alone_leave_the_segments_out() -> None:
    asked = read(response_format="verbose_json", timestamp_granularities="word")
    assert (asked.wants_words, asked.wants_segments) == (True, False)


def test_without_fallback_text_is_confirmed_by_the_token() -> None:
    asked = read(stream="true", fallback="false", temperature="0.2")
    assert asked.is_stream
    assert asked.options.confirms_tokens
    assert asked.options.temperatures == (0.2,)


def test_of_several_possible_languages_none_is_insisted_on() -> None:
    assert read(languages=["en"]).options.language == "en"
    assert read(languages=["en", "ko"]).options.language is None


@pytest.mark.parametrize(
    "fields",
    [
        {"chunking_strategy": '{"type": "server_vad", "threshold": 0.7, "silence_duration_ms": 900}'},
        {
            "chunking_strategy[type]": "server_vad",
            "chunking_strategy[threshold]": "0.7",
            "chunking_strategy[silence_duration_ms]": "900",
        },
    ],
)
def test_the_voice_detector_is_set_by_an_object_in_either_form(fields: dict[str, str]) -> None:
    wanted = VadSettings(threshold=0.7, padding_s=0.3, silence_s=0.9)
    assert read(**fields).options.vad_settings == wanted


def test_auto_is_our_own_way_of_cutting() -> None:
    assert read(chunking_strategy="auto").options.vad_settings == DEFAULT_VAD


@pytest.mark.parametrize(
    ("param", "fields"),
    [
        ("model", {"model": " "}),
        ("response_format", {"response_format": "diarized_json"}),
        ("temperature", {"temperature": "nan"}),
        ("temperature", {"temperature": "1.5"}),
        ("temperature", {"temperature": "warm"}),
        ("stream", {"stream": "perhaps"}),
        ("stream", {"stream": "true", "response_format": "srt"}),
        ("timestamp_granularities", {"timestamp_granularities": "word"}),
        (
            "timestamp_granularities",
            {"timestamp_granularities": "syllable", "response_format": "verbose_json"},
        ),
        ("include", {"include": "logprobs", "response_format": "text"}),
        ("include", {"include": "everything"}),
        ("chunking_strategy", {"chunking_strategy": "{"}),
        ("chunking_strategy", {"chunking_strategy": "[1]"}),
        ("chunking_strategy", {"chunking_strategy": "semantic"}),
        ("chunking_strategy", {"chunking_strategy[type]": "client_vad"}),
        ("threshold", {"chunking_strategy": '{"type": "server_vad", "threshold": 2}'}),
        ("known_speaker_names", {"known_speaker_names": "Mina"}),
        ("prompt", {"prompt": "x" * 5000}),
        ("language", {"language": "x" * 50}),
    ],
)
def test_nonsense_is_refused_by_the_fields_name(param: str, fields: dict[str, str]) -> None:
    with pytest.raises(ApiError) as refused:
        read(**fields)
    assert (refused.value.status, refused.value.param) == (400, param)


plausible = st.sampled_from(["true", "0.5", "word", "logprobs", "json", "text", "server_vad", "auto", "en"])


@given(st.dictionaries(st.sampled_from(NAMES), st.lists(st.text() | plausible, max_size=3)))
def test_any_form_is_understood_or_refused(fields: dict[str, list[str]]) -> None:
    try:
        asked = read_fields(fields, Task.TRANSLATE)
    except ApiError as error:
        assert error.status == 400
        assert error.param
    else:
        assert asked.options.temperatures
