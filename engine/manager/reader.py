"""Reads one media file in a thread of its own and hands the manager a chunk for every credit."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Final

from engine.ipc import Outbox
from engine.manager.cutter import Cutter, Cutting, Piece
from engine.manager.media import Media, display_name, open_media
from engine.messages import (
    SAMPLE_RATE_HZ,
    MediaChunk,
    MediaEnd,
    MediaFailed,
    MediaOpened,
    MediaTrouble,
    NothingUntil,
    ThreadMessage,
    seconds_of,
)
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.requests import JobId

log = logging.getLogger(__name__)

_SAY_NOTHING_EVERY: Final = 30 * SAMPLE_RATE_HZ
_RESUME_SLACK: Final = SAMPLE_RATE_HZ // 2
"""A chunk that ends this close to the boundary is sent: its last segments may lie behind it."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What to read, and how to cut it."""

    job: JobId
    path: str
    cutting: Cutting
    audio_track: int | None = None
    resume_at_sample: int = 0
    """Chunks that end before it are counted but not sent."""


class MediaReader:
    """One open file. Says MediaOpened, then one MediaChunk or NothingUntil per credit, then an ending.

    MediaOpened, MediaTrouble and the ending (MediaEnd or MediaFailed) need no credit. After `stop`
    nothing is said. All methods may be called from the manager's loop; none waits, except `join`.
    """

    def __init__(self, reading: Reading, inbox_address: str) -> None:
        self._reading = reading
        self._address = inbox_address
        self._credits = threading.Semaphore(0)
        self._is_stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"media-{reading.job[:8]}", daemon=True)

    def start(self) -> None:
        """Begin to read; the first chunk is prepared before the first credit comes."""
        self._thread.start()

    def credit(self, count: int = 1) -> None:
        """Allow `count` more messages."""
        self._credits.release(count)

    def stop(self) -> None:
        """Say nothing more and end soon."""
        self._is_stopped.set()
        self._credits.release()

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread; return whether it has ended."""
        self._thread.join(timeout_s)
        return not self._thread.is_alive()

    def _run(self) -> None:
        outbox = Outbox(self._address)
        try:
            media = open_media(self._reading.path, self._reading.audio_track)
            try:
                self._say(outbox, MediaOpened(job=self._reading.job, info=media.info))
                self._read(media, outbox)
            finally:
                media.close()
        except _Stopped:
            pass
        except Exception as error:
            self._tell_failure(outbox, error)
        finally:
            outbox.close()

    def _read(self, media: Media, outbox: Outbox) -> None:
        job = self._reading.job
        cutter = Cutter(media, self._reading.cutting)
        num_chunks = last_said = 0
        has_sent = False
        for found in cutter.pieces():
            if isinstance(found, int):
                if found - last_said >= _SAY_NOTHING_EVERY:
                    self._say_on_credit(outbox, NothingUntil(job=job, sample=found))
                    last_said += _SAY_NOTHING_EVERY
                continue
            if found.range.end + _RESUME_SLACK > self._reading.resume_at_sample:
                self._say_on_credit(outbox, _message(self._reading, num_chunks, found))
                last_said = found.range.end
                has_sent = True
            num_chunks += 1
        trouble = _judge(media, self._reading.path, has_sent=has_sent)
        if trouble is not None:
            self._say(outbox, MediaTrouble(job=job, failure=trouble))
        self._say(outbox, MediaEnd(job=job, num_chunks=num_chunks, num_samples=cutter.num_samples))

    def _say_on_credit(self, outbox: Outbox, message: MediaChunk | NothingUntil) -> None:
        self._credits.acquire()
        self._say(outbox, message)

    def _say(self, outbox: Outbox, message: ThreadMessage) -> None:
        if self._is_stopped.is_set():
            raise _Stopped
        outbox.put(message)

    def _tell_failure(self, outbox: Outbox, error: Exception) -> None:
        if self._is_stopped.is_set():
            return
        outbox.put(MediaFailed(job=self._reading.job, failure=_explain(error, self._reading.path)))


def probe_media(job: JobId, path: str, inbox_address: str) -> None:
    """Open `path` in a thread and say MediaOpened and MediaEnd, or MediaFailed."""
    threading.Thread(
        target=_probe, args=(job, path, inbox_address), name=f"probe-{job[:8]}", daemon=True
    ).start()


class _Stopped(Exception):
    """The manager does not want to hear any more."""


def _probe(job: JobId, path: str, inbox_address: str) -> None:
    outbox = Outbox(inbox_address)
    try:
        media = open_media(path)
        media.close()
        outbox.put(MediaOpened(job=job, info=media.info))
        outbox.put(MediaEnd(job=job, num_chunks=0, num_samples=0))
    except Exception as error:
        outbox.put(MediaFailed(job=job, failure=_explain(error, path)))
    finally:
        outbox.close()


def _message(reading: Reading, index: int, piece: Piece) -> MediaChunk:
    # Without a detector everything passes for speech, which says nothing of where it is.
    spans = piece.range.spans if reading.cutting.use_vad else ()
    return MediaChunk(
        job=reading.job,
        index=index,
        start_sample=piece.range.start,
        overlap_samples=piece.range.overlap,
        next_overlap_samples=piece.range.next_overlap,
        pcm=piece.samples.astype("<f4", copy=False).tobytes(),
        speech_samples=piece.range.speech,
        speech=seconds_of(spans, piece.range.start),
    )


def _judge(media: Media, path: str, *, has_sent: bool) -> Failure | None:
    """Return what is to be warned of after reading. Raises FailureError where nothing could be read."""
    name = display_name(path)
    counts = f"{media.num_damaged} packets skipped, {media.num_decoded} frames read"
    if not media.num_decoded:
        kind = FailureKind.BAD_MEDIA if media.num_damaged else FailureKind.EMPTY_AUDIO
        raise FailureError(failure(kind, name, counts))
    if media.num_damaged > media.num_decoded and not has_sent:
        raise FailureError(failure(FailureKind.BAD_MEDIA, name, counts))
    return failure(FailureKind.DAMAGED_MEDIA, name, counts) if media.num_damaged else None


def _explain(error: Exception, path: str) -> Failure:
    if isinstance(error, FailureError):
        return error.failure
    log.error("reading media failed", exc_info=error)
    if isinstance(error, MemoryError):
        return failure(FailureKind.OUT_OF_MEMORY, display_name(path))
    return failure(FailureKind.INTERNAL, display_name(path), f"{type(error).__name__}: {error}")
