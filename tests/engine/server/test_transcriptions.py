"""Answers on their way to callers that do not take them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse
from starlette.types import Message

from engine.server.transcriptions import patiently


async def _events() -> AsyncIterator[bytes]:
    while True:
        yield b"data: {}\n\n"


@pytest.mark.parametrize("is_stream", [True, False])
def test_a_caller_that_reads_nothing_gives_its_place_back(is_stream: bool) -> None:
    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError("it does not hang up either")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            await asyncio.Event().wait()

    async def answer() -> None:
        response = StreamingResponse(_events()) if is_stream else Response("text")
        await response({"type": "http", "asgi": {}}, receive, patiently(send, 0.05))

    with pytest.raises(ClientDisconnect):
        asyncio.run(asyncio.wait_for(answer(), 20.0))


def test_what_is_taken_is_passed_on() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(patiently(send, 60.0)({"type": "http.response.start"}))
    assert sent == [{"type": "http.response.start"}]
