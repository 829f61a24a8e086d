"""One upload of one chunk: the form that is sent, and the answer in whatever shape it comes."""

from __future__ import annotations

import io
import re
import wave
from collections.abc import Callable
from enum import Enum
from typing import Final

import httpx2
import msgspec
import numpy as np

from engine.messages import SAMPLE_RATE_HZ, Chunk, ChunkKind
from engine.protocol.elsewhere import Elsewhere
from engine.protocol.transcript import Task
from engine.remote.shapes import (
    Delta,
    EventLines,
    NotUnderstood,
    Reply,
    StreamError,
    Whole,
    language_code,
    read_answer,
    read_event,
)
from engine.servers import (
    LONGEST_ANSWER_BYTES,
    Trouble,
    not_understood,
    trouble_in_stream,
    trouble_of_status,
)

_QWEN_PREFIX: Final = re.compile(r"^\s*language\s+(\S+?)\s*<asr_text>")
"""vLLM and SGLang have let Qwen3-ASR's own notation through."""


class Form(Enum):
    """What is asked for, the best first; a server that refuses one is asked for the next."""

    VERBOSE = 1
    """Segments, words, likelihoods."""
    STREAM = 2
    """Text while it is recognised."""
    PLAIN = 3

    @property
    def next(self) -> Form | None:
        return None if self is Form.PLAIN else Form(self.value + 1)


OnDelta = Callable[[str], None]


async def upload(
    client: httpx2.AsyncClient, server: Elsewhere, chunk: Chunk, form: Form, on_delta: OnDelta
) -> Reply:
    """Send a chunk and return what was heard. `server.model` is the model to name.

    Raises Trouble, httpx2.HTTPError.
    """
    is_translation = chunk.options.task is Task.TRANSLATE
    path = "/audio/translations" if is_translation else "/audio/transcriptions"
    request = client.stream(
        "POST",
        server.server + path,
        data=_fields(chunk, server.model, form),
        files={"file": ("audio.wav", wav(chunk.pcm), "audio/wav")},
    )
    async with request as response:
        content_type = response.headers.get("content-type", "").lower()
        if response.status_code != 200:
            content = await _read(response, server)
            raise trouble_of_status(server, response.status_code, response.headers, content)
        try:
            if content_type.startswith("text/event-stream"):
                return _tidy(await _read_stream(response, server, on_delta))
            return _tidy(read_answer(await _read(response, server), content_type))
        except NotUnderstood as error:
            raise not_understood(server, str(error)) from error


def wav(pcm: bytes) -> bytes:
    """Return float32 samples as a 16-bit WAV file at `SAMPLE_RATE_HZ`."""
    samples = np.frombuffer(pcm, dtype="<f4")
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes(pcm16(samples))
    return buffer.getvalue()


def pcm16(samples: np.ndarray) -> bytes:
    """Return float samples as 16-bit ones, little-endian."""
    return bytes(np.rint(np.clip(samples, -1.0, 1.0) * 32767.0).astype("<i2").tobytes())


def _fields(chunk: Chunk, model: str, form: Form) -> dict[str, str | list[str]]:
    options = chunk.options
    fields: dict[str, str | list[str]] = {"model": model, "response_format": "json"}
    if form is Form.VERBOSE:
        fields["response_format"] = "verbose_json"
        fields["timestamp_granularities[]"] = ["segment", "word"]
    elif form is Form.STREAM and chunk.kind is not ChunkKind.INTERIM:
        fields["stream"] = "true"
    if options.language is not None and options.task is Task.TRANSCRIBE:
        fields["language"] = options.language
    prompt = " ".join(filter(None, (options.initial_prompt, options.hotwords)))
    if prompt:
        fields["prompt"] = prompt
    if options.temperatures[:1] not in ((), (0.0,)):
        fields["temperature"] = str(options.temperatures[0])
    return fields


async def _read(response: httpx2.Response, server: Elsewhere) -> bytes:
    """Read an answer that is not endless. Raises Trouble."""
    content = bytearray()
    async for part in response.aiter_bytes():
        content += part
        if len(content) > LONGEST_ANSWER_BYTES:
            raise not_understood(server, "the answer does not end")
    return bytes(content)


async def _read_stream(response: httpx2.Response, server: Elsewhere, on_delta: OnDelta) -> Reply:
    """Read events until the text is whole. Raises Trouble, NotUnderstood."""
    text, size, lines = "", 0, EventLines()
    is_whole = False
    async for line in response.aiter_lines():
        size += len(line)
        if size > LONGEST_ANSWER_BYTES:
            raise not_understood(server, "the stream does not end")
        if (data := lines.take(line)) is None:
            continue
        match read_event(data):
            case Delta(text=delta):
                text += delta
                on_delta(delta)
            case Whole(text=whole):
                text = text if whole is None else whole
                is_whole = True
            case StreamError(error=error):
                raise trouble_in_stream(server, error)
            case None:
                pass
    if not is_whole:
        # Cut off, or a server that ends without saying so: better heard again than half.
        raise Trouble(failure=not_understood(server, "the stream ended early").failure, is_passing=True)
    return Reply(text=text)


def _tidy(reply: Reply) -> Reply:
    """Take the model's own notation off the text."""
    found = _QWEN_PREFIX.match(reply.text)
    if found is None:
        return reply
    segments = tuple(
        msgspec.structs.replace(segment, text=_QWEN_PREFIX.sub("", segment.text))
        for segment in reply.segments
    )
    return msgspec.structs.replace(
        reply,
        text=reply.text[found.end() :],
        segments=segments,
        language=reply.language or language_code(found.group(1)),
    )
