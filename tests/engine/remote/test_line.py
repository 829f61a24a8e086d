"""Lines to realtime endpoints as OpenAI, SGLang and vLLM have them, each played by a small server."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from engine.messages import Chunk, ChunkKind, DecodingOptions, RequestKey
from engine.protocol.elsewhere import Elsewhere
from engine.remote.hearsay import word_id
from engine.remote.lines import Lines

RATE_HZ = 16_000
Play = Callable[["Played"], Awaitable[None]]


class Played:
    """A server's side of one connection: what it was told, and how much sound."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.num_bytes = 0
        self.said: list[dict[str, Any]] = []

    async def hear(self, kind: str) -> dict[str, Any]:
        """Read on until a message of a kind comes."""
        while True:
            message = json.loads(await self._socket.recv())
            self.said.append(message)
            if message["type"] == "input_audio_buffer.append":
                self.num_bytes += len(base64.b64decode(message["audio"]))
            if message["type"] == kind:
                return message

    async def tell(self, kind: str, **fields: Any) -> None:
        await self._socket.send(json.dumps({"type": kind, "event_id": "e", **fields}))


def chunk(index: int, start_s: float, end_s: float, kind: ChunkKind, prefix: str = "") -> Chunk:
    samples = np.zeros(round((end_s - start_s) * RATE_HZ), "<f4")
    return Chunk(
        key=RequestKey("job", index),
        kind=kind,
        start_sample=round(start_s * RATE_HZ),
        pcm=samples.tobytes(),
        options=DecodingOptions(language="en"),
        prefix_ids=tuple(word_id(word) for word in prefix.split()),
    )


@asynccontextmanager
async def calling(*plays: Play) -> AsyncIterator[Callable[[Chunk], Awaitable[Any]]]:
    """Serve the connections as the plays say, one after another; yields what hears a chunk."""
    waiting = list(plays)

    async def handle(socket: ServerConnection) -> None:
        await waiting.pop(0)(Played(socket))

    async with serve(handle, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        lines = Lines()
        elsewhere = Elsewhere(f"http://127.0.0.1:{port}/v1", "whisper")
        yield lambda asked: lines.hear(elsewhere, "key", asked)
        lines.forget("job")


async def openai(server: Played) -> None:
    """Text comes behind the commit."""
    await server.tell("session.created", session={"id": "s"})
    update = await server.hear("session.update")
    heard = update["session"]["audio"]["input"]
    assert heard["turn_detection"] is None
    assert heard["transcription"] == {"model": "whisper", "language": "en"}
    for text in ("one two three", "four"):
        await server.hear("input_audio_buffer.commit")
        await server.tell("input_audio_buffer.committed", item_id="i")
        prefix = "conversation.item.input_audio_transcription"
        for part in text.split():
            await server.tell(f"{prefix}.delta", item_id="i", delta=f" {part}")
        await server.tell(f"{prefix}.completed", item_id="i", transcript=text)
    # 24 kHz, 16 bits: each second was sent once, however often it was asked about.
    assert server.num_bytes == pytest.approx(4 * 24_000 * 2, abs=200)


def test_sound_is_sent_once_and_items_end_with_closing_chunks() -> None:
    async def play() -> None:
        async with calling(openai) as hear:
            assert (await hear(chunk(0, 0.0, 1.0, ChunkKind.INTERIM))).text == ""
            assert (await hear(chunk(1, 0.0, 2.0, ChunkKind.INTERIM))).text == ""
            first = await hear(chunk(2, 0.0, 3.0, ChunkKind.CLOSING))
            assert (first.text, first.start_s, first.confirmed) == ("one two three", 0.0, ())
            # The window stays: what is confirmed of it was said before this item.
            second = await hear(chunk(3, 0.0, 4.0, ChunkKind.CLOSING, prefix="one two three"))
            assert (second.text, second.start_s, second.confirmed) == ("four", 3.0, ())

    asyncio.run(play())


async def sglang(server: Played) -> None:
    """Text comes before the commit, too."""
    await server.tell("session.created", session={"id": "s"})
    prefix = "conversation.item.input_audio_transcription"
    for text in (" one", " two"):
        await server.hear("input_audio_buffer.append")
        await server.tell(f"{prefix}.delta", item_id="i", delta=text)
    await server.hear("input_audio_buffer.commit")
    await server.tell(f"{prefix}.completed", item_id="i", transcript="one two three")


def test_text_that_comes_early_is_told_early() -> None:
    async def play() -> None:
        async with calling(sglang) as hear:
            assert (await hear(chunk(0, 0.0, 1.0, ChunkKind.INTERIM))).text == " one"
            reply = await hear(chunk(1, 0.0, 2.0, ChunkKind.INTERIM, prefix="one"))
            assert reply.text == " one two"
            assert reply.confirmed == (word_id("one"),)
            # The window has moved on; the text still begins where the item does.
            reply = await hear(chunk(2, 1.0, 3.0, ChunkKind.CLOSING, prefix="two"))
            assert reply.text == "one two three"
            assert reply.confirmed == (word_id("one"), word_id("two"))

    asyncio.run(play())


async def vllm(server: Played) -> None:
    """Its own events, 16 kHz, a commit before it hears anything, and a line for each item."""
    await server.tell("session.created", id="s", created=1)
    assert (await server.hear("session.update"))["model"] == "whisper"
    assert (await server.hear("input_audio_buffer.commit"))["final"] is False
    await server.tell("transcription.delta", delta="one")
    assert (await server.hear("input_audio_buffer.commit"))["final"] is True
    await server.tell("transcription.done", text="one two", usage={})
    assert server.num_bytes == pytest.approx(2 * RATE_HZ * 2, abs=200)
    await server._socket.wait_closed()


def test_vllm_is_spoken_to_in_its_own_way() -> None:
    async def play() -> None:
        async with calling(vllm, vllm) as hear:
            for start_s in (0.0, 5.0):
                assert (await hear(chunk(0, start_s, start_s + 1, ChunkKind.INTERIM))).text == "one"
                assert (await hear(chunk(1, start_s, start_s + 2, ChunkKind.CLOSING))).text == "one two"

    asyncio.run(play())


async def hanging_up(server: Played) -> None:
    await server.tell("session.created", session={"id": "s"})
    await server.hear("input_audio_buffer.append")


async def failing(server: Played) -> None:
    await server.tell("session.created", session={"id": "s"})
    await server.hear("input_audio_buffer.commit")
    await server.tell("error", error={"message": "no"})
    await server._socket.wait_closed()


@pytest.mark.parametrize("play_first", [hanging_up, failing])
def test_a_lost_line_leaves_the_chunk_to_an_upload_and_the_next_has_a_new_one(play_first: Play) -> None:
    async def play() -> None:
        async with calling(play_first, openai) as hear:
            assert await hear(chunk(0, 0.0, 3.0, ChunkKind.CLOSING)) is None
            assert (await hear(chunk(1, 5.0, 8.0, ChunkKind.CLOSING))).text == "one two three"

    asyncio.run(play())


def test_a_server_that_loses_every_line_is_not_called_for_ever() -> None:
    async def play() -> None:
        async with calling(*[failing] * 3) as hear:
            for index in range(10):
                assert await hear(chunk(index, float(index), index + 1.0, ChunkKind.CLOSING)) is None

    asyncio.run(play())


def test_a_server_without_an_endpoint_is_called_once() -> None:
    async def refuse(server: Played) -> None:
        await server.tell("something.else")

    async def play() -> None:
        async with calling(refuse) as hear:
            for index in range(3):
                assert await hear(chunk(index, 0.0, 1.0, ChunkKind.INTERIM)) is None

    asyncio.run(play())


def test_sound_goes_to_no_server_that_another_one_points_to() -> None:
    called: list[str] = []

    async def play() -> None:
        async def elsewhere(socket: ServerConnection) -> None:
            called.append("elsewhere")
            await openai(Played(socket))

        async with serve(elsewhere, "127.0.0.1", 0) as other:
            place = f"ws://127.0.0.1:{other.sockets[0].getsockname()[1]}/v1/realtime"

            def point(_: ServerConnection, __: Request) -> Response:
                return Response(307, "Temporary Redirect", Headers(Location=place), b"")

            async with serve(elsewhere, "127.0.0.1", 0, process_request=point) as pointing:
                port = pointing.sockets[0].getsockname()[1]
                server = Elsewhere(f"http://127.0.0.1:{port}/v1", "whisper")
                assert await Lines().hear(server, "key", chunk(0, 0.0, 1.0, ChunkKind.INTERIM)) is None

    asyncio.run(asyncio.wait_for(play(), 20.0))
    assert called == []
