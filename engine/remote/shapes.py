"""The shapes in which servers give text: OpenAI's, SGLang's and vLLM's, whole or as a stream; pure.

What each of them sends differs in detail: OpenAI streams `transcript.text.delta` and `.done`; SGLang and
vLLM stream chunks like those of a chat (`choices[].delta.content`) and end with `[DONE]`; segments may have
likelihoods or none, texts with or without their leading space, numbers may be written as strings.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from engine.languages import LANGUAGE_CODES, LANGUAGE_NAMES
from engine.protocol.transcript import TimeSource

_LOW_LOGPROB: Final = -1.0
_HIGH_COMPRESSION: Final = 2.4
"""Beyond these a segment is called failed by OpenAI's own documentation of `verbose_json`."""
MAX_ITEMS: Final = 10_000


class NotUnderstood(Exception):
    """An answer in none of the shapes; the text says what was missing, never what was in it."""


class ServerWord(msgspec.Struct, frozen=True):
    """A word as the server times it, seconds within the upload."""

    text: str
    start: float
    end: float


class ServerSegment(msgspec.Struct, frozen=True, kw_only=True):
    """A segment as the server cuts it, seconds within the upload."""

    text: str
    start: float
    end: float
    words: tuple[ServerWord, ...] = ()
    temperature: float = 0.0
    avg_logprob: float | None = None
    compression_ratio: float = 0.0
    no_speech_prob: float = 0.0
    source: TimeSource = TimeSource.MODEL

    @property
    def is_suspect(self) -> bool:
        is_unlikely = self.avg_logprob is not None and self.avg_logprob < _LOW_LOGPROB
        return is_unlikely or self.compression_ratio > _HIGH_COMPRESSION


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """One upload's whole answer."""

    text: str
    segments: tuple[ServerSegment, ...] = ()
    words: tuple[ServerWord, ...] = ()
    language: str | None = None
    """A code; None where the server does not say, or is not to be believed."""
    start_s: float = 0.0
    """Where in the chunk the sound of the text begins."""
    confirmed: tuple[int, ...] | None = None
    """Ids of the text's words that are confirmed already; None: those of the chunk's prefix."""


class Delta(msgspec.Struct, frozen=True):
    """More text of a streamed answer."""

    text: str


class Whole(msgspec.Struct, frozen=True):
    """The whole text at the end of a streamed answer; None where the deltas were all there is."""

    text: str | None


class StreamError(msgspec.Struct, frozen=True):
    """An error object in the middle of a stream."""

    error: Any


def read_answer(content: bytes, content_type: str) -> Reply:
    """Read an answer that came in one piece: JSON of either kind, or bare text. Raises NotUnderstood."""
    if content_type.startswith(("text/plain", "text/vtt")):
        return Reply(text=content.decode("utf-8", "replace").strip())
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        raise NotUnderstood(f"the answer ({content_type or 'no type'}) is no JSON") from None
    # Some servers send the bare text as a JSON string.
    if isinstance(answer, str):
        return Reply(text=answer.strip())
    if not isinstance(answer, dict) or not isinstance(answer.get("text"), str):
        raise NotUnderstood("the answer has no text")
    segments = tuple(_segments(answer.get("segments")))
    # One that tells no likelihoods did not look for the language either: SGLang says "en" unasked.
    is_believed = any(segment.avg_logprob is not None for segment in segments)
    return Reply(
        text=answer["text"],
        segments=segments,
        words=tuple(_words(answer.get("words"))),
        language=language_code(answer.get("language")) if is_believed else None,
    )


def read_event(data: str) -> Delta | Whole | StreamError | None:
    """Read one event of a streamed answer; None where it says nothing about text. Raises NotUnderstood."""
    if data.strip() == "[DONE]":
        return Whole(None)
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        raise NotUnderstood("an event of the stream is no JSON") from None
    if not isinstance(event, dict):
        raise NotUnderstood("an event of the stream is no object")
    if event.get("error") or event.get("type") == "error" or event.get("object") == "error":
        return StreamError(event.get("error") or event)
    match event.get("type"):
        case "transcript.text.delta" | "transcription.delta":
            return Delta(_text(event.get("delta")))
        case "transcript.text.done" | "transcription.done":
            return Whole(_text(event.get("text")))
        case str():
            # transcript.text.segment and what is still to be invented
            return None
    if isinstance(choices := event.get("choices"), list):
        return Delta("".join(_text(_content(choice)) for choice in choices))
    # speaches: whole segments or `{"text": …}` as they are recognised
    return Delta(_text(event["text"])) if isinstance(event.get("text"), str) else None


class EventLines:
    """The lines of an event stream become the data of its events (HTML standard, 9.2.6)."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def take(self, line: str) -> str | None:
        """Take a line without its end; return an event's data when it is complete."""
        if not line:
            return self.end()
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
        return None

    def end(self) -> str | None:
        """Return the data of an event that was not followed by an empty line."""
        data, self._data = self._data, []
        return "\n".join(data) if data else None


def language_code(told: Any) -> str | None:
    """Return the code of a language told as a code ("en", "en-US") or by name ("english")."""
    if not isinstance(told, str) or not told:
        return None
    name = told.strip().lower()
    code = LANGUAGE_NAMES.get(name, name.partition("-")[0].partition("_")[0])
    return code if code in LANGUAGE_CODES else None


def _segments(told: Any) -> Iterator[ServerSegment]:
    for item in _items(told):
        start, end = _number(item.get("start")), _number(item.get("end"))
        if start is None or end is None or not isinstance(item.get("text"), str):
            continue
        yield ServerSegment(
            text=item["text"],
            start=max(0.0, start),
            # SGLang ends an unfinished segment where it began.
            end=max(0.0, start, end),
            words=tuple(_words(item.get("words"))),
            temperature=_number(item.get("temperature")) or 0.0,
            avg_logprob=_number(item.get("avg_logprob")),
            compression_ratio=_number(item.get("compression_ratio")) or 0.0,
            no_speech_prob=_number(item.get("no_speech_prob")) or 0.0,
        )


def _words(told: Any) -> Iterator[ServerWord]:
    for item in _items(told):
        start, end = _number(item.get("start")), _number(item.get("end"))
        text = item.get("word", item.get("text"))
        if isinstance(text, str) and text.strip() and start is not None and end is not None:
            yield ServerWord(text.strip(), max(0.0, start), max(0.0, start, end))


def _items(told: Any) -> Iterator[dict[str, Any]]:
    if isinstance(told, list):
        yield from (item for item in told[:MAX_ITEMS] if isinstance(item, dict))


def _number(told: Any) -> float | None:
    """Return a finite number, also one written as text."""
    if isinstance(told, bool) or not isinstance(told, int | float | str):
        return None
    try:
        number = float(told)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < 1e9 else None


def _content(choice: Any) -> Any:
    delta = choice.get("delta") if isinstance(choice, dict) else None
    return delta.get("content") if isinstance(delta, dict) else None


def _text(told: Any) -> str:
    return told if isinstance(told, str) else ""
