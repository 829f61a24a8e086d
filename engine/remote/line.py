"""A line to a server's realtime endpoint: one live session's sound goes there once, its text comes back.

What is heard lies between commits. A line is a short cut, never needed: every chunk can be uploaded instead.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import Callable
from typing import Any, Final

import av
import numpy as np
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from engine.messages import SAMPLE_RATE_HZ, Chunk, ChunkKind
from engine.protocol.elsewhere import Elsewhere
from engine.remote.hearsay import newly_confirmed
from engine.remote.shapes import Reply
from engine.servers import headers

OPEN_S: Final = 5.0
INTERIM_S: Final = 1.0
"""So long news are waited for; what has come by then is told."""
CLOSING_S: Final = 20.0
"""So long a commit may take before its sound is uploaded instead."""
LONGEST_MESSAGE_BYTES: Final = 4 * 1024 * 1024
APPEND_SAMPLES: Final = SAMPLE_RATE_HZ
_OPENAI_RATE_HZ: Final = 24_000


class LineLost(Exception):
    """The line is of no more use."""


class NoLine(Exception):
    """This server has no realtime endpoint."""


class Line:
    """One live session's. Used by one task at a time; `close` may be called by another."""

    def __init__(self, socket: ClientConnection, *, is_vllm: bool) -> None:
        self._socket = socket
        self._is_vllm = is_vllm
        self._sent_until: int | None = None
        """Of the recording; None: nothing was sent since the line was opened."""
        self._has_sent = False
        """Something since the last commit."""
        self._item_start = 0
        """Where the sound since the last commit begins."""
        self._known: list[int] = []
        """What is confirmed, in words, from before the last commit on."""
        self._confirmed: list[int] = []
        """What of it was said since."""
        self._deltas = ""
        self._whole: str | None = None
        self._failed = False
        self._news = asyncio.Event()
        self._resampler = _resampler(self._rate_hz)
        self._reader = asyncio.ensure_future(self._read())

    @property
    def _rate_hz(self) -> int:
        return SAMPLE_RATE_HZ if self._is_vllm else _OPENAI_RATE_HZ

    def is_good_for(self, chunk: Chunk) -> bool:
        """Say whether this line has heard, or can still be told, all that a chunk holds."""
        if self._reader.done() or self._failed:
            return False
        return not self._has_sent or self._sent_until is None or chunk.start_sample <= self._sent_until

    async def hear(self, chunk: Chunk) -> Reply:
        """Send what is new of a chunk and return the text since the last commit, which a closing one is.

        Raises LineLost.
        """
        try:
            await self._append(chunk)
            if chunk.kind is ChunkKind.CLOSING:
                return self._reply(await self._commit(), chunk)
            if not self._news.is_set():
                await self._wait(lambda: self._news.is_set(), INTERIM_S, is_needed=False)
            self._news.clear()
            return self._reply(self._deltas, chunk)
        except (WebSocketException, OSError, TimeoutError) as error:
            raise LineLost(str(error)) from error

    def close(self) -> None:
        """Hang up, without waiting."""
        self._reader.cancel()
        self._hanging_up = asyncio.ensure_future(self._hang_up())

    def _reply(self, text: str, chunk: Chunk) -> Reply:
        start_s = max(0, self._item_start - chunk.start_sample) / SAMPLE_RATE_HZ
        return Reply(text=text, start_s=start_s, confirmed=tuple(self._confirmed))

    async def _append(self, chunk: Chunk) -> None:
        first = max(self._sent_until or 0, chunk.start_sample)
        if not self._has_sent:
            self._item_start, self._confirmed = first, []
            self._known = list(chunk.prefix_ids)
        more = newly_confirmed(self._known, chunk.prefix_ids)
        self._known += more
        self._confirmed += more
        samples = np.frombuffer(chunk.pcm, "<f4")[first - chunk.start_sample :]
        for start in range(0, len(samples), APPEND_SAMPLES):
            frame = av.AudioFrame.from_ndarray(
                samples[start : start + APPEND_SAMPLES].reshape(1, -1), format="flt", layout="mono"
            )
            frame.sample_rate = SAMPLE_RATE_HZ
            await self._send_sound(self._resampler.resample(frame))
        self._sent_until = max(first, chunk.start_sample + chunk.num_samples)

    async def _send_sound(self, frames: list[av.AudioFrame]) -> None:
        data = b"".join(frame.to_ndarray().astype("<i2").tobytes() for frame in frames)
        if not data:
            return
        await self._say("input_audio_buffer.append", audio=base64.b64encode(data).decode())
        if self._is_vllm and not self._has_sent:
            # It hears nothing before a first commit.
            await self._say("input_audio_buffer.commit", final=False)
        self._has_sent = True

    async def _commit(self) -> str:
        """End the item; return all of its text."""
        await self._send_sound(self._resampler.resample(None))
        self._resampler = _resampler(self._rate_hz)
        if not self._has_sent:
            return ""
        self._whole = None
        await self._say("input_audio_buffer.commit", **({"final": True} if self._is_vllm else {}))
        await self._wait(lambda: self._whole is not None, CLOSING_S, is_needed=True)
        whole = self._whole or ""
        self._deltas, self._has_sent = "", False
        self._news.clear()
        if self._is_vllm:
            # What arrives while it ends a generation would be lost: the next item has a line of its own.
            self._failed = True
        return whole

    async def _wait(self, is_so: Callable[[], bool], timeout_s: float, *, is_needed: bool) -> None:
        try:
            async with asyncio.timeout(timeout_s):
                while not is_so():
                    if self._reader.done() or self._failed:
                        raise LineLost("the server has hung up, or could not transcribe")
                    self._news.clear()
                    waiting = asyncio.ensure_future(self._news.wait())
                    await asyncio.wait({waiting, self._reader}, return_when=asyncio.FIRST_COMPLETED)
                    waiting.cancel()
        except TimeoutError:
            if is_needed:
                raise LineLost("the server does not answer") from None

    async def _say(self, kind: str, **fields: Any) -> None:
        await self._socket.send(json.dumps({"type": kind, **fields}))

    async def _read(self) -> None:
        async for message in self._socket:
            try:
                event = json.loads(message)
            except ValueError:
                continue
            if isinstance(event, dict):
                self._take(event)
                self._news.set()

    def _take(self, event: dict[str, Any]) -> None:
        match str(event.get("type")).removeprefix("conversation.item.input_audio_"):
            case "transcription.delta":
                self._deltas += str(event.get("delta") or "")
            case "transcription.completed":
                self._whole = str(event.get("transcript") or "")
            case "transcription.done":
                self._whole = str(event.get("text") or "")
            case "transcription.failed" | "error":
                self._failed = True
            case _:
                pass

    async def _hang_up(self) -> None:
        with contextlib.suppress(WebSocketException, OSError):
            await self._socket.close()


class _Connect(connect):
    """Goes where it was told and nowhere else: sound and key are for that server alone."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        """Let an answer that points elsewhere be the refusal that it is for uploads, too."""
        return exc


async def open_line(server: Elsewhere, key: str, chunk: Chunk) -> Line:
    """Call a server on behalf of the session of `chunk`. Raises NoLine, LineLost."""
    # No detector there (an extension of Jamak's own door): what is sent was found to be speech here.
    address = "ws" + server.server.removeprefix("http") + "/realtime?intent=transcription&vad=false"
    try:
        socket = await _Connect(
            address,
            additional_headers=headers(key),
            open_timeout=OPEN_S,
            close_timeout=1.0,
            max_size=LONGEST_MESSAGE_BYTES,
        )
    except InvalidStatus as error:
        if error.response.status_code in (429, 500, 502, 503, 504):
            raise LineLost(str(error)) from error
        raise NoLine(str(error)) from error
    except (WebSocketException, TimeoutError) as error:
        raise NoLine(f"{type(error).__name__}: {error}") from error
    except OSError as error:
        # Nobody is there at all just now.
        raise LineLost(str(error)) from error
    try:
        async with asyncio.timeout(OPEN_S):
            created = json.loads(await socket.recv())
            if not isinstance(created, dict) or created.get("type") != "session.created":
                raise NoLine("it does not begin with session.created")
            is_vllm = "session" not in created
            await socket.send(json.dumps(_vllm_update(server) if is_vllm else _update(server, chunk)))
    except (WebSocketException, OSError, TimeoutError, ValueError) as error:
        await socket.close()
        raise NoLine(str(error)) from error
    return Line(socket, is_vllm=is_vllm)


def _update(server: Elsewhere, chunk: Chunk) -> dict[str, Any]:
    """Return OpenAI's `session.update`: this end decides where an item ends."""
    options = chunk.options
    told = {
        "model": server.model,
        "language": options.language,
        "prompt": " ".join(filter(None, (options.initial_prompt, options.hotwords))) or None,
    }
    heard = {
        "format": {"type": "audio/pcm", "rate": _OPENAI_RATE_HZ},
        "transcription": {name: value for name, value in told.items() if value},
        "turn_detection": None,
    }
    return {"type": "session.update", "session": {"type": "transcription", "audio": {"input": heard}}}


def _vllm_update(server: Elsewhere) -> dict[str, Any]:
    return {"type": "session.update", "model": server.model}


def _resampler(rate_hz: int) -> av.AudioResampler:
    return av.AudioResampler(format="s16", layout="mono", rate=rate_hz)
