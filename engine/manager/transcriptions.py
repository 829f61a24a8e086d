"""The files being transcribed: from the request to the ending, whatever dies on the way."""

from __future__ import annotations

import logging
import time
from pathlib import Path
from typing import assert_never

import msgspec

from engine.manager.cutter import Cutting
from engine.manager.file_job import FileJob
from engine.manager.fleet import Fleet
from engine.manager.model_choice import choose_model
from engine.manager.models import ModelStore
from engine.manager.open_jobs import OpenJobs
from engine.manager.reader import MediaReader, Reading
from engine.manager.stories import Stories
from engine.messages import (
    BYTES_PER_SECOND,
    Ended,
    EndedReason,
    Finish,
    MediaChunk,
    MediaEnd,
    MediaFailed,
    MediaOpened,
    MediaTrouble,
    NothingUntil,
    StrOutput,
)
from engine.protocol.events import Warned
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.requests import JobId, TranscribeFile

log = logging.getLogger(__name__)

MediaMessage = MediaOpened | MediaChunk | NothingUntil | MediaTrouble | MediaEnd | MediaFailed

ABOUT_FILES = frozenset(
    {
        FailureKind.INTERNAL,
        FailureKind.LOST_STATE,
        FailureKind.OUT_OF_MEMORY,
        FailureKind.POISON,
        FailureKind.WORKER_DIED,
    }
)
"""What the loops find out about a chunk, and a person must read about the file it comes from."""


class Transcriptions(OpenJobs[FileJob]):
    """Every open `TranscribeFile`. Used by the manager's loop only; nothing waits."""

    def __init__(
        self, fleet: Fleet, stories: Stories, store: ModelStore, *, inbox_address: str, window_bytes: int
    ) -> None:
        super().__init__(fleet, stories)
        self._store = store
        self._inbox_address = inbox_address
        self._window_bytes = window_bytes
        self._chunk_bytes: dict[JobId, int] = {}

    def start(self, request: TranscribeFile) -> None:
        """Begin a job; one that cannot be done fails at once, with the reason."""
        try:
            source, traits = choose_model(self._store, request.options)
        except FailureError as error:
            self._stories.fail(request.job, error.failure)
            return
        options = request.options
        if options.language is None and len(traits.languages) == 1:
            options = msgspec.structs.replace(options, language=traits.languages[0])
        reading = Reading(
            job=request.job,
            path=request.path,
            cutting=Cutting(
                max_chunk_s=traits.max_chunk_s,
                use_vad=options.vad,
                vad_settings=options.vad_settings,
                overlaps=not options.confirms_tokens,
            ),
            audio_track=options.audio_track,
            resume_at_sample=request.resume_at_sample or 0,
        )
        job = FileJob(
            request=msgspec.structs.replace(request, options=options),
            model=source.folder,
            reader=MediaReader(reading, self._inbox_address),
            started_at_s=time.monotonic(),
        )
        self._jobs[request.job] = job
        self._chunk_bytes[request.job] = int(traits.max_chunk_s * BYTES_PER_SECOND)
        self._fleet.join(request.job, source)
        job.reader.start()

    def heard_of_media(self, message: MediaMessage) -> None:
        """Take what a reader says."""
        job = self._jobs.get(message.job)
        if job is None or job.is_cancelled:
            return
        match message:
            case MediaOpened():
                self._stories.tell(*job.opened(message))
            case MediaChunk() | NothingUntil() | MediaEnd():
                self._stories.tell(*job.read(message, time.monotonic()))
            case MediaTrouble():
                self._stories.tell(Warned(job=message.job, failure=message.failure))
            case MediaFailed():
                self.fail(message.job, message.failure)
            case _:
                assert_never(message)

    def answered(self, output: StrOutput) -> None:
        """Take text from the detokenizer."""
        job = self._take_answer(output)
        if job is None:
            return
        events = job.answered(output, time.monotonic())
        if job.assembler.is_contradicted:
            self.fail(job.job, failure(FailureKind.WORKER_DIED, "", "decoded anew, and to another text"))
        else:
            self._stories.tell(*events)

    def ended(self, message: Ended) -> None:
        """Take the answer of a chunk that yields no text: the job fails with it."""
        key = message.key
        job = self._jobs.get(key.job)
        if job is None or not self._fleet.answered(job.model, key.job, key.chunk):
            return
        why = message.failure or failure(FailureKind.INTERNAL, "", str(message.reason))
        if message.reason is EndedReason.LOST_STATE:
            why = failure(FailureKind.LOST_STATE, "", why.detail)
        self.fail(key.job, why)

    def turn(self) -> None:
        """Move every job on: pull audio, hand chunks over, close the book on those that are complete."""
        for job in list(self._jobs.values()):
            if job.is_cancelled:
                continue
            for chunk in job.take_chunks():
                self._fleet.add(job.model, chunk)
            if job.is_read and not job.is_finish_sent and not job.num_held_bytes:
                job.is_finish_sent = True
                self._fleet.finish(job.model, Finish(job=job.job, num_chunks=job.num_chunks or 0))
            if job.is_complete:
                self._forget(job.job)
                self._stories.tell(job.done(time.monotonic()))
            elif not job.is_read:
                self._pull(job)

    def close(self) -> None:
        """Stop every reader."""
        for job in self._jobs.values():
            job.reader.stop()
        for job in self._jobs.values():
            job.reader.join(1.0)

    def _restart(self, job: FileJob, index: int) -> None:
        self._stories.tell(*job.assembler.restart(index))

    def _pull(self, job: FileJob) -> None:
        """Let the reader go on while less than the job's share of the window is on its way."""
        if self._stories.is_stalled(job.job):
            return
        share_bytes = self._window_bytes // len(self._jobs)
        waiting_bytes = self._fleet.num_bytes(job.model, job.job) + job.num_held_bytes
        room = (share_bytes - waiting_bytes) // self._chunk_bytes[job.job]
        allowed = max(room, 0 if waiting_bytes else 1)
        if allowed > job.credits:
            job.reader.credit(allowed - job.credits)
            job.credits = allowed

    def _stop(self, job: FileJob) -> None:
        job.reader.stop()

    def _worded(self, job: FileJob, why: Failure) -> Failure:
        """A failure names the file unless its fault is the model's."""
        if why.kind not in ABOUT_FILES:
            return why
        return failure(why.kind, Path(job.request.path).name, why.detail)

    def _forget(self, job_id: JobId) -> None:
        super()._forget(job_id)
        del self._chunk_bytes[job_id]
