"""What the server counts, and `/metrics`, where Prometheus reads it together with the engine's own counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.protocol.events import EngineStats
from engine.protocol.stats import ModelLoad
from engine.server.door import Door
from engine.server.errors import error_of

_MEDIA_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_KNOWN_PATHS: Final = frozenset(
    {"/health", "/metrics", "/v1/audio/transcriptions", "/v1/audio/translations", "/v1/realtime"}
)


@dataclass
class Counts:
    """Belongs to the event loop's thread."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    """By path and status; 101 for a WebSocket."""
    num_open: int = 0


class Counting:
    """ASGI middleware that counts every request and how it was answered."""

    def __init__(self, app: ASGIApp, counts: Counts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request or connection."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        # Until something else is said, nobody was answered.
        status = 499

        async def note(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        self._counts.num_open += 1
        try:
            await self._app(scope, receive, note)
        finally:
            self._counts.num_open -= 1
            self._counts.requests[_known(scope["path"]), status] += 1


def routes(door: Door, counts: Counts) -> list[BaseRoute]:
    """Return the route of `/metrics`."""

    async def metrics(_request: Request) -> Response:
        stats: EngineStats | None = None
        with door.bridge.measure() as job:
            async for event in job:
                if isinstance(event, EngineStats):
                    stats = event
        if job.failure is not None:
            raise error_of(job.failure)
        lines = [*_server_lines(door, counts), *_engine_lines(stats.models if stats else ())]
        return Response("".join(line + "\n" for line in lines), media_type=_MEDIA_TYPE)

    return [Route("/metrics", metrics)]


def _known(path: str) -> str:
    """Return a path, or what stands for all that callers may think of."""
    if path == "/v1/models" or path.startswith("/v1/models/"):
        return "/v1/models"
    return path if path in _KNOWN_PATHS else "other"


def _server_lines(door: Door, counts: Counts) -> Iterator[str]:
    yield from _metric("http_requests_total", "Requests that were answered.", "counter")
    for (path, status), number in sorted(counts.requests.items()):
        yield f'jamak_http_requests_total{{path="{path}",status="{status}"}} {number}'
    yield from _metric("http_requests_open", "Requests and connections that are being served.", "gauge")
    yield f"jamak_http_requests_open {counts.num_open}"
    yield from _metric("transcriptions_open", "Uploads that arrive, wait or are transcribed.", "gauge")
    yield f"jamak_transcriptions_open {door.places.num_taken}"


def _engine_lines(models: Sequence[ModelLoad]) -> Iterator[str]:
    """Each metric once, with a line for each model."""
    tables = [_rows(load) for load in models]
    for place, (name, about, kind) in enumerate(_ENGINE_METRICS):
        yield from _metric(name, about, kind)
        for load, rows in zip(models, tables, strict=True):
            label = f'model="{_escaped(PurePath(load.model).name)}"'
            for more, value in rows[place].items():
                yield f"jamak_{name}{{{label}{more}}} {value:.10g}"


_ENGINE_METRICS: Final = (
    ("queue", "Chunks that wait in the model's process.", "gauge"),
    ("running", "Chunks that are being decoded.", "gauge"),
    ("slots", "Chunks that may be decoded at a time.", "gauge"),
    ("backlog_seconds", "Audio handed over and not answered.", "gauge"),
    ("tokens_per_second", "While the model was busy lately.", "gauge"),
    ("real_time_factor", "Seconds of work for a second of audio, lately.", "gauge"),
    ("decoder_steps_total", "Passes by which all that runs gains one token.", "counter"),
    ("decoder_prefills_total", "Passes that take newcomers in.", "counter"),
    ("tokens_total", "Tokens generated.", "counter"),
    ("audio_seconds_total", "Audio answered.", "counter"),
    ("busy_seconds_total", "Time with something to do.", "counter"),
    ("cache_hits_total", "Windows of audio, and drafted tokens, that were reused.", "counter"),
    ("cache_lookups_total", "Windows of audio, and tokens, that were needed.", "counter"),
)


def _rows(load: ModelLoad) -> tuple[dict[str, float], ...]:
    """Return the values for `_ENGINE_METRICS`, by the labels that follow the model's."""
    work = load.work
    return (
        {"": load.num_waiting},
        {"": load.num_running},
        {"": load.num_slots},
        {"": load.backlog_s},
        {"": load.tokens_per_s},
        {"": load.real_time_factor},
        {"": work.num_steps},
        {"": work.num_prefills},
        {"": work.num_tokens},
        {"": work.audio_s},
        {"": work.busy_s},
        {',cache="audio"': work.num_windows_known, ',cache="draft"': work.num_drafted},
        {',cache="audio"': work.num_windows, ',cache="draft"': work.num_tokens},
    )


def _metric(name: str, about: str, kind: str) -> Iterator[str]:
    yield f"# HELP jamak_{name} {about}"
    yield f"# TYPE jamak_{name} {kind}"


def _escaped(text: str) -> str:
    """https://prometheus.io/docs/instrumenting/exposition_formats/: what a label's value may not hold."""
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
