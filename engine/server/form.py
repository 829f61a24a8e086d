"""What the fields of a transcription request mean, each checked; pure."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from engine.protocol.transcript import DEFAULT_VAD, Options, Task, VadSettings
from engine.server.errors import ApiError
from engine.server.languages import code_of

_TEMPERATURE_STEP: Final = 0.2
_SERVER_VAD: Final = VadSettings(threshold=0.5, padding_s=0.3, silence_s=0.5)
"""OpenAI's defaults."""
_LONGEST_PROMPT: Final = 4_000
_TRUE: Final = frozenset({"true", "1"})
_FALSE: Final = frozenset({"false", "0", ""})


class ResponseFormat(StrEnum):
    """How the transcript is to be written."""

    JSON = "json"
    TEXT = "text"
    SRT = "srt"
    VERBOSE_JSON = "verbose_json"
    VTT = "vtt"


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A request that makes sense; `options` still lack the model."""

    model: str
    """As the caller calls it."""
    options: Options
    format: ResponseFormat = ResponseFormat.JSON
    is_stream: bool = False
    wants_words: bool = False
    wants_segments: bool = True
    wants_logprobs: bool = False


Fields = Mapping[str, Sequence[str]]


def read_fields(fields: Fields, task: Task) -> Asked:
    """Return what is asked for. Fields of nobody's are ignored. Raises ApiError."""
    format_ = _choice(fields, "response_format", ResponseFormat, ResponseFormat.JSON)
    granularities = _subset(fields, "timestamp_granularities", {"word", "segment"})
    wants_logprobs = bool(_subset(fields, "include", {"logprobs"}))
    is_stream = _flag(fields, "stream", default=False)
    if granularities and format_ is not ResponseFormat.VERBOSE_JSON:
        raise _bad("timestamp_granularities", "goes with response_format verbose_json only")
    if wants_logprobs and format_ is not ResponseFormat.JSON:
        raise _bad("include", "goes with response_format json only")
    if is_stream and format_ not in (ResponseFormat.JSON, ResponseFormat.TEXT):
        raise _bad("stream", "goes with response_format json or text only")
    for name in ("known_speaker_names", "known_speaker_references"):
        if fields.get(name):
            raise _bad(name, "is not supported: no model here tells speakers apart")
    return Asked(
        model=_one(fields, "model"),
        options=_options(fields, task, wants_words="word" in granularities, wants_logprobs=wants_logprobs),
        format=format_,
        is_stream=is_stream,
        wants_words="word" in granularities,
        wants_segments="segment" in granularities or not granularities,
        wants_logprobs=wants_logprobs,
    )


def _options(fields: Fields, task: Task, *, wants_words: bool, wants_logprobs: bool) -> Options:
    is_fallback = _flag(fields, "fallback", default=True)
    first = _number(fields, "temperature", 0.0, within=(0.0, 1.0))
    return Options(
        language=_language(fields),
        task=task,
        word_timestamps=wants_words,
        initial_prompt=_text(fields, "prompt"),
        hotwords=", ".join(filter(None, (word.strip() for word in fields.get("keywords", ())))) or None,
        temperatures=_ladder(first) if is_fallback else (first,),
        vad=_flag(fields, "vad", default=True),
        vad_settings=_vad_settings(fields),
        token_logprobs=wants_logprobs,
        confirms_tokens=not is_fallback,
    )


def _ladder(first: float) -> tuple[float, ...]:
    """Return the temperatures to try: from `first` up to 1."""
    num_steps = math.floor((1.0 - first) / _TEMPERATURE_STEP + 1e-6)
    return tuple(round(first + step * _TEMPERATURE_STEP, 6) for step in range(num_steps + 1))


def _language(fields: Fields) -> str | None:
    """Return the language asked for; of several that are possible, none is asked for."""
    one = _text(fields, "language")
    possible = [language for language in fields.get("languages", ()) if language.strip()]
    if one is None and len(possible) == 1:
        one = possible[0]
    if one is None or not one.strip():
        return None
    if len(one) > 40:
        raise _bad("language", "is no language")
    return code_of(one)


def _vad_settings(fields: Fields) -> VadSettings:
    """Read `chunking_strategy`: a word, an object as JSON, or an object as the fields of a form."""
    prefix = "chunking_strategy["
    given: dict[str, object] = {
        name.removeprefix(prefix).removesuffix("]"): values[-1]
        for name, values in fields.items()
        if name.startswith(prefix) and values
    }
    word = (_text(fields, "chunking_strategy") or "").strip()
    if word.startswith("{"):
        given = _json_object(word)
    elif word not in ("", "auto"):
        raise _bad("chunking_strategy", "is “auto” or an object of type server_vad")
    if not given:
        return DEFAULT_VAD
    if given.get("type") != "server_vad":
        raise _bad("chunking_strategy", "is “auto” or an object of type server_vad")
    numbers = {name: [str(value)] for name, value in given.items()}
    return VadSettings(
        threshold=_number(numbers, "threshold", _SERVER_VAD.threshold, within=(0.0, 1.0)),
        padding_s=_number(numbers, "prefix_padding_ms", 1000 * _SERVER_VAD.padding_s, within=(0, 10_000))
        / 1000,
        silence_s=_number(numbers, "silence_duration_ms", 1000 * _SERVER_VAD.silence_s, within=(0, 60_000))
        / 1000,
    )


def _json_object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise _bad("chunking_strategy", "is not JSON")
    return found


def _one(fields: Fields, name: str) -> str:
    text = _text(fields, name)
    if text is None or not text.strip():
        raise ApiError(400, f"The field “{name}” is missing.", code="missing_field", param=name)
    return text.strip()


def _text(fields: Fields, name: str) -> str | None:
    """Return the last value given, as forms have it; None where there is none."""
    values = fields.get(name)
    if not values or not values[-1]:
        return None
    if len(values[-1]) > _LONGEST_PROMPT:
        raise _bad(name, f"is longer than {_LONGEST_PROMPT} characters")
    return values[-1]


def _flag(fields: Fields, name: str, *, default: bool) -> bool:
    text = (_text(fields, name) or "").strip().lower()
    if text in _FALSE:
        return default if text == "" else False
    if text in _TRUE:
        return True
    raise _bad(name, "is true or false")


def _number(fields: Fields, name: str, default: float, *, within: tuple[float, float]) -> float:
    text = _text(fields, name)
    if text is None or not text.strip():
        return default
    try:
        number = float(text)
    except ValueError:
        raise _bad(name, "is no number") from None
    # A comparison with NaN is false, whatever it asks.
    if not within[0] <= number <= within[1]:
        raise _bad(name, f"is not between {within[0]:g} and {within[1]:g}")
    return number


def _choice(
    fields: Fields, name: str, choices: type[ResponseFormat], default: ResponseFormat
) -> ResponseFormat:
    text = (_text(fields, name) or "").strip()
    if not text:
        return default
    if text not in list(choices):
        raise _bad(name, f"is one of {', '.join(choices)}")
    return choices(text)


def _subset(fields: Fields, name: str, known: set[str]) -> set[str]:
    given = {value.strip() for text in fields.get(name, ()) for value in text.split(",") if value.strip()}
    if not given <= known:
        raise _bad(name, f"holds of {', '.join(sorted(known))} only")
    return given


def _bad(name: str, what: str) -> ApiError:
    return ApiError(400, f"The field “{name}” {what}.", code="invalid_value", param=name)
