"""All requests to one server: an event loop on a thread of its own, which answers into the inbox."""

from __future__ import annotations

import asyncio
import logging
import random
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any, Final

import httpx2
import msgspec

from engine.messages import (
    BatchStrOutput,
    Chunk,
    ChunkKind,
    Ended,
    EndedReason,
    RequestKey,
    StrOutput,
)
from engine.protocol.elsewhere import Elsewhere, subject_of_model
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Task
from engine.remote.answers import Answering
from engine.remote.lines import Lines
from engine.remote.patience import Patience
from engine.remote.shapes import Reply
from engine.remote.upload import Form, upload
from engine.servers import (
    Trouble,
    choose_model,
    headers,
    model_names,
    timeout,
    trouble_of_error,
    trouble_of_status,
)

log = logging.getLogger(__name__)

Say = Callable[[msgspec.Struct], object]
CLOSE_S: Final = 1.0


class Calls:
    """The requests that are open. Methods are called from the loop and do not wait, except `close`.

    Every chunk that is asked is answered once, by what is put into the inbox: text that ends with
    `finished`, or `Ended`; unless it is dropped.
    """

    def __init__(self, server: Elsewhere, open_say: Callable[[], Say], *, patience_s: float, slots: int):
        """`open_say` is called on the thread of the calls, which alone uses what it returns."""
        self._server = server
        self._open_say = open_say
        self._patience = Patience(patience_s)
        self._loop = asyncio.new_event_loop()
        self._turns = asyncio.Semaphore(slots)
        self._asking_for_model = asyncio.Lock()
        self._form = Form.VERBOSE
        self._lines = Lines()
        self._key = ""
        self._tasks: dict[RequestKey, asyncio.Task[None]] = {}
        self._in_doubt: dict[RequestKey, asyncio.Event] = {}
        """Interim chunks that wait to be asked again, or for a newer one to take their place."""
        self._thread = threading.Thread(target=self._run, daemon=True, name="remote-calls")
        self._thread.start()

    def use_key(self, key: str) -> None:
        """Present a key with every request from now on."""
        self._soon(self._set_key, key)

    def ask(self, chunk: Chunk) -> None:
        """Have a chunk answered."""
        self._soon(self._begin, chunk)

    def drop(self, keys: list[RequestKey]) -> None:
        """Stop these requests: the server sees that nobody waits any more."""
        self._soon(self._cancel, keys)

    def forget(self, job: JobId) -> None:
        """Know that nothing of a job follows."""
        self._soon(self._lines.forget, job)

    def close(self) -> None:
        """Stop everything."""
        self._soon(self._loop.stop)
        self._thread.join(CLOSE_S)

    def _soon(self, call: Callable[..., object], *arguments: Any) -> None:
        self._loop.call_soon_threadsafe(call, *arguments)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._say = self._open_say()
        self._client = httpx2.AsyncClient(
            timeout=timeout(), limits=httpx2.Limits(max_connections=None, max_keepalive_connections=32)
        )
        self._loop.run_forever()

    def _set_key(self, key: str) -> None:
        self._key = key
        self._client.headers.pop("Authorization", None)
        self._client.headers.update(headers(key))

    def _begin(self, chunk: Chunk) -> None:
        if chunk.kind is not ChunkKind.FILE:
            for key, is_superseded in self._in_doubt.items():
                if key.job == chunk.key.job:
                    is_superseded.set()
        task = self._loop.create_task(self._answer(chunk))
        self._tasks[chunk.key] = task
        task.add_done_callback(lambda _: self._tasks.pop(chunk.key, None))

    def _cancel(self, keys: list[RequestKey]) -> None:
        for key in keys:
            if (task := self._tasks.get(key)) is not None:
                task.cancel()

    async def _answer(self, chunk: Chunk) -> None:
        answering = Answering(chunk)
        try:
            reply = await self._insist(chunk, answering)
            self._say(BatchStrOutput(outputs=(answering.whole(reply),)))
        except Trouble as trouble:
            if chunk.kind is ChunkKind.INTERIM and trouble.is_passing:
                self._say(Ended(key=chunk.key, reason=EndedReason.SUPERSEDED))
            else:
                self._say(Ended(key=chunk.key, reason=EndedReason.FAILED, failure=trouble.failure))
        except Exception as error:
            # A mistake of ours must not leave a chunk without an answer.
            log.error("a request failed by %s", type(error).__name__)
            log.debug("it says", exc_info=True)
            why = failure(
                FailureKind.INTERNAL, subject_of_model(self._server.key), traceback.format_exc(limit=3)
            )
            self._say(Ended(key=chunk.key, reason=EndedReason.FAILED, failure=why))

    async def _insist(self, chunk: Chunk, answering: Answering) -> Reply:
        """Ask until there is an answer or no hope. Raises Trouble."""
        began_s, num_tries = time.monotonic(), 0
        while True:
            try:
                await asyncio.sleep(self._patience.closed_s(time.monotonic()))
                reply = await self._take_turn(chunk, answering)
                self._patience.was_good(time.monotonic())
                return reply
            except Trouble as trouble:
                num_tries += 1
                delay_s = self._patience.delay_s(
                    trouble, num_tries=num_tries, began_s=began_s, now_s=time.monotonic()
                )
                if delay_s is None:
                    raise
                log.debug("asked again in %.1f s: %s", delay_s, trouble.failure.kind)
                # Those that were refused together come back one by one.
                delay_s *= 1.0 + 0.25 * random.random()
                if chunk.kind is ChunkKind.INTERIM:
                    await self._doubt(chunk.key, delay_s)
                    raise
                await asyncio.sleep(delay_s)

    async def _doubt(self, key: RequestKey, delay_s: float) -> None:
        """Wait until a newer chunk takes this one's place, or it is time that one comes."""
        self._in_doubt[key] = asyncio.Event()
        try:
            await asyncio.wait_for(self._in_doubt[key].wait(), delay_s)
        except TimeoutError:
            pass
        finally:
            del self._in_doubt[key]

    async def _take_turn(self, chunk: Chunk, answering: Answering) -> Reply:
        """Ask once; files wait for one another, nobody who speaks waits for them. Raises Trouble."""
        if chunk.kind is not ChunkKind.FILE:
            return await self._hear_live(chunk, answering)
        async with self._turns:
            return await self._ask_in_forms(chunk, answering)

    async def _hear_live(self, chunk: Chunk, answering: Answering) -> Reply:
        """Ask over the session's line to the server, or by an upload as for files. Raises Trouble."""
        if chunk.options.task is Task.TRANSCRIBE:
            try:
                server = Elsewhere(self._server.server, await self._model())
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                raise trouble_of_error(self._server, error) from error
            if (reply := await self._lines.hear(server, self._key, chunk)) is not None:
                return reply
        return await self._ask_in_forms(chunk, answering)

    async def _ask_in_forms(self, chunk: Chunk, answering: Answering) -> Reply:
        """Ask for the best that this server gives. Raises Trouble."""
        form: Form | None = self._form
        while form is not None:
            try:
                reply = await self._ask(chunk, form, answering)
            except Trouble as trouble:
                form = form.next
                if not trouble.is_about_form or form is None:
                    raise
            else:
                self._form = form
                return reply
        raise AssertionError("there is no form left")

    async def _ask(self, chunk: Chunk, form: Form, answering: Answering) -> Reply:
        answering.restart()
        try:
            server = Elsewhere(self._server.server, await self._model())
            return await upload(
                self._client, server, chunk, form, lambda delta: self._tell(answering.more(delta))
            )
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
            raise trouble_of_error(self._server, error) from error

    async def _model(self) -> str:
        """Return the model to name, found out once where none was chosen. Raises Trouble, HTTPError."""
        async with self._asking_for_model:
            if not self._server.model:
                response = await self._client.get(f"{self._server.server}/models")
                if response.status_code != 200:
                    raise trouble_of_status(
                        self._server, response.status_code, response.headers, response.content
                    )
                names = model_names(self._server, response.content)
                self._server = Elsewhere(self._server.server, choose_model(self._server, names))
            return self._server.model

    def _tell(self, output: StrOutput | None) -> None:
        if output is not None:
            self._say(BatchStrOutput(outputs=(output,)))
