"""The open jobs of a client, and the one ending each of them gets; pure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePath
from typing import assert_never

from engine.protocol.elsewhere import subject_of_model
from engine.protocol.events import JobCancelled, JobDone, JobEnding, JobEvent, JobFailed
from engine.protocol.requests import (
    Diagnose,
    DownloadModel,
    JobId,
    JobRequest,
    Listen,
    ListModels,
    Measure,
    ProbeMedia,
    RemoveModel,
    TranscribeFile,
    VerifyModel,
)


class Stories:
    """Remembers what was asked for and has not ended. Nothing is told of a job outside of that time."""

    def __init__(self) -> None:
        self._open: dict[JobId, JobRequest] = {}
        self._begun: set[JobId] = set()

    @property
    def has_begun_any(self) -> bool:
        """Whether an open job has told something already."""
        return bool(self._begun)

    @property
    def requests(self) -> list[JobRequest]:
        """Of all open jobs, in the order they were asked for."""
        return list(self._open.values())

    def is_open(self, job: JobId) -> bool:
        return job in self._open

    def begin(self, request: JobRequest) -> None:
        """Open the job of `request`."""
        self._open[request.job] = request

    def accept(self, event: JobEvent) -> bool:
        """Say whether `event` may be told; an ending closes its job."""
        if event.job not in self._open:
            return False
        if isinstance(event, JobDone | JobFailed | JobCancelled):
            del self._open[event.job]
            self._begun.discard(event.job)
        else:
            self._begun.add(event.job)
        return True

    def end_all(self, ending: Callable[[JobRequest], JobEnding]) -> list[JobEnding]:
        """Close every open job and return the endings to tell."""
        endings = [ending(request) for request in self._open.values()]
        self._open.clear()
        self._begun.clear()
        return endings


def subject_of(request: JobRequest) -> str:
    """Return what a person calls the thing that was asked about."""
    match request:
        case TranscribeFile(path=path) | ProbeMedia(path=path):
            return PurePath(path).name
        case DownloadModel(model=model) | VerifyModel(model=model) | RemoveModel(model=model):
            return PurePath(model).name
        case Listen(options=options):
            return subject_of_model(options.model)
        case ListModels() | Diagnose() | Measure():
            return "Jamak"
        case _:
            assert_never(request)
