"""A transcription server on a free port of this machine that hears what a toy hears, in a shape of choice."""

from __future__ import annotations

import email
import io
import json
import threading
import wave
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from tests.helpers.toy import WORD_S, WORDS, expected_text, toy_words

MODEL = "whisper-large-v3"


@dataclass(frozen=True)
class Upload:
    """One request to transcribe."""

    path: str
    fields: dict[str, list[str]]
    samples: np.ndarray
    """What was sent, as floats."""
    key: str | None

    def field(self, name: str) -> str | None:
        return self.fields.get(name, [None])[0]

    @property
    def text(self) -> str:
        """What a toy hears in it."""
        return expected_text(self.samples)


@dataclass(frozen=True)
class Answer:
    """What the server sends back; `parts` are flushed one by one."""

    parts: tuple[bytes, ...]
    status: int = 200
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    is_cut: bool = False
    """The connection ends before the answer does."""


Shape = Callable[[Upload], Answer]


def as_json(value: object, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Answer((json.dumps(value).encode(),), status, headers=named)


def error(status: int, message: str = "no", code: str | None = None, **headers: str) -> Answer:
    """OpenAI's error object."""
    told = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return as_json({"error": told}, status, **headers)


def events(*data: object, done: bool = True) -> Answer:
    """An event stream, each event a part of its own."""
    lines = [f"data: {json.dumps(one)}\n\n".encode() for one in data]
    return Answer((*lines, *([b"data: [DONE]\n\n"] * done)), content_type="text/event-stream")


def openai(upload: Upload) -> Answer:
    """whisper-1: `verbose_json` with likelihoods and words; `stream` is ignored."""
    if upload.field("response_format") != "verbose_json":
        return as_json({"text": upload.text.strip(), "usage": {"type": "duration", "seconds": 1}})
    words = list(_words(upload))
    told = {"task": "transcribe", "language": "english", "duration": len(upload.samples) / 16_000}
    likelihoods = {"avg_logprob": -0.25, "compression_ratio": 1.1, "no_speech_prob": 0.01}
    segments = [
        {"id": 0, "seek": 0, "start": words[0]["start"], "end": words[-1]["end"], "text": upload.text}
        | {"tokens": [1, 2], "temperature": 0.0, **likelihoods}
        for _ in words[:1]
    ]
    return as_json({**told, "text": upload.text.strip(), "segments": segments, "words": words})


def gpt_4o(upload: Upload) -> Answer:
    """gpt-4o-transcribe: no `verbose_json`, true delta events."""
    if upload.field("response_format") == "verbose_json":
        return error(400, "response_format 'verbose_json' is not compatible with model", "unsupported_value")
    if upload.field("stream") != "true":
        return as_json({"text": upload.text.strip()})
    deltas = [{"type": "transcript.text.delta", "delta": part} for part in _parts(upload.text.strip())]
    done = {"type": "transcript.text.done", "text": upload.text.strip(), "usage": {"type": "tokens"}}
    return events(*deltas, done, done=False)


def sglang(upload: Upload) -> Answer:
    """Segments without likelihoods, stripped, the language always "en"; chunks like a chat's."""
    text = upload.text.strip()
    if upload.field("response_format") == "verbose_json":
        segments = [{"id": 0, "start": 0.0, "end": len(upload.samples) / 16_000, "text": text}]
        told = {"task": "transcribe", "language": "en", "duration": "3.5", "text": text}
        return as_json({**told, "segments": segments if text else [], "usage": {"seconds": 4}})
    return _chat_stream(upload) if upload.field("stream") == "true" else as_json({"text": text})


def vllm(upload: Upload) -> Answer:
    """No `verbose_json` for this model; its error object has no outer "error"; a chat's chunks."""
    if upload.field("response_format") == "verbose_json":
        told = {"object": "error", "message": "verbose_json is not supported", "type": "BadRequestError"}
        return as_json({**told, "param": None, "code": 400}, 400)
    return (
        _chat_stream(upload) if upload.field("stream") == "true" else as_json({"text": upload.text.strip()})
    )


class FakeServer:
    """Serves `/v1/models` and uploads. `shape` answers each upload; change it at any time.

    With `barrier`, every upload waits until so many are there at once, or fails.
    """

    def __init__(self, shape: Shape = openai) -> None:
        self.shape = shape
        self.models: Any = {"object": "list", "data": [{"id": "some-llm"}, {"id": MODEL}]}
        self.uploads: list[Upload] = []
        self.barrier: threading.Barrier | None = None
        self._has_hung_up = threading.Event()
        self._arrived = threading.Condition()
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                fake._send(self, as_json(fake.models) if self.path == "/v1/models" else error(404))

            def do_POST(self) -> None:
                upload = _read(self)
                with fake._arrived:
                    fake.uploads.append(upload)
                    fake._arrived.notify_all()
                if fake.barrier is not None:
                    fake.barrier.wait(20.0)
                fake._send(self, fake.shape(upload))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    @property
    def model(self) -> str:
        """Its model as `Options.model` names it."""
        return f"{self.url}#{MODEL}"

    def wait_for_uploads(self, count: int = 1) -> None:
        """Wait until so much was asked."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.uploads) >= count, 20.0)

    def wait_for_hang_up(self) -> None:
        """Wait until a client has hung up before its answer was sent."""
        assert self._has_hung_up.wait(20.0)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def _send(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        try:
            handler.send_response(answer.status)
            handler.send_header("Content-Type", answer.content_type)
            for name, value in answer.headers.items():
                handler.send_header(name, value)
            handler.send_header("Transfer-Encoding", "chunked")
            handler.end_headers()
            for part in answer.parts:
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                handler.wfile.flush()
            if answer.is_cut:
                handler.close_connection = True
                return
            handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            self._has_hung_up.set()


def _read(handler: BaseHTTPRequestHandler) -> Upload:
    if handler.headers.get("Transfer-Encoding") == "chunked":
        body = b""
        while size := int(handler.rfile.readline(), 16):
            body += handler.rfile.read(size)
            handler.rfile.readline()
        handler.rfile.readline()
    else:
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
    head = f"Content-Type: {handler.headers['Content-Type']}\r\n\r\n".encode()
    fields: dict[str, list[str]] = {}
    samples = np.zeros(0, np.float32)
    for part in email.message_from_bytes(head + body).get_payload():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if name == "file":
            with wave.open(io.BytesIO(content)) as file:
                assert (file.getnchannels(), file.getframerate()) == (1, 16_000)
                samples = np.frombuffer(file.readframes(file.getnframes()), "<i2") / np.float32(32768)
        else:
            fields.setdefault(str(name), []).append(content.decode())
    key = handler.headers.get("Authorization")
    return Upload(handler.path, fields, samples, key.removeprefix("Bearer ") if key else None)


def _words(upload: Upload) -> Iterator[dict[str, Any]]:
    """Its words as whisper-1 tells them: without marks or spaces."""
    for index, word in enumerate(toy_words(upload.samples)):
        if word is not None:
            text = WORDS[word].strip().strip(".,")
            yield {"word": text, "start": index * WORD_S, "end": (index + 1) * WORD_S}


def _parts(text: str) -> list[str]:
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def _chat_stream(upload: Upload) -> Answer:
    def chunk(text: str, reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": reason}
        return {"id": "trsc-1", "object": "transcription.chunk", "created": 1, "choices": [choice]}

    usage = {"id": "trsc-1", "object": "transcription.chunk", "choices": [], "usage": {"total_tokens": 3}}
    return events(*(chunk(part) for part in _parts(upload.text.strip())), chunk("", "stop"), usage)
