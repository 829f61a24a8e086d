"""TranscriptionManager: the engine's front. Takes requests, feeds the models, tells every job's story."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path
from typing import assert_never

from engine.adapters import import_families
from engine.config import ManagerSettings
from engine.ipc import Inbox, Outbox
from engine.machine import machine_bytes
from engine.manager.clients import AwakeClock, Clients
from engine.manager.diagnosis import machine_facts
from engine.manager.downloads import ModelJobs
from engine.manager.fleet import Casualties, Fleet
from engine.manager.live_jobs import LiveJobs
from engine.manager.models import ModelStore
from engine.manager.reader import probe_media
from engine.manager.server_models import ask_for_models, describe
from engine.manager.stories import Stories
from engine.manager.transcriptions import Transcriptions
from engine.messages import (
    Abort,
    BatchEmbeddingOutput,
    BatchStrOutput,
    DownloadProgress,
    Ended,
    Finish,
    ManagerMessage,
    MediaChunk,
    MediaEnd,
    MediaFailed,
    MediaOpened,
    MediaTrouble,
    ModelJobEnded,
    NothingUntil,
    ServerModels,
    Stats,
    WorkerDied,
    WorkerFailed,
    WorkerHangs,
    WorkerReady,
)
from engine.protocol import PROTOCOL_VERSION
from engine.protocol.events import (
    Diagnosis,
    EngineStats,
    JobCancelled,
    JobDone,
    JobFailed,
    MediaProbed,
    ModelList,
    Progress,
    Refused,
    Welcome,
)
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.requests import (
    Alive,
    Cancel,
    CloseStream,
    Diagnose,
    DownloadModel,
    Feed,
    Flush,
    Goodbye,
    Hello,
    JobId,
    JobRequest,
    Listen,
    ListModels,
    Measure,
    ProbeMedia,
    RemoveModel,
    Request,
    SetOptions,
    TranscribeFile,
    UseKey,
    VerifyModel,
)
from engine.rendezvous import disown_engine
from engine.watchdog import Watchdog, end_process
from engine.workers import Workers

log = logging.getLogger(__name__)

CLIENT_PIPE_MESSAGES = 1_000
"""What a client may leave unread before its events wait here and its chunks are not pulled."""
TURN_S = 0.5
"""The longest a turn waits: aliveness and idleness are looked at so often."""


class TranscriptionManager:
    """The loop of the engine's front: drain the inbox, let every part take its turn."""

    def __init__(self, settings: ManagerSettings, inbox: Inbox[ManagerMessage]) -> None:
        config = settings.config
        self._owner = settings.owner
        self._config = config
        self._inbox = inbox
        self._clients = Clients(lambda address: Outbox(address, max_messages=CLIENT_PIPE_MESSAGES))
        self._stories = Stories(self._clients)
        shipped = config.shipped_models_folder
        self._store = ModelStore(Path(config.models_folder), shipped=Path(shipped) if shipped else None)
        self._fleet = Fleet(config, Workers(config, inbox.address), self._clients.tell_all)
        self._model_jobs = ModelJobs(inbox.address, self._store)
        self._transcriptions = Transcriptions(
            self._fleet,
            self._stories,
            self._store,
            inbox_address=inbox.address,
            window_bytes=config.window_bytes,
        )
        self._live = LiveJobs(self._fleet, self._stories, self._store)
        self._probes: set[JobId] = set()
        self._is_owned = True
        self._awake = AwakeClock(time.monotonic(), longest_turn_s=4 * TURN_S)

    def run(self, watchdog: Watchdog) -> None:
        """Serve until the owner is gone and nobody else has an open job."""
        while self._is_owned or self._serves_others():
            with watchdog.idle():
                messages = self._inbox.drain(TURN_S)
            self._awake.turn(time.monotonic())
            for message in messages:
                self._take(message)
            self._live.turn()
            self._transcriptions.turn()
            self._bury(self._fleet.turn(time.monotonic()))
            self._clients.flush()
            self._give_up_silent()

    def close(self) -> None:
        """End what runs, in the order that loses nothing."""
        self._transcriptions.close()
        self._model_jobs.close()
        self._fleet.close()
        self._clients.close()

    def _take(self, message: ManagerMessage) -> None:
        match message:
            case BatchStrOutput():
                for output in message.outputs:
                    self._owner_of(output.key.job).answered(output)
            case Ended():
                self._owner_of(message.key.job).ended(message)
            case Finish() | Abort():
                if self._fleet.came_back(message) and self._is_open(message.job):
                    self._owner_of(message.job).marker_came_back(message)
            case MediaOpened() | MediaChunk() | NothingUntil() | MediaTrouble() | MediaEnd() | MediaFailed():
                self._heard_of_media(message)
            case WorkerReady():
                self._fleet.ready(message)
            case WorkerFailed():
                self._bury(self._fleet.failed(message))
            case WorkerDied():
                self._bury(self._fleet.died(message))
            case WorkerHangs():
                self._fleet.hangs(message.worker)
            case DownloadProgress() | ModelJobEnded():
                self._heard_of_model(message)
            case ServerModels():
                self._heard_of_server(message)
            case Stats():
                self._fleet.told(message)
            case BatchEmbeddingOutput():
                log.debug("nobody waits for %s", type(message).__name__)
            case _:
                self._ask(message)

    def _ask(self, request: Request) -> None:
        match request:
            case Hello():
                self._greet(request)
            case Alive():
                self._clients.heard(request.client, self._awake.now_s)
            case Goodbye():
                self._leave(request.client)
            case Cancel():
                self._cancel(request.job)
            case UseKey():
                self._fleet.use_key(request.server, request.key)
            case Feed() | Flush() | CloseStream() | SetOptions():
                self._live.heard(request)
            case _ if request.client in self._clients and not self._stories.is_open(request.job):
                self._stories.begin(request.job, request.client)
                self._begin(request)
            case _:
                log.warning("a request of nobody's, or one that came twice, is not served")

    def _begin(self, request: JobRequest) -> None:
        job = request.job
        match request:
            case TranscribeFile():
                self._transcriptions.start(request)
            case Listen():
                self._live.start(request)
            case ProbeMedia():
                self._probes.add(job)
                probe_media(job, request.path, self._inbox.address)
            case ListModels(server=""):
                self._list_models(job)
            case ListModels(server=server):
                ask_for_models(job, server, self._fleet.key_for(server), self._inbox.address)
            case DownloadModel():
                self._model_jobs.download(job, request.model)
            case VerifyModel():
                self._model_jobs.verify(job, request.model)
            case RemoveModel():
                self._model_jobs.remove(job, request.model)
            case Measure():
                stats = EngineStats(job=job, models=self._fleet.loads(), num_jobs=self._stories.num_open - 1)
                self._stories.tell(stats, JobDone(job=job))
            case Diagnose():
                facts = (*machine_facts(self._config), *self._fleet.facts())
                self._stories.tell(Diagnosis(job=job, facts=facts), JobDone(job=job))
            case _:
                assert_never(request)

    def _is_open(self, job: JobId) -> bool:
        return job in self._live or job in self._transcriptions

    def _owner_of(self, job: JobId) -> LiveJobs | Transcriptions:
        return self._live if job in self._live else self._transcriptions

    def _bury(self, casualties: Casualties) -> None:
        self._live.bury(casualties)
        self._transcriptions.bury(casualties)

    def _greet(self, hello: Hello) -> None:
        try:
            self._welcome(hello)
        except OSError as error:
            log.warning("a client cannot be answered: %s", error)

    def _welcome(self, hello: Hello) -> None:
        if hello.protocol_version != PROTOCOL_VERSION:
            detail = f"client {hello.protocol_version}, engine {PROTOCOL_VERSION}"
            pipe = Outbox(hello.address)
            pipe.put(Refused(failure=failure(FailureKind.PROTOCOL_MISMATCH, "Jamak", detail)))
            pipe.close()
            return
        self._clients.attach(hello, self._awake.now_s)
        self._clients.tell(hello.client, Welcome(engine_pid=os.getpid(), protocol_version=PROTOCOL_VERSION))

    def _leave(self, client: str) -> None:
        for job in self._stories.jobs_of(client):
            self._cancel(job)
        self._clients.detach(client)
        if client == self._owner and self._is_owned:
            self._is_owned = False
            if self._serves_others():
                disown_engine(self._config.runtime_folder)

    def _serves_others(self) -> bool:
        return any(self._stories.jobs_of(client) for client in self._clients.names)

    def _give_up_silent(self) -> None:
        """Cancel the jobs of clients that are as good as dead, and forget them when those have ended.

        Not before: one that was only asleep must find its endings. An owner that is silent is still
        an owner: its death is the end of our stdin.
        """
        for client in self._clients.silent(self._awake.now_s):
            jobs = self._stories.jobs_of(client)
            for job in jobs:
                self._cancel(job)
            if not jobs:
                log.info("a client has fallen silent")
                self._clients.detach(client)

    def _cancel(self, job: JobId) -> None:
        if job in self._live:
            self._live.cancel(job)
        elif job in self._transcriptions:
            self._transcriptions.cancel(job)
        elif job in self._probes:
            self._probes.discard(job)
            self._stories.tell(JobCancelled(job=job))
        elif self._stories.is_open(job):
            self._model_jobs.cancel(job)

    def _list_models(self, job: JobId) -> None:
        try:
            models = self._store.list_models()
        except FailureError as error:
            self._stories.fail(job, error.failure)
            return
        listed = ModelList(
            job=job,
            models=models,
            folder=self._config.models_folder,
            free_bytes=self._store.free_bytes(),
            memory_bytes=machine_bytes(),
        )
        self._stories.tell(listed, JobDone(job=job))

    def _heard_of_server(self, message: ServerModels) -> None:
        if message.failure is not None:
            self._stories.fail(message.job, message.failure)
            return
        listed = ModelList(job=message.job, models=describe(message), folder=message.server, free_bytes=0)
        self._stories.tell(listed, JobDone(job=message.job))

    def _heard_of_media(
        self, message: MediaOpened | MediaChunk | NothingUntil | MediaTrouble | MediaEnd | MediaFailed
    ) -> None:
        if message.job not in self._probes:
            self._transcriptions.heard_of_media(message)
            return
        match message:
            case MediaOpened():
                self._stories.tell(MediaProbed(job=message.job, media=message.info))
            case MediaEnd():
                self._probes.discard(message.job)
                self._stories.tell(JobDone(job=message.job))
            case MediaFailed():
                self._probes.discard(message.job)
                self._stories.fail(message.job, message.failure)
            case MediaChunk() | NothingUntil() | MediaTrouble():
                pass
            case _:
                assert_never(message)

    def _heard_of_model(self, message: DownloadProgress | ModelJobEnded) -> None:
        job = message.job
        match message:
            case DownloadProgress():
                self._stories.tell(Progress(job=job, done=message.done_bytes, total=message.total_bytes))
            case ModelJobEnded(is_cancelled=True):
                self._stories.tell(JobCancelled(job=job))
            case ModelJobEnded(failure=None):
                self._stories.tell(JobDone(job=job))
            case ModelJobEnded(failure=why):
                assert why is not None
                self._stories.tell(JobFailed(job=job, failure=why))
            case _:
                assert_never(message)


def run(settings: ManagerSettings) -> None:
    """Be the engine's front until nobody needs it. The process's main; raises OSError without an inbox."""
    import_families(settings.config.families)
    inbox: Inbox[ManagerMessage] = Inbox(settings.address, ManagerMessage)
    manager = TranscriptionManager(settings, inbox)
    watchdog = Watchdog(settings.config.hang_s, end_process)
    watchdog.start()
    try:
        manager.run(watchdog)
    finally:
        manager.close()
        watchdog.close()
        inbox.close()
