"""The two endpoints that turn a recording into text: whole, or as it is confirmed."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, Final

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route
from starlette.types import Message, Receive, Scope, Send

from engine.protocol.events import Confirmed, JobStarted, SegmentDone
from engine.protocol.transcript import Task
from engine.server.bridge import Job
from engine.server.door import Door
from engine.server.errors import ApiError, error_of
from engine.server.form import Asked, read_fields
from engine.server.heard import MEDIA_TYPES, Deltas, Heard, logprobs_of
from engine.server.models import list_models
from engine.server.names import find_model
from engine.server.uploads import receive_form

_DRAINED_BYTES: Final = 1 << 24
_DRAINING_S: Final = 2.0
"""What is still read of a refused upload: many clients look for an answer only when all is sent."""


def routes(door: Door) -> list[BaseRoute]:
    """Return the routes of `/v1/audio`."""
    return [
        Route(f"/v1/audio/{name}", _Endpoint(door, task), methods=["POST"])
        for name, task in (("transcriptions", Task.TRANSCRIBE), ("translations", Task.TRANSLATE))
    ]


class _Endpoint:
    """An ASGI application, so that place, upload and job last as long as the answer is being sent."""

    def __init__(self, door: Door, task: Task) -> None:
        self._door = door
        self._task = task

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Raises ApiError."""
        body = _Body(receive)
        request = Request(scope, body.receive)
        try:
            await self._serve(request, body, patiently(send, self._door.config.stalled_s))
        except ClientDisconnect:
            # Nobody is there to be answered; leaving the blocks has ended what was begun.
            return
        except ApiError:
            await body.drain(request)
            raise

    async def _serve(self, request: Request, body: _Body, send: Send) -> None:
        door, config = self._door, self._door.config
        with door.places.one():
            receiving = receive_form(
                request, door.uploads, config.max_upload_bytes, stalled_s=config.stalled_s
            )
            async with receiving as form:
                asked = await self._understand(form.fields)
                with door.bridge.transcribe(str(form.path), asked.options) as job:
                    answer = _streamed if asked.is_stream else _whole
                    response = await answer(job, Heard(asked), body)
                    await response(request.scope, body.receive, send)

    async def _understand(self, fields: dict[str, list[str]]) -> Asked:
        asked = read_fields(fields, self._task)
        chosen = self._door.config.model
        model = find_model(await list_models(self._door), asked.model, chosen)
        return msgspec.structs.replace(
            asked, options=msgspec.structs.replace(asked.options, model=model.model)
        )


async def _whole(job: Job, heard: Heard, body: _Body) -> Response:
    """Return the whole transcript. Raises ApiError, ClientDisconnect."""
    async with body.attended():
        async for event in job:
            heard.take(event)
    if job.failure is not None:
        raise error_of(job.failure)
    answer = heard.answer()
    if isinstance(answer, dict):
        return JSONResponse(answer)
    return Response(answer, media_type=MEDIA_TYPES[heard.asked.format])


async def _streamed(job: Job, heard: Heard, body: _Body) -> Response:
    """Return server-sent events, as soon as it is certain that the recording can be read.

    Raises ApiError, ClientDisconnect.
    """
    async with body.attended():
        # What comes first is the opening of the recording, or why there is none.
        async for event in job:
            heard.take(event)
            if isinstance(event, JobStarted):
                break
    if job.failure is not None:
        raise error_of(job.failure)
    return StreamingResponse(
        _server_sent(job, heard), media_type="text/event-stream", headers={"Cache-Control": "no-cache"}
    )


async def _server_sent(job: Job, heard: Heard) -> AsyncIterator[bytes]:
    """Yield the deltas and the ending, each a whole event."""
    deltas = Deltas()
    # A token's log-probability is told with the segment, which comes right after its text.
    by_segment = heard.asked.wants_logprobs and not heard.asked.options.confirms_tokens
    async for event in job:
        heard.take(event)
        match event:
            case SegmentDone(segment=segment) if by_segment:
                yield _event(delta=deltas.take(segment.text), logprobs=logprobs_of(segment))
            case Confirmed(delta=text) if not by_segment:
                if delta := deltas.take(text):
                    yield _event(delta=delta)
            case _:
                pass
    if job.failure is not None:
        yield _data({"type": "error", **error_of(job.failure).body()})
        return
    done: dict[str, Any] = {"type": "transcript.text.done", "text": heard.text}
    if heard.language:
        done["languages"] = [{"code": heard.language}]
    if heard.asked.wants_logprobs:
        done["logprobs"] = heard.logprobs()
    yield _data(done)


def _event(**fields: object) -> bytes:
    return _data({"type": "transcript.text.delta", **fields})


def _data(content: dict[str, Any]) -> bytes:
    return b"data: " + msgspec.json.encode(content) + b"\n\n"


def patiently(send: Send, stalled_s: float) -> Send:
    """Return a `send` that raises ClientDisconnect where so long nothing is taken any more."""

    async def patient(message: Message) -> None:
        try:
            async with asyncio.timeout(stalled_s):
                await send(message)
        except TimeoutError:
            # A caller that is there but does not read would hold its place for ever.
            raise ClientDisconnect from None

    return patient


class _Body:
    """The request's body as it arrives, and whether the caller is still there when it is all read."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._is_read = False
        self._is_gone = False

    async def receive(self) -> Message:
        """Return the next message, as ASGI has it."""
        message = await self._receive()
        self._is_gone = self._is_gone or message["type"] == "http.disconnect"
        self._is_read = self._is_read or self._is_gone or not message.get("more_body", False)
        return message

    @contextlib.asynccontextmanager
    async def attended(self) -> AsyncIterator[None]:
        """Raise ClientDisconnect in the block when the caller hangs up. The body must have been read."""
        task = asyncio.current_task()
        assert task is not None

        async def watch() -> None:
            while (await self.receive())["type"] != "http.disconnect":
                pass
            task.cancel()

        watcher = asyncio.ensure_future(watch())
        try:
            yield
        except asyncio.CancelledError:
            if self._is_gone and task.uncancel() == 0:
                raise ClientDisconnect from None
            raise
        finally:
            watcher.cancel()

    async def drain(self, request: Request) -> None:
        """Read what is still being sent, within limits, unless the caller waits for leave to send it."""
        num_left = _DRAINED_BYTES
        if "expect" in request.headers:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_DRAINING_S):
                while not self._is_read and num_left > 0:
                    num_left -= len((await self.receive()).get("body", b""))
