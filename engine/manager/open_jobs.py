"""Jobs that a model works on, files and live sessions alike: how they are cancelled, failed and ended."""

from __future__ import annotations

import time
from typing import Generic, Protocol, TypeVar, assert_never

from engine.manager.fleet import Casualties, Fleet
from engine.manager.stories import Stories
from engine.messages import Abort, Chunk, Finish, StrOutput
from engine.protocol.events import JobCancelled
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import JobId


class OpenJob(Protocol):
    """What every such job knows of itself."""

    model: str
    """Key of the loaded model."""
    is_cancelled: bool
    is_finish_back: bool


J = TypeVar("J", bound=OpenJob)


class OpenJobs(Generic[J]):
    """The open jobs of one kind. Used by the manager's loop only; nothing waits."""

    def __init__(self, fleet: Fleet, stories: Stories) -> None:
        self._fleet = fleet
        self._stories = stories
        self._jobs: dict[JobId, J] = {}

    def __contains__(self, job: JobId) -> bool:
        return job in self._jobs

    def cancel(self, job_id: JobId) -> None:
        """Stop a job. Its `JobCancelled` follows when nothing of it is left on the way."""
        job = self._jobs[job_id]
        if job.is_cancelled:
            return
        job.is_cancelled = True
        self._stop(job)
        if not self._fleet.abort(job.model, job_id):
            self._end_cancelled(job_id)

    def fail(self, job_id: JobId, why: Failure) -> None:
        """End a job with a failure; what was told before stays true."""
        job = self._jobs.get(job_id)
        if job is None:
            return
        self._fleet.abort(job.model, job_id)
        if job.is_cancelled:
            self._end_cancelled(job_id)
            return
        self._forget(job_id)
        self._stories.fail(job_id, self._worded(job, why))

    def marker_came_back(self, marker: Finish | Abort) -> None:
        """Take a marker of an open job that has made its round through the loops."""
        match marker:
            case Finish():
                self._jobs[marker.job].is_finish_back = True
            case Abort():
                self._end_cancelled(marker.job)
            case _:
                assert_never(marker)

    def bury(self, casualties: Casualties) -> None:
        """Do what the death of a process means for the jobs."""
        for job_id, index in casualties.restarted:
            if job_id in self._jobs:
                self._restart(self._jobs[job_id], index)
        for job_id in casualties.aborted:
            if job_id in self._jobs:
                self._end_cancelled(job_id)
        for chunk in casualties.poison:
            if chunk.key.job in self._jobs:
                self._on_poison(chunk)
        for job_id, why in casualties.failed:
            self.fail(job_id, why)

    def _take_answer(self, output: StrOutput) -> J | None:
        """Return the job whose chunk this answers, or None: answers nobody waits for are ignored."""
        key = output.key
        job = self._jobs.get(key.job)
        if job is None or job.is_cancelled or not self._fleet.awaits(job.model, key.job, key.chunk):
            return None
        if output.finished is not None:
            self._fleet.answered(job.model, key.job, key.chunk)
        return job

    def _end_cancelled(self, job_id: JobId) -> None:
        self._forget(job_id)
        self._stories.tell(JobCancelled(job=job_id))

    def _forget(self, job_id: JobId) -> None:
        job = self._jobs.pop(job_id)
        self._stop(job)
        self._fleet.leave(job_id, job.model, time.monotonic())

    def _restart(self, job: J, index: int) -> None:
        """Forget what was told of a chunk that is decoded anew."""
        raise NotImplementedError

    def _on_poison(self, chunk: Chunk) -> None:
        """Go on without a chunk that cannot be decoded, or fail its job."""
        self.fail(chunk.key.job, failure(FailureKind.POISON, ""))

    def _stop(self, job: J) -> None:
        """Let nothing more come in for a job; may be asked for twice."""

    def _worded(self, job: J, why: Failure) -> Failure:  # noqa: ARG002 - for those who name the file
        """Return a failure as a person is to read it."""
        return why
