"""The loaded models and the detokenizer: started when wanted, restarted when dead, unloaded when idle."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from engine.config import DetokenizerSettings, EngineConfig, RemoteSettings, SchedulerSettings
from engine.ipc import Outbox
from engine.manager.room import has_had_its_time, num_sendable, room_for
from engine.manager.served_model import ModelSource, ServedModel
from engine.messages import (
    Abort,
    Chunk,
    ConnectDetokenizer,
    Finish,
    FreezeGC,
    PresentKey,
    Stats,
    WorkerDied,
    WorkerFailed,
    WorkerReady,
)
from engine.protocol.elsewhere import parse_elsewhere, subject_of_model
from engine.protocol.events import ModelState, WorkerPhase
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.stats import ModelLoad
from engine.workers import Worker, Workers

log = logging.getLogger(__name__)

MAX_IDLE_DEATHS = 2
"""So often a process may end with no chunk to blame before its jobs fail."""


@dataclass(frozen=True)
class Casualties:
    """What a death or a failed start means for jobs."""

    failed: tuple[tuple[JobId, Failure], ...] = ()
    """Jobs that cannot go on, with the reason; its subject is the model's."""
    poison: tuple[Chunk, ...] = ()
    """What cannot be decoded: two processes have died of each."""
    restarted: tuple[tuple[JobId, int], ...] = ()
    """Chunks that are decoded anew from their first token."""
    aborted: tuple[JobId, ...] = ()
    """Jobs whose `Abort` died with the process: nothing of them is left on the way."""


class Fleet:
    """At most `max_loaded_models` schedulers and one detokenizer, for the manager's loop.

    A model elsewhere has a remote loop in place of the two, takes no room, and hinders nobody.
    Nothing in here waits: a model that is wanted while there is no room is started when another
    has become idle.
    """

    def __init__(self, config: EngineConfig, workers: Workers, tell: Callable[[ModelState], None]) -> None:
        self._config = config
        self._workers = workers
        self._tell = tell
        self._models: dict[str, ServedModel] = {}
        self._detokenizer: Worker | None = None
        self._text_outbox: Outbox | None = None
        self._num_text_deaths = 0
        self._keys: dict[str, str] = {}
        """By server; in memory alone."""

    def use_key(self, server: str, key: str) -> None:
        """Present a key to a server from now on."""
        self._keys[server] = key
        for model in self._models.values():
            if model.source.is_elsewhere and model.is_ready:
                self._present_key(model)

    def key_for(self, server: str) -> str:
        """Return the key for a server; empty where there is none."""
        return self._keys.get(server, "")

    def join(self, job: JobId, source: ModelSource, *, is_live: bool = False) -> None:
        """Have a job decoded by a model, which is loaded at the next turn with room for it.

        A live job does not wait for room, and other models are given one chunk at a time while it lasts.
        """
        model = self._models.setdefault(source.folder, ServedModel(source))
        model.jobs.add(job)
        if is_live:
            model.live_jobs.add(job)

    def leave(self, job: JobId, key: str, now_s: float) -> None:
        """Forget a job that has ended."""
        model = self._models[key]
        model.jobs.discard(job)
        model.live_jobs.discard(job)
        model.in_flight.drop(job)
        model.idle_since_s = now_s

    def add(self, key: str, chunk: Chunk) -> None:
        """Take a chunk to be answered; sent at the next turn."""
        self._models[key].in_flight.add(chunk)

    def answered(self, key: str, job: JobId, index: int) -> bool:
        """Note an answer; False where none was waited for."""
        model = self._models[key]
        model.num_idle_deaths = self._num_text_deaths = 0
        return model.in_flight.answered(job, index)

    def awaits(self, key: str, job: JobId, index: int) -> bool:
        """Say whether a chunk is not answered yet."""
        return (job, index) in self._models[key].in_flight

    def num_bytes(self, key: str, job: JobId) -> int:
        """Return how much audio of a job is on its way."""
        return self._models[key].in_flight.num_bytes(job)

    def finish(self, key: str, marker: Finish) -> None:
        """Send the marker behind a job's last chunk."""
        self._models[key].mark(marker)

    def abort(self, key: str, job: JobId) -> bool:
        """Drop what waits and runs of a job; False where nothing can be on its way."""
        model = self._models[key]
        model.in_flight.drop(job)
        model.markers.pop((job, Finish), None)
        if not model.is_ready:
            return False
        model.mark(Abort(job=job))
        return True

    def came_back(self, marker: Finish | Abort) -> bool:
        """Note that a marker has made its round; False where it was not waited for."""
        found = [model.markers.pop((marker.job, type(marker)), None) for model in self._models.values()]
        return any(item is not None for item in found)

    def turn(self, now_s: float) -> Casualties:
        """Start what is wanted, send what may go, unload what is idle."""
        failed: list[tuple[JobId, Failure]] = []
        models = self._models.values()
        for model in models:
            if model.jobs and model.worker is None and self._make_room(model):
                try:
                    self._start(model)
                except OSError as error:
                    broken = failure(FailureKind.WORKER_DIED, model.source.name, str(error))
                    failed += [(job, broken) for job in model.jobs]
            if model.is_ready and model.outbox is not None:
                for chunk in model.in_flight.take_sendable(num_sendable(model, models)):
                    model.outbox.put(chunk)
            if has_had_its_time(model, now_s, self._config.idle_unload_s):
                self._unload(model)
        return Casualties(failed=tuple(failed))

    def ready(self, message: WorkerReady) -> None:
        """A process is up: a scheduler gets its chunks, a detokenizer its schedulers."""
        if self._detokenizer is not None and message.worker == self._detokenizer.name:
            self._connect_schedulers(self._detokenizer)
            return
        model = self._model_of(message.worker)
        if model is None or model.outbox is None:
            return
        model.is_ready = True
        model.num_slots = message.slots
        if model.source.is_elsewhere:
            self._present_key(model)
        model.send_markers()
        self._freeze(model.outbox)
        self._tell(ModelState(model=model.source.name, phase=WorkerPhase.READY, device=message.device))

    def failed(self, message: WorkerFailed) -> Casualties:
        """A process cannot start, and has said why."""
        model = self._model_of(message.worker)
        if model is None:
            return Casualties()
        model.forget_worker()
        self._tell(ModelState(model=model.source.name, phase=WorkerPhase.FAILED))
        return Casualties(failed=tuple((job, message.failure) for job in model.jobs))

    def died(self, message: WorkerDied) -> Casualties:
        """A process has ended unasked: what it held is sent again, to its successor."""
        log.warning("%s ended with code %d", message.worker, message.exit_code)
        log.debug("its last words: %s", message.detail)
        if self._detokenizer is not None and message.worker == self._detokenizer.name:
            return self._restart_detokenizer(message)
        model = self._model_of(message.worker)
        if model is None:
            return Casualties()
        restarted = model.in_flight.sent
        model.forget_worker()
        if not restarted:
            model.num_idle_deaths += 1
            if model.num_idle_deaths >= MAX_IDLE_DEATHS:
                return self._give_up(model, message)
        poison = model.in_flight.process_died()
        aborted = [marker.job for marker in model.markers.values() if isinstance(marker, Abort)]
        for job in aborted:
            model.markers.pop((job, Abort))
        return Casualties(
            poison=tuple(poison),
            restarted=tuple(restarted),
            aborted=tuple(aborted),
        )

    def hangs(self, worker: str) -> None:
        """End a process whose loop stands still; its death is then told."""
        found = self._model_of(worker)
        hung = found.worker if found is not None else self._detokenizer
        if hung is not None and hung.name == worker:
            self._workers.kill(hung)

    def told(self, message: Stats) -> None:
        """Note what a scheduler says of its work."""
        if (model := self._model_of(message.worker)) is not None:
            model.stats = message

    def loads(self) -> tuple[ModelLoad, ...]:
        """Return what is loaded, and how much each has to do."""
        return tuple(model.load() for model in self._models.values() if model.worker is not None)

    def facts(self) -> Iterable[tuple[str, str]]:
        """Yield what is loaded, for a report."""
        for model in self._models.values():
            if model.worker is not None:
                yield f"loaded: {model.source.name}", f"{model.source.folder} ({len(model.jobs)} jobs)"

    def close(self) -> None:
        """End every process and wait for it."""
        self._workers.close()
        # Nobody is left to hear what is on its way.
        for model in self._models.values():
            if model.outbox is not None:
                model.outbox.close(0.0)
        if self._text_outbox is not None:
            self._text_outbox.close(0.0)

    def _make_room(self, model: ServedModel) -> bool:
        room = room_for(model, self._models.values(), self._config.max_loaded_models)
        if room.leaving is not None:
            self._unload(room.leaving)
        return room.is_there

    def _present_key(self, model: ServedModel) -> None:
        if model.outbox is not None:
            server = parse_elsewhere(model.source.folder).server
            model.outbox.put(PresentKey(key=self.key_for(server)))

    def _start(self, model: ServedModel) -> None:
        source = model.source
        if source.is_elsewhere:
            settings = RemoteSettings(config=self._config, server=source.folder)
            model.worker = self._workers.start("remote", settings)
            model.outbox = Outbox(model.worker.address)
            return
        detokenizer = self._detokenizer or self._start_detokenizer()
        model.worker = self._workers.start(
            "scheduler",
            SchedulerSettings(
                config=self._config,
                detokenizer_address=detokenizer.address,
                model_key=source.folder,
                family=source.family,
                folder=source.folder,
                companion_folder=source.companion_folder,
            ),
        )
        model.outbox = Outbox(model.worker.address)
        model.detokenizer_address = detokenizer.address
        self._tell(ModelState(model=source.name, phase=WorkerPhase.LOADING))

    def _start_detokenizer(self) -> Worker:
        if self._text_outbox is not None:
            self._text_outbox.close(0.0)
        self._detokenizer = self._workers.start("detokenizer", DetokenizerSettings(config=self._config))
        self._text_outbox = Outbox(self._detokenizer.address)
        return self._detokenizer

    def _restart_detokenizer(self, message: WorkerDied) -> Casualties:
        """Answers on their way are lost, so everything is asked for again as soon as it is up."""
        self._detokenizer = None
        self._num_text_deaths += 1
        models = [model for model in self._models.values() if model.is_loaded_here]
        detail = message.detail
        if self._num_text_deaths <= MAX_IDLE_DEATHS:
            try:
                self._start_detokenizer()
                restarted = [key for model in models for key in model.in_flight.sent]
                return Casualties(restarted=tuple(restarted))
            except OSError as error:
                detail = str(error)
        self._num_text_deaths = 0
        for model in models:
            # It would send to nobody; the next job starts both anew.
            self._unload(model)
        broken = failure(FailureKind.WORKER_DIED, "detokenizer", detail)
        return Casualties(failed=tuple((job, broken) for model in models for job in model.jobs))

    def _connect_schedulers(self, detokenizer: Worker) -> None:
        for model in self._models.values():
            if not model.is_loaded_here or model.outbox is None:
                continue
            if model.detokenizer_address == detokenizer.address:
                continue
            model.detokenizer_address = detokenizer.address
            model.outbox.put(ConnectDetokenizer(address=detokenizer.address))
            model.in_flight.send_again()
            model.send_markers()

    def _give_up(self, model: ServedModel, message: WorkerDied) -> Casualties:
        model.num_idle_deaths = 0
        model.markers.clear()
        self._tell(ModelState(model=model.source.name, phase=WorkerPhase.FAILED))
        kind = FailureKind.WORKER_DIED if model.source.is_elsewhere else FailureKind.MODEL_BROKEN
        broken = failure(kind, subject_of_model(model.source.name), message.detail)
        return Casualties(failed=tuple((job, broken) for job in model.jobs))

    def _freeze(self, outbox: Outbox) -> None:
        """Let every loop forget what it allocated while warming up."""
        outbox.put(FreezeGC())
        if self._text_outbox is not None:
            self._text_outbox.put(FreezeGC())
        gc.collect()
        gc.freeze()

    def _unload(self, model: ServedModel) -> None:
        if model.worker is not None:
            self._workers.end(model.worker)
        model.markers.clear()
        model.forget_worker()
        self._tell(ModelState(model=model.source.name, phase=WorkerPhase.UNLOADED))

    def _model_of(self, worker: str) -> ServedModel | None:
        for model in self._models.values():
            if model.worker is not None and model.worker.name == worker:
                return model
        return None
