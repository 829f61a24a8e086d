"""The open live sessions: from the request to the ending, whatever dies on the way."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import assert_never

from engine.manager.fleet import Fleet
from engine.manager.live_job import LiveJob
from engine.manager.model_choice import choose_model
from engine.manager.models import ModelStore
from engine.manager.open_jobs import OpenJobs
from engine.manager.stories import Stories
from engine.messages import Chunk, Ended, EndedReason, Finish, StrOutput
from engine.protocol.events import Warned
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.requests import CloseStream, Feed, Flush, Listen, SetOptions, StreamRequest

log = logging.getLogger(__name__)


HOPELESS = frozenset(
    {
        FailureKind.REMOTE_TLS,
        FailureKind.REMOTE_KEY,
        FailureKind.REMOTE_MODEL,
        FailureKind.REMOTE_TOO_LARGE,
        FailureKind.REMOTE_NOT_UNDERSTOOD,
    }
)
"""What a server says of every piece of sound alike: a session has nothing to hope for."""


class LiveJobs(OpenJobs[LiveJob]):
    """Every open `Listen`. Used by the manager's loop only; nothing waits."""

    def __init__(self, fleet: Fleet, stories: Stories, store: ModelStore) -> None:
        super().__init__(fleet, stories)
        self._store = store

    def start(self, request: Listen) -> None:
        """Begin to listen; a session that cannot be fails at once, with the reason."""
        try:
            source, traits = choose_model(self._store, request.options)
        except FailureError as error:
            self._stories.fail(request.job, error.failure)
            return
        job = LiveJob(request, model=source.folder, traits=traits, started_at_s=time.monotonic())
        self._jobs[request.job] = job
        self._fleet.join(request.job, source, is_live=True)
        self._stories.tell(*job.opened())

    def heard(self, request: StreamRequest) -> None:
        """Take what is said to a session; one that is over, or is closing, hears nothing more."""
        job = self._jobs.get(request.job)
        if job is None or job.is_cancelled or job.is_closing:
            return
        match request:
            case Feed():
                self._stories.tell(*job.feed(request))
            case Flush(at_sample=at_sample):
                job.flush(at_sample)
            case CloseStream():
                job.is_closing = True
                job.session.flush()
            case SetOptions(language=language):
                self._set_language(job, language)
            case _:
                assert_never(request)

    def answered(self, output: StrOutput) -> None:
        """Take text from the detokenizer."""
        job = self._take_answer(output)
        if job is not None:
            self._stories.tell(*job.answered(output))

    def ended(self, message: Ended) -> None:
        """Take the answer of a chunk that yields no text: the session goes on behind it."""
        key = message.key
        job = self._jobs.get(key.job)
        if job is None or not self._fleet.answered(job.model, key.job, key.chunk) or job.is_cancelled:
            return
        if message.failure is not None and message.failure.kind in HOPELESS:
            self.fail(key.job, message.failure)
            return
        self._stories.tell(*job.ended(message))
        if message.reason is not EndedReason.SUPERSEDED:
            why = message.failure or failure(FailureKind.LOST_STATE, "")
            if not why.kind.startswith("remote_"):
                why = failure(why.kind, Path(job.request.options.model).name, why.detail)
            self._stories.tell(Warned(job=key.job, failure=why))

    def turn(self) -> None:
        """Move every session on: ask for decodes, close the book on those that are complete."""
        for job in list(self._jobs.values()):
            if job.is_cancelled:
                continue
            chunks, told = job.take_chunks()
            for chunk in chunks:
                self._fleet.add(job.model, chunk)
            self._stories.tell(*told)
            if job.is_complete:
                self._forget(job.job)
                self._stories.tell(*job.done(time.monotonic()))
                log.info("a session took %d steps, drafts saved %d", job.num_steps, job.num_drafted)
            elif job.is_closing and job.session.is_settled and job.num_chunks and not job.is_finish_sent:
                job.is_finish_sent = True
                self._fleet.finish(job.model, Finish(job=job.job, num_chunks=job.num_chunks))

    def _restart(self, job: LiveJob, index: int) -> None:
        job.restart(index)

    def _on_poison(self, chunk: Chunk) -> None:
        """Go on behind audio that has killed its process twice, and say so."""
        job = self._jobs[chunk.key.job]
        name = Path(job.request.options.model).name
        self._stories.tell(*job.ended(Ended(key=chunk.key, reason=EndedReason.FAILED)))
        self._stories.tell(Warned(job=job.job, failure=failure(FailureKind.POISON, name)))

    def _set_language(self, job: LiveJob, language: str | None) -> None:
        if language is not None and language not in job.traits.languages:
            name = Path(job.request.options.model).name
            why = failure(FailureKind.LANGUAGE_UNKNOWN, name, language)
            self._stories.tell(Warned(job=job.job, failure=why))
            return
        self._stories.tell(*job.set_language(language))
