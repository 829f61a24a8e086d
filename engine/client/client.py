"""EngineClient: the one way to the engine for the window, the command line and the server."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.client.conversation import Conversation, Loss
from engine.client.process import EngineUnreachable, meet_engine
from engine.client.stories import Stories, subject_of
from engine.client.streams import Streams
from engine.config import EngineConfig
from engine.protocol.events import (
    Backlog,
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobEnding,
    JobEvent,
    JobFailed,
    ModelState,
    Refused,
    Welcome,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import (
    Cancel,
    CloseStream,
    Diagnose,
    DownloadModel,
    Feed,
    Flush,
    JobId,
    JobRequest,
    Listen,
    ListModels,
    Measure,
    ProbeMedia,
    RemoveModel,
    SetOptions,
    StreamRequest,
    TranscribeFile,
    UseKey,
    VerifyModel,
)
from engine.protocol.transcript import Options, VadSettings

log = logging.getLogger(__name__)

CLOSE_S: Final = 10.0


class EngineClient:
    """Starts or attaches to an engine, sends requests to it and tells what comes back.

    `on_event` is called on the reader thread, one event at a time; each job ends exactly once, and
    nothing is told of it after. If the engine ends unasked, every open job fails, then `EngineLost`
    is told; requests made from then on are kept for the engine that `restart` brings. All methods
    may be called from any thread, `on_event` included.
    """

    def __init__(self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "gui") -> None:
        self._config = config
        self._on_event = on_event
        self._name = name
        self._client = f"{name}-{uuid.uuid4().hex[:12]}"
        self._lock = threading.Lock()
        """Guards the seven below."""
        self._stories = Stories()
        self._streams = Streams()
        self._unsent: list[JobRequest | StreamRequest] = []
        self._cancelled_unsent: deque[JobId] = deque()
        self._keys: dict[str, str] = {}
        self._conversation: Conversation | None = None
        self._is_sending = False
        self._wake = threading.Event()
        self._is_engine_wanted = threading.Event()
        self._is_closing = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True, name=f"client-{name}")

    def start(self) -> None:
        """Start an engine or attach to the one that runs; returns at once, `Welcome` is told later.

        Requests may be made before and are sent when the engine is there.
        """
        self._is_engine_wanted.set()
        self._reader.start()

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        """Transcribe a media file; told are segments that start at `resume_at_sample` or after it."""
        return self._ask(
            TranscribeFile(
                client=self._client,
                job=_new_job(),
                # The engine may have been started elsewhere by another program.
                path=str(Path(path).absolute()),
                options=options,
                resume_at_sample=resume_at_sample,
            )
        )

    def listen(self, options: Options, start_sample: int = 0, turns: VadSettings | None = None) -> JobId:
        """Open a live session; what is fed to it is told while it is spoken, from `start_sample` on.

        With `turns` it also tells where speech begins and ends, and flushes there.
        """
        request = Listen(
            client=self._client, job=_new_job(), options=options, start_sample=start_sample, turns=turns
        )
        with self._lock:
            self._streams.open(request.job, start_sample)
        return self._ask(request)

    def feed(self, job: JobId, first_sample: int, pcm: bytes) -> bool:
        """Give a live session audio: mono float32 little-endian, 16 kHz, best about half a second.

        False: nothing was taken, because the engine is not there (yet), is too far behind, or the
        session is over. Offer the same again later; `Backlog` events tell how far the engine is.
        """
        with self._lock:
            if self._conversation is None or not self._is_sending:
                return False
            if not self._streams.may_feed(job, first_sample + len(pcm) // 4):
                return False
            self._conversation.say(Feed(client=self._client, job=job, first_sample=first_sample, pcm=pcm))
            return True

    def flush(self, job: JobId, at_sample: int | None = None) -> None:
        """Pause a live session: everything fed so far is decoded and confirmed, and it stays open.

        With `at_sample` only what was said before it. `Flushed` tells when that is so.
        """
        self._say(Flush(client=self._client, job=job, at_sample=at_sample))

    def close_stream(self, job: JobId) -> None:
        """End a live session: everything fed so far is decoded and confirmed, then comes `JobDone`."""
        self._say(CloseStream(client=self._client, job=job))

    def set_options(self, job: JobId, *, language: str | None) -> None:
        """Choose the language of a live session from here on; None: find out anew."""
        self._say(SetOptions(client=self._client, job=job, language=language))

    def probe(self, path: str) -> JobId:
        """Ask what is in a media file."""
        return self._ask(ProbeMedia(client=self._client, job=_new_job(), path=str(Path(path).absolute())))

    def use_key(self, server: str, key: str) -> None:
        """Present a key to a server elsewhere (`Elsewhere.server`) from now on; empty: none.

        It is told to every engine we come to, and kept in memory only.
        """
        with self._lock:
            self._keys[server] = key
            if self._conversation is not None and self._is_sending:
                self._conversation.say(UseKey(client=self._client, server=server, key=key))

    def list_models(self, server: str = "") -> JobId:
        """Ask for every model known or installed, or for those of a server elsewhere."""
        return self._ask(ListModels(client=self._client, job=_new_job(), server=server))

    def download_model(self, model: str) -> JobId:
        """Fetch a catalogue model."""
        return self._ask(DownloadModel(client=self._client, job=_new_job(), model=model))

    def verify_model(self, model: str) -> JobId:
        """Check an installed model's files against their hashes."""
        return self._ask(VerifyModel(client=self._client, job=_new_job(), model=model))

    def remove_model(self, model: str) -> JobId:
        """Delete a downloaded model."""
        return self._ask(RemoveModel(client=self._client, job=_new_job(), model=model))

    def diagnose(self) -> JobId:
        """Ask for versions, devices and paths."""
        return self._ask(Diagnose(client=self._client, job=_new_job()))

    def measure(self) -> JobId:
        """Ask how much there is to do and how fast it goes."""
        return self._ask(Measure(client=self._client, job=_new_job()))

    def cancel(self, job: JobId) -> None:
        """Forget a job; it still tells its one ending, which may be another if that was on its way."""
        with self._lock:
            if not self._stories.is_open(job):
                return
            kept = [request for request in self._unsent if request.job != job]
            if len(kept) < len(self._unsent):
                self._unsent = kept
                self._cancelled_unsent.append(job)
            elif self._conversation is not None:
                self._conversation.say(Cancel(client=self._client, job=job))
        self._ring()

    def restart(self) -> None:
        """Start an engine again after `EngineLost` or `Refused`; no effect while there is one."""
        self._is_engine_wanted.set()
        self._ring()

    def close(self) -> None:
        """Detach: open jobs end as cancelled, and an engine of ours ends too unless others use it.

        Waits for that (not when called by `on_event`); calling it again is harmless. Nothing is told
        after it has returned.
        """
        self._is_closing.set()
        self._ring()
        if self._reader.ident is None or threading.current_thread() is self._reader:
            return
        self._reader.join(CLOSE_S)
        with self._lock:
            conversation = self._conversation
        if self._reader.is_alive() and conversation is not None:
            log.warning("an event is still being handled; the engine is ended without it")
            conversation.engine.kill()

    def _ask(self, request: JobRequest) -> JobId:
        with self._lock:
            self._stories.begin(request)
            self._say_or_keep(request)
        return request.job

    def _say(self, request: StreamRequest) -> None:
        """Say something to a live session; nothing happens once it is over."""
        with self._lock:
            if self._stories.is_open(request.job):
                self._say_or_keep(request)

    def _say_or_keep(self, request: JobRequest | StreamRequest) -> None:
        if self._conversation is not None and self._is_sending:
            self._conversation.say(request)
        else:
            self._unsent.append(request)

    def _ring(self) -> None:
        """Make the reader look up."""
        self._wake.set()
        with self._lock:
            if self._conversation is not None:
                self._conversation.ring()

    def _read(self) -> None:
        """Serve with one engine after the other until we close; the reader thread's whole life."""
        while not self._is_closing.is_set():
            if self._is_engine_wanted.is_set():
                loss = self._serve()
                if loss is not None and not self._may_go_on(loss):
                    self._is_engine_wanted.clear()
                    self._tell_loss(loss)
            else:
                self._tell_cancelled()
                self._wake.wait()
                self._wake.clear()
        self._tell_endings(_cancelled)

    def _serve(self) -> Loss | None:
        """Converse until the engine is lost, or we close (None)."""
        try:
            engine = meet_engine(self._config, self._client, lambda: not self._is_closing.is_set())
            if engine is None:
                return None
            conversation = Conversation(engine, self._client, Path(self._config.runtime_folder))
        except (EngineUnreachable, OSError) as error:
            log.error("there is no engine: %s", type(error).__name__)
            return Loss(detail=str(error))
        with self._lock:
            self._conversation = conversation
        loss = self._converse(conversation)
        with self._lock:
            self._conversation, self._is_sending = None, False
        conversation.close()
        return loss

    def _converse(self, conversation: Conversation) -> Loss | None:
        while not self._is_closing.is_set():
            self._tell_all(conversation.hear())
            self._tell_cancelled()
            loss = conversation.find_loss()
            if loss is not None:
                # Its last words may still be on their way to us.
                while events := conversation.hear(0.05):
                    self._tell_all(events)
                return loss
        conversation.say_goodbye()
        self._tell_endings(_cancelled)
        conversation.engine.leave()
        return None

    def _may_go_on(self, loss: Loss) -> bool:
        """Ask the next engine for everything again where the last one only ended in order, unheard."""
        with self._lock:
            requests = self._stories.requests
            # What was fed to a live session is gone with the engine that heard it.
            is_listening = any(isinstance(request, Listen) for request in requests)
            if not loss.is_orderly or self._stories.has_begun_any or is_listening:
                return False
            self._unsent = list(requests)
            return True

    def _tell_all(self, events: list[Event]) -> None:
        for event in events:
            match event:
                case Welcome():
                    self._send_kept()
                    self._tell(event)
                case Refused() | ModelState() | EngineLost():
                    self._tell(event)
                case _:
                    with self._lock:
                        is_news = self._stories.accept(event)
                        self._note(event)
                    if is_news:
                        self._tell(event)

    def _note(self, event: JobEvent) -> None:
        """Keep the books of live sessions."""
        match event:
            case Backlog():
                self._streams.heard(event)
            case JobDone() | JobFailed() | JobCancelled():
                self._streams.close(event.job)
            case _:
                pass

    def _send_kept(self) -> None:
        with self._lock:
            keys = [UseKey(client=self._client, server=name, key=key) for name, key in self._keys.items()]
            for request in [*keys, *self._unsent]:
                if self._conversation is not None:
                    self._conversation.say(request)
            self._unsent.clear()
            self._is_sending = True

    def _tell_cancelled(self) -> None:
        """End the jobs that were cancelled before an engine knew of them."""
        while True:
            with self._lock:
                if not self._cancelled_unsent:
                    return
                ending = JobCancelled(job=self._cancelled_unsent.popleft())
                is_news = self._stories.accept(ending)
                self._note(ending)
            if is_news:
                self._tell(ending)

    def _tell_loss(self, loss: Loss) -> None:
        with self._lock:
            names = [subject_of(request) for request in self._stories.requests]
        subject = ", ".join(dict.fromkeys(names)) or "Jamak"
        self._tell_endings(
            lambda request: JobFailed(job=request.job, failure=_why(loss, subject_of(request)))
        )
        if loss.refusal is not None:
            self._tell(Refused(failure=loss.refusal))
        else:
            self._tell(EngineLost(failure=_why(loss, subject)))

    def _tell_endings(self, ending: Callable[[JobRequest], JobEnding]) -> None:
        with self._lock:
            endings = self._stories.end_all(ending)
            for event in endings:
                self._streams.close(event.job)
            self._unsent.clear()
            self._cancelled_unsent.clear()
        for event in endings:
            self._tell(event)

    def _tell(self, event: Event) -> None:
        try:
            self._on_event(event)
        except Exception as error:
            # A handler's mistake must not cost the other jobs their endings.
            log.error("the handler of %s failed: %s", type(event).__name__, type(error).__name__)
            log.debug("it says", exc_info=True)


def _new_job() -> JobId:
    return uuid.uuid4().hex


def _cancelled(request: JobRequest) -> JobEnding:
    return JobCancelled(job=request.job)


def _why(loss: Loss, subject: str) -> Failure:
    return loss.refusal or failure(FailureKind.ENGINE_DIED, subject, loss.detail)
