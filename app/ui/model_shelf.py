"""Which models there are, which are on this computer, and what is being fetched or checked right now."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec
from PySide6.QtCore import QObject, Signal

from app.settings import Settings
from engine.languages import LANGUAGE_CODES
from engine.protocol.elsewhere import Elsewhere, subject_of_model
from engine.protocol.events import (
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    JobEnding,
    JobFailed,
    ModelList,
    ModelState,
    Progress,
    Welcome,
)
from engine.protocol.requests import JobId
from engine.protocol.transcript import ModelInfo, ModelPhase, Task


class ModelPort(Protocol):
    """What the shelf asks of the engine (`app.engine_link.EngineLink`; a fake in tests)."""

    def list_models(self, server: str = "") -> JobId: ...

    def use_key(self, server: str, key: str) -> None: ...

    def download_model(self, model: str) -> JobId: ...

    def verify_model(self, model: str) -> JobId: ...

    def remove_model(self, model: str) -> JobId: ...

    def cancel(self, job: JobId) -> None: ...


class Errand(StrEnum):
    """What is being done with a model."""

    DOWNLOAD = "download"
    VERIFY = "verify"
    REMOVE = "remove"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """An errand that is under way. `done` and `total` are bytes."""

    errand: Errand
    model: str
    done: float = 0.0
    total: float | None = None
    remaining_s: float | None = None


class ModelShelf(QObject):
    """The one home of what is known about models.

    Signals: `listed` when the list is new; `worked(model)` when an errand began or went on;
    `ended(model, errand, ending)` when one is over, with its `JobDone`, `JobFailed` or `JobCancelled`;
    `state_changed(ModelState)` when a model is being loaded, runs or is gone;
    `server_listed(server, names)` and `server_failed(failure)` answer `ask_server`.
    """

    listed = Signal()
    worked = Signal(str)
    ended = Signal(str, object, object)
    state_changed = Signal(object)
    server_listed = Signal(str, object)
    server_failed = Signal(object)

    def __init__(self, engine: ModelPort, folders: Iterable[str] = (), parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine = engine
        self._folders = tuple(folders)
        self._models: tuple[ModelInfo, ...] = ()
        self._elsewhere: tuple[ModelInfo, ...] = ()
        """Of the server that the user named."""
        self._list_job: JobId | None = None
        self._server_job: JobId | None = None
        self._work: dict[JobId, Work] = {}
        self.is_listed = False
        self.free_bytes = 0
        self.memory_bytes: int | None = None
        """Of the machine that models run on."""
        self.folder = ""

    @property
    def models(self) -> tuple[ModelInfo, ...]:
        """All known models, then the folders the user pointed at."""
        known = {model.key for model in self._models}
        own = tuple(_folder_model(folder) for folder in self._folders if folder not in known)
        return (*self._models, *own)

    @property
    def installed(self) -> tuple[ModelInfo, ...]:
        """The models a file can be transcribed with, those of the server elsewhere last."""
        here = (model for model in self.models if model.phase is ModelPhase.INSTALLED and model.is_runnable)
        return (*here, *self._elsewhere)

    @property
    def elsewhere(self) -> tuple[ModelInfo, ...]:
        """The models of the server elsewhere."""
        return self._elsewhere

    def get(self, key: str) -> ModelInfo | None:
        """Return one model."""
        return next((model for model in (*self.models, *self._elsewhere) if model.key == key), None)

    def name_of(self, key: str) -> str:
        """Return what a person calls a model, also one that is not known here."""
        known = self.get(key)
        return known.name if known is not None else subject_of_model(key)

    def choosing(self, key: str, now: Settings) -> dict[str, object]:
        """Return the settings to change so that a model is used: what it cannot do is not asked of it."""
        changes: dict[str, object] = {"model": key}
        model = self.get(key)
        if model is not None and not model.can_translate and now.task is Task.TRANSLATE:
            changes["task"] = Task.TRANSCRIBE
        if model is not None and model.languages and now.language not in (None, *model.languages):
            changes["language"] = None
        return changes

    def companion(self, model: ModelInfo) -> ModelInfo | None:
        """Return the model that helps this one, if there is such a one to be had."""
        return next(
            (one for one in self.models if one.companion_of and one.companion_of == model.family), None
        )

    def work_on(self, key: str) -> Work | None:
        """Return what is being done with a model."""
        return next((work for work in self._work.values() if work.model == key), None)

    def set_folders(self, folders: Iterable[str]) -> None:
        """Use these folders of the user's as models too."""
        self._folders = tuple(folders)
        self.listed.emit()

    def set_server(self, server: str, names: Iterable[str]) -> None:
        """Offer these models of a server elsewhere too, instead of those of another; empty: none."""
        self._elsewhere = tuple(_server_model(server, name) for name in names) if server else ()
        self.listed.emit()

    def ask_server(self, server: str, key: str) -> None:
        """Ask a server for its models; `server_listed` or `server_failed` tells what came of it."""
        self._engine.use_key(server, key)
        self._server_job = self._engine.list_models(server)

    def refresh(self) -> None:
        """Ask for the list; `listed` tells when it is there."""
        self._list_job = self._engine.list_models()

    def begin(self, errand: Errand, key: str) -> None:
        """Download, verify or remove a model; one errand for a model at a time."""
        if self.work_on(key):
            return
        match errand:
            case Errand.DOWNLOAD:
                job = self._engine.download_model(key)
            case Errand.VERIFY:
                job = self._engine.verify_model(key)
            case Errand.REMOVE:
                job = self._engine.remove_model(key)
        self._work[job] = Work(errand=errand, model=key)
        self.worked.emit(key)

    def stop(self, key: str) -> None:
        """Cancel what is being done with a model; what has arrived is kept."""
        for job, work in self._work.items():
            if work.model == key:
                self._engine.cancel(job)

    def on_events(self, events: Iterable[Event]) -> None:
        """Take in what the engine told; events of other jobs are none of the shelf's business."""
        for event in events:
            self._on_event(event)

    def _on_event(self, event: Event) -> None:
        match event:
            case ModelList(job=job) if job == self._server_job:
                self.server_listed.emit(event.folder, tuple(model.name for model in event.models))
            case ModelList():
                self._on_list(event)
            case Progress(job=job) if work := self._work.get(job):
                self._work[job] = msgspec.structs.replace(
                    work, done=event.done, total=event.total, remaining_s=event.remaining_s
                )
                self.worked.emit(work.model)
            case JobDone() | JobFailed() | JobCancelled():
                self._on_ending(event)
            case ModelState():
                self.state_changed.emit(event)
            case Welcome():
                self._ask_again_if_lost()
            case EngineLost():
                self._list_job = None
            case _:
                pass

    def _on_list(self, event: ModelList) -> None:
        self._models = event.models
        self.free_bytes = event.free_bytes
        self.memory_bytes = event.memory_bytes
        self.folder = event.folder
        self.is_listed = True
        self.listed.emit()

    def _on_ending(self, ending: JobEnding) -> None:
        if ending.job == self._list_job:
            self._list_job = None
        if ending.job == self._server_job:
            self._server_job = None
            if isinstance(ending, JobFailed):
                self.server_failed.emit(ending.failure)
        if work := self._work.pop(ending.job, None):
            self.ended.emit(work.model, work.errand, ending)
            self.refresh()

    def _ask_again_if_lost(self) -> None:
        if self._list_job is None and not self.is_listed:
            self.refresh()


def _server_model(server: str, name: str) -> ModelInfo:
    there = Elsewhere(server, name)
    return ModelInfo(
        key=there.key,
        name=name,
        family="",
        size_bytes=0,
        languages=LANGUAGE_CODES,
        can_translate=True,
        phase=ModelPhase.INSTALLED,
        folder=there.host,
    )


def _folder_model(folder: str) -> ModelInfo:
    path = Path(folder)
    is_there = (path / "config.json").is_file()
    return ModelInfo(
        key=folder,
        name=path.name,
        family="",
        size_bytes=0,
        languages=(),
        can_translate=True,
        phase=ModelPhase.INSTALLED if is_there else ModelPhase.MISSING,
        folder=folder,
    )
