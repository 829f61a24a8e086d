"""`WS /v1/realtime?intent=transcription`: OpenAI's realtime transcription over a live session of the engine.

Sound is written to a tape on the disk while it arrives, whatever the engine does; what it recognises is
told as soon as it is confirmed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Coroutine
from typing import Any, Final

import msgspec
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from engine.protocol.events import (
    Backlog,
    Confirmed,
    Flushed,
    JobEvent,
    LanguageDetected,
    SegmentDone,
    SpeechEnded,
    SpeechStarted,
    Warned,
)
from engine.server.door import Door
from engine.server.errors import ApiError, error_of
from engine.server.models import list_models
from engine.server.names import find_model
from engine.server.realtime_audio import SAMPLE_RATE_HZ, Decoder
from engine.server.realtime_events import (
    Append,
    Clear,
    Commit,
    Misunderstood,
    RealtimeSettings,
    Update,
    error_event,
    event,
    new_id,
    read_event,
    session_object,
    updated,
)
from engine.server.realtime_items import Items
from engine.server.realtime_leg import Leg
from engine.server.tape import Tape

log = logging.getLogger(__name__)

MAX_BEHIND_SAMPLES: Final = 3600 * SAMPLE_RATE_HZ
"""So far the engine may be behind before nothing more is read: an hour is 115 MB on the disk."""
MAX_UNREAD_EVENTS: Final = 10_000
"""So many events a caller may leave unread."""
LEAST_COMMIT_SAMPLES: Final = SAMPLE_RATE_HZ // 10
RETRY_S: Final = 0.1
CLOSING_S: Final = 2.0
"""A caller that reads nothing does not take the end of the connection either."""
_PROTOCOL: Final = "realtime"
_TOO_SLOW: Final = 1008
_BROKEN: Final = 1011


def routes(door: Door) -> list[BaseRoute]:
    """Return the route of the realtime API."""

    async def realtime(websocket: WebSocket) -> None:
        try:
            with door.places.one():
                await _serve(door, websocket)
        except ApiError as error:
            if websocket.client_state is WebSocketState.CONNECTING:
                await websocket.send_denial_response(error.response())

    return [WebSocketRoute("/v1/realtime", realtime)]


async def _serve(door: Door, websocket: WebSocket) -> None:
    """Serve one connection to its end. Raises ApiError before it is accepted."""
    if websocket.query_params.get("intent") != "transcription":
        raise ApiError(400, "Only intent=transcription is served.", code="invalid_value", param="intent")
    asked = websocket.query_params.get("model")
    settings = RealtimeSettings(
        model=asked or RealtimeSettings().model, vad=websocket.query_params.get("vad") != "false"
    )
    # An engine that is being started may take longer than callers wait for the handshake.
    model = await _find_model(door, settings) if door.bridge.has_engine else None
    offered = websocket.scope.get("subprotocols") or []
    await websocket.accept(subprotocol=_PROTOCOL if _PROTOCOL in offered else None)
    try:
        model = model or await _find_model(door, settings)
    except ApiError as error:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await websocket.send_text(msgspec.json.encode(error_event(error)).decode())
            await websocket.close(_BROKEN)
        return
    tape = Tape(door.uploads / new_id("tape"))
    try:
        await RealtimeSession(door, websocket, tape, settings, model).run()
    finally:
        tape.close()


async def _find_model(door: Door, settings: RealtimeSettings) -> str:
    """Return what the engine calls the model. Raises ApiError."""
    return find_model(await list_models(door), settings.model, door.config.model).model


class RealtimeSession:
    """One connection. A task receives, one sends, one feeds the engine, one for each leg tells its text."""

    def __init__(
        self, door: Door, websocket: WebSocket, tape: Tape, settings: RealtimeSettings, model: str
    ) -> None:
        self._door = door
        self._websocket = websocket
        self._tape = tape
        self._settings = settings
        self._model = model
        self._id = new_id("sess")
        self._decoder = Decoder(settings.format)
        self._outbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue(MAX_UNREAD_EVENTS)
        self._tasks: set[asyncio.Task[None]] = set()
        self._has_work = asyncio.Event()
        self._has_moved = asyncio.Event()
        self._is_ending = False
        self._is_stale = False
        """The settings have changed; the leg that follows them begins with the next item."""
        self._legs: list[Leg] = []
        self._following: dict[Leg, asyncio.Task[None]] = {}
        self._items = Items(0, None)
        """Those of the leg that hears what comes."""
        self._begin_leg(0)

    async def run(self) -> None:
        """Serve until the caller is gone, or nothing more can be done for it."""
        self._say(event("session.created", session=session_object(self._settings, self._id, is_old=False)))
        self._start(self._feed())
        self._start(self._send())
        receiving = asyncio.ensure_future(self._receive())
        self._receiving = receiving
        try:
            await receiving
        except asyncio.CancelledError:
            if (current := asyncio.current_task()) is not None and current.cancelling():
                raise
        finally:
            receiving.cancel()
            for task in list(self._tasks):
                task.cancel()
            for leg in self._legs:
                leg.leave()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def _leg(self) -> Leg:
        """The one that hears what comes."""
        return self._legs[-1]

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a realtime session failed by %s", type(error).__name__)
            log.debug("it says", exc_info=error)
            self._end(_BROKEN)

    def _end(self, code: int) -> None:
        """Close the connection; nothing the caller says from now on is taken."""
        self._is_ending = True

        async def close() -> None:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
                async with asyncio.timeout(CLOSING_S):
                    await self._websocket.close(code)
            self._receiving.cancel()

        self._start(close())

    def _say(self, *told: dict[str, Any]) -> None:
        for one in told:
            try:
                self._outbox.put_nowait(one)
            except asyncio.QueueFull:
                self._end(_TOO_SLOW)
                return

    async def _send(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                told = msgspec.json.encode(await self._outbox.get()).decode()
                try:
                    async with asyncio.timeout(self._door.config.stalled_s):
                        await self._websocket.send_text(told)
                except TimeoutError:
                    self._end(_TOO_SLOW)
                    return

    async def _receive(self) -> None:
        """Take what the caller says, for as long as it says anything."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect" or self._is_ending:
                return
            try:
                text = message.get("text")
                if text is None:
                    raise Misunderstood(ApiError(400, "Events are text.", code="invalid_value", param="type"))
                heard, event_id = read_event(text)
                await self._take(heard, event_id)
            except Misunderstood as error:
                self._say(error_event(error.error, error.event_id))
            await self._await_room()

    async def _take(self, heard: Update | Append | Commit | Clear, event_id: str | None) -> None:
        try:
            match heard:
                case Append(data=data):
                    self._tape.append(self._decoder.decode(data))
                    self._has_work.set()
                case Commit():
                    self._commit()
                case Clear():
                    self._clear()
                case Update():
                    await self._update(heard)
        except ApiError as error:
            raise Misunderstood(error, event_id) from error
        except OSError as error:
            full = ApiError(507, "There is no room on the server's disk.", code="disk_full")
            self._say(error_event(full, event_id))
            self._end(_BROKEN)
            raise asyncio.CancelledError from error

    async def _await_room(self) -> None:
        """Let the caller wait while too much is on the disk: it feels that nothing is read."""
        while self._tape.end - self._legs[0].decoded > MAX_BEHIND_SAMPLES:
            self._has_moved.clear()
            await self._has_moved.wait()

    def _commit(self) -> None:
        if self._items.num_sent(self._tape.end) < LEAST_COMMIT_SAMPLES:
            code = "input_audio_buffer_commit_empty"
            raise ApiError(400, "There is less than 100 ms of sound to commit.", code=code)
        self._end_item(self._tape.end)
        self._leg.mark(self._tape.end)
        self._has_work.set()
        if self._is_stale:
            self._begin_leg(self._tape.end)

    def _clear(self) -> None:
        self._say(event("input_audio_buffer.cleared"))
        self._decoder = Decoder(self._settings.format)
        # What was heard cannot be unheard: another job hears what follows.
        self._begin_leg(self._tape.end)

    async def _update(self, update: Update) -> None:
        before, now = self._settings, updated(self._settings, update)
        model = self._model
        if now.model != before.model:
            model = await _find_model(self._door, now)
        self._settings, self._model = now, model
        if now.format is not before.format:
            self._decoder = Decoder(now.format)
        kind = "transcription_session.updated" if update.is_old else "session.updated"
        self._say(event(kind, session=session_object(now, self._id, is_old=update.is_old)))
        only_language = msgspec.structs.replace(before, language=now.language, format=now.format)
        if now == only_language:
            if now.language != before.language:
                self._leg.set_language(now.language)
            return
        self._is_stale = True
        is_silent = before.turns is not None and not self._items.has_current
        if self._leg.is_unfed or is_silent:
            self._begin_leg(self._tape.end if is_silent and not self._leg.is_unfed else self._leg.first)

    def _begin_leg(self, first: int) -> None:
        """Let another job hear what comes from `first` on; the one before ends with its committed items."""
        self._is_stale = False
        if self._legs:
            if self._items.committed:
                self._leg.limit = first
            else:
                self._drop(self._leg)
        leg = Leg(
            self._door.bridge, self._tape, first, self._settings.options(self._model), self._settings.turns
        )
        self._items = Items(first, self._items.last_id)
        self._legs.append(leg)
        self._following[leg] = self._start(self._follow(leg, self._items))

    def _drop(self, leg: Leg) -> None:
        """Hear no more of a leg; not to be called by the task that follows it."""
        self._legs.remove(leg)
        self._following.pop(leg).cancel()
        leg.leave()

    def _end_item(self, end: int) -> None:
        self._say(*self._items.commit(end))

    async def _follow(self, leg: Leg, items: Items) -> None:
        """Tell what a leg hears, until all its items are over and another has taken its place."""
        wants_logprobs = self._settings.wants_logprobs
        async for heard in leg.events():
            self._tell(heard, leg, items)
            if isinstance(heard, Flushed):
                for item in items.take_finished(heard.sample):
                    self._say(item.completed(with_logprobs=wants_logprobs))
            if leg is not self._leg and not items.committed:
                break
        if leg.failure is not None:
            self._give_up(leg, items)
        leg.leave()
        self._legs.remove(leg)
        del self._following[leg]

    def _tell(self, heard: JobEvent, leg: Leg, items: Items) -> None:
        is_current = leg is self._leg
        match heard:
            case Confirmed(delta=delta):
                if is_current or items.committed:
                    self._say(*items.first.add(delta))
            case SegmentDone(segment=segment):
                items.first.segments.append(segment)
            case LanguageDetected(language=language):
                items.note_language(language)
            case SpeechStarted(sample=sample) if is_current:
                told_ms = sample * 1000 // SAMPLE_RATE_HZ
                item = items.current
                item.first = sample
                self._say(event("input_audio_buffer.speech_started", audio_start_ms=told_ms, item_id=item.id))
            case SpeechEnded(sample=sample) if is_current:
                told_ms = sample * 1000 // SAMPLE_RATE_HZ
                item_id = items.current.id
                self._say(event("input_audio_buffer.speech_stopped", audio_end_ms=told_ms, item_id=item_id))
                self._end_item(sample)
                if self._is_stale:
                    self._begin_leg(sample)
            case Backlog():
                self._tape.forget(min(one.needed_from for one in self._legs))
                self._has_moved.set()
                self._has_work.set()
            case Warned(failure=why):
                self._say(error_event(error_of(why)))
            case _:
                pass

    def _give_up(self, leg: Leg, items: Items) -> None:
        """Tell that a leg's items have failed; the session goes on, behind what is lost."""
        assert leg.failure is not None
        error = error_of(leg.failure)
        is_current = leg is self._leg
        if is_current and items.has_current:
            self._end_item(self._tape.end)
        self._say(*(item.failed(error.body()["error"]) for item in items.take_all()))
        self._say(error_event(error))
        if is_current:
            self._end(_BROKEN)

    async def _feed(self) -> None:
        """Give the engine what is on the tape, as fast as it takes it."""
        while True:
            await self._has_work.wait()
            self._has_work.clear()
            is_all = min(tuple(leg.feed() for leg in self._legs), default=True)
            if not is_all:
                # It says when it has moved; an engine that is being started again says nothing.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._has_work.wait(), RETRY_S)
                self._has_work.set()
