"""The text of a recording that grows: one job after another, each going on where confirmed text ends."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from app.capture.feeder import RATE_HZ, Feeder
from app.live_changes import CaptionPhase
from app.ports import EnginePort
from engine.protocol.events import (
    Backlog,
    Confirmed,
    JobCancelled,
    JobDone,
    JobEvent,
    JobFailed,
    JobStarted,
    LanguageDetected,
    SegmentDone,
    Tail,
    Warned,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, Segment, TimeSource

log = logging.getLogger(__name__)

MAX_ATTEMPTS: Final = 3
"""Jobs in a row that come no further, before somebody has to ask for another."""
_PROGRESS_SAMPLES: Final = 5 * RATE_HZ
_S_PER_CHARACTER: Final = 0.07
"""About as fast as people speak; for the start of text whose words were never timed."""
_PASSING: Final = frozenset(
    {
        FailureKind.ENGINE_DIED,
        FailureKind.WORKER_DIED,
        FailureKind.OUT_OF_MEMORY,
        FailureKind.LOST_STATE,
        FailureKind.POISON,
        FailureKind.INTERNAL,
    }
)
"""What another attempt may not meet again."""


class CaptionSink(Protocol):
    """Who shows and stores captions (`app.live_session.LiveSession`)."""

    def on_confirmed(self, delta: str) -> None: ...
    def on_tail(self, text: str) -> None: ...
    def on_segment(self, segment: Segment) -> None: ...
    def on_unfinished(self, segment: Segment | None) -> None:
        """`segment` holds the confirmed text that is in no segment yet; None: there is none."""

    def on_model(self, model: str) -> None: ...
    def on_language(self, language: str, probability: float) -> None: ...
    def on_caption_phase(self, phase: CaptionPhase, reason: Failure | None) -> None: ...
    def on_warning(self, reason: Failure) -> None:
        """Something was refused or not heard; the captions go on."""


class Captions:
    """Has a recording transcribed while it grows. Single-threaded; only the feeder has a thread.

    Confirmed text is never asked for again: a job that takes over from a dead one begins where the last
    confirmed word ends, and confirmed text whose segment never came becomes a segment.
    """

    def __init__(self, engine: EnginePort, options: Options, sink: CaptionSink) -> None:
        self._engine = engine
        self._options = options
        self._accepted_language = options.language
        """The last that the engine did not refuse."""
        self._sink = sink
        self._feeder: Feeder | None = None
        self._job: JobId | None = None
        self._reached_s = 0.0
        self._unfinished: Segment | None = None
        self._num_attempts = 0
        self._decoded = 0
        self._best_decoded = 0
        self._is_flushing = False
        self.phase = CaptionPhase.WAITING

    @property
    def language(self) -> str | None:
        """In which it is written; None: it is being found out."""
        return self._options.language

    @property
    def decoded_s(self) -> float:
        """Everything before has been heard."""
        return self._decoded / RATE_HZ

    def start(
        self, path: Path, length: Callable[[], int], is_quiet: Callable[[], bool] = lambda: False
    ) -> None:
        """Begin with the recording at `path`.

        `length` says how many samples are on the disk, `is_quiet` whether the last of them are silence.
        """
        try:
            self._feeder = Feeder(path, self._engine, length, is_quiet)
        except OSError as error:
            self._lose(failure(FailureKind.NOT_READABLE, path.name, str(error)))
            return
        self._feeder.start()
        self._listen()

    def wake(self) -> None:
        """Know that the recording has grown; any thread."""
        if (feeder := self._feeder) is not None:
            feeder.wake()

    def flush(self) -> None:
        """Have everything confirmed that is recorded."""
        if self._feeder is not None:
            self._feeder.flush()

    def finish(self) -> None:
        """The recording is complete; `DONE` follows when its text is, or `LOST`."""
        if self._feeder is not None:
            self._feeder.finish()

    def set_language(self, language: str | None) -> None:
        """Write in this language from here on; None: find out anew."""
        self._options = msgspec.structs.replace(self._options, language=language)
        if language is None:
            self._accepted_language = None
        if self._job is not None:
            self._engine.set_options(self._job, language=language)

    def retry(self) -> None:
        """Try again after `LOST`."""
        if self.phase is CaptionPhase.LOST and self._feeder is not None:
            self._num_attempts = 0
            self._engine.restart()
            self._listen()

    def give_up(self, reason: Failure) -> None:
        """The engine cannot be kept alive."""
        if self.phase is not CaptionPhase.DONE:
            self._settle()
            self._lose(reason)

    def stop(self) -> None:
        """Feed nothing more, and forget the job."""
        if self._feeder is not None:
            self._feeder.stop()
        if self._job is not None:
            self._engine.cancel(self._job)
            self._job = None

    def on_event(self, event: JobEvent) -> None:
        """Take in what the engine told; events of other jobs mean nothing here."""
        if event.job != self._job:
            return
        match event:
            case JobStarted(model=model):
                self._sink.on_model(model)
                self._be(CaptionPhase.LISTENING)
            case LanguageDetected(language=language, probability=probability):
                self._options = msgspec.structs.replace(self._options, language=language)
                self._accepted_language = language
                self._sink.on_language(language, probability)
            case Confirmed():
                self._on_confirmed(event)
            case Tail(text=text):
                self._sink.on_tail(text)
            case SegmentDone(segment=segment):
                self._on_segment(segment)
            case Backlog(decoded_samples=decoded):
                self._on_backlog(decoded)
            case Warned(failure=reason):
                if reason.kind is FailureKind.LANGUAGE_UNKNOWN:
                    # A job that takes over would not be let off so lightly.
                    self._options = msgspec.structs.replace(self._options, language=self._accepted_language)
                self._sink.on_warning(reason)
            case JobDone():
                self._job = None
                self._settle()
                self._be(CaptionPhase.DONE)
            case JobFailed(failure=reason):
                self._on_failure(reason)
            case JobCancelled():
                # Nobody asked: the engine took us for dead while the computer slept.
                self._on_failure(failure(FailureKind.ENGINE_DIED, self._options.model))
            case _:
                pass

    def _listen(self) -> None:
        assert self._feeder is not None
        first = round(self._reached_s * RATE_HZ)
        self._job = self._engine.listen(self._options, first)
        self._decoded = first
        self._feeder.attach(self._job, first)
        self._be(CaptionPhase.WAITING)

    def _on_confirmed(self, event: Confirmed) -> None:
        end_s = event.end if event.end is not None else max(self._reached_s, self.decoded_s)
        if self._unfinished is None:
            start_s = max(self._reached_s, end_s - _S_PER_CHARACTER * len(event.delta))
            text = event.delta
        else:
            start_s = self._unfinished.start
            text = self._unfinished.text + event.delta
        self._unfinished = Segment(
            start=start_s, end=max(start_s, end_s), text=text, time_source=TimeSource.INTERPOLATED
        )
        self._num_attempts = 0
        # Stored before it is shown: what was read on the screen is there after a crash.
        self._sink.on_unfinished(self._unfinished)
        self._sink.on_confirmed(event.delta)

    def _on_segment(self, segment: Segment) -> None:
        left = self._unfinished.text.removeprefix(segment.text) if self._unfinished is not None else ""
        self._reached_s = segment.end
        self._sink.on_segment(segment)
        if left and self._unfinished is not None:
            start_s = max(self._unfinished.start, segment.end)
            self._unfinished = msgspec.structs.replace(
                self._unfinished, text=left, start=start_s, end=max(start_s, self._unfinished.end)
            )
        else:
            self._unfinished = None
        self._sink.on_unfinished(self._unfinished)

    def _on_backlog(self, decoded: int) -> None:
        self._decoded = decoded
        if decoded - self._best_decoded >= _PROGRESS_SAMPLES:
            self._best_decoded = decoded
            self._num_attempts = 0

    def _on_failure(self, reason: Failure) -> None:
        log.info("live captions failed: %s", reason.kind)
        self._job = None
        self._settle()
        self._num_attempts += 1
        if reason.kind in _PASSING and self._num_attempts < MAX_ATTEMPTS:
            self._listen()
        else:
            self._lose(reason)

    def _settle(self) -> None:
        """Make a segment of the confirmed text that has none: it was shown, and must stay."""
        self._sink.on_tail("")
        if self._unfinished is not None:
            segment, self._unfinished = self._unfinished, None
            self._reached_s = segment.end
            self._sink.on_segment(segment)
            self._sink.on_unfinished(None)

    def _lose(self, reason: Failure) -> None:
        if self._feeder is not None:
            self._feeder.detach()
        if self._job is not None:
            self._engine.cancel(self._job)
            self._job = None
        self._be(CaptionPhase.LOST, reason)

    def _be(self, phase: CaptionPhase, reason: Failure | None = None) -> None:
        if phase is not self.phase:
            self.phase = phase
            self._sink.on_caption_phase(phase, reason)
