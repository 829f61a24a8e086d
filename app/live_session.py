"""A live session: recorder, captions and library row of one recording, from first sample to last word."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

import msgspec

from app.capture.devices import AudioSystem, Wish
from app.capture.level import QUIET_DB
from app.capture.notices import Mark, Notice, NoticeKind
from app.capture.recorder import Recorder, RecorderPhase
from app.live_captions import Captions
from app.live_changes import (
    CaptionPhase,
    LiveChange,
    LiveChangeKind,
    LiveObserver,
    LivePhase,
    LiveState,
)
from app.ports import EnginePort
from engine.protocol.events import EngineLost, Event, ModelState, Refused, Welcome
from engine.protocol.failures import Failure, FailureError, FailureKind, failure
from engine.protocol.transcript import Options, Segment

log = logging.getLogger(__name__)

_PATIENCE_S: Final = 10.0
"""With a device or a disk that does not let go."""
_ABOUT_SOUND: Final = frozenset({FailureKind.POISON, FailureKind.LOST_STATE})
"""What the engine, which knows no names of recordings, says of a model."""


class RowsPort(Protocol):
    """Where a session stores what it makes (`app.live_rows.LiveRows`)."""

    def begin(self, path: Path, options: Options) -> int: ...
    def set_model(self, recording_id: int, model: str) -> None: ...
    def set_language(self, recording_id: int, language: str, probability: float) -> None: ...
    def store(self, recording_id: int, segment: Segment) -> None: ...
    def keep_unfinished(self, recording_id: int, segment: Segment | None) -> None: ...
    def show_tail(self, recording_id: int, text: str) -> None: ...
    def add_marks(self, recording_id: int, marks: Iterable[Mark]) -> None: ...
    def set_duration(self, recording_id: int, duration_s: float) -> None: ...
    def end(self, recording_id: int, *, is_complete: bool) -> None: ...


class LiveWish(msgspec.Struct, frozen=True, kw_only=True):
    """What to record, where to, and how to write it down."""

    sources: tuple[Wish, ...] = (Wish(),)
    """One, or two mixed: the first keeps the time."""
    path: Path
    spare_path: Path | None = None
    """Where to if nothing can be written at `path`."""
    options: Options = Options()


class LiveSession:
    """Records and captions. All methods belong to one thread, which calls `tick` ten times a second.

    Capture begins at once, whatever the engine is doing: the captions catch up. Nothing but a full disk
    or `stop` ends the recording. Whoever owns the engine hands its events to `on_events`.
    """

    def __init__(
        self,
        wish: LiveWish,
        audio: AudioSystem,
        engine: EnginePort,
        rows: RowsPort | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`rows` None: nothing is stored but the recording itself. `clock` is the recorder's."""
        self._wish = wish
        self._rows = rows
        self._captions = Captions(engine, wish.options, self)
        self._recorder = Recorder(
            audio,
            wish.sources,
            wish.path,
            spare_path=wish.spare_path,
            on_growth=self._captions.wake,
            clock=clock,
        )
        self._observers: list[LiveObserver] = []
        self._state = LiveState(path=str(wish.path))
        self._recorder_phase = RecorderPhase.OPENING
        self._unfinished_text = ""
        self._tail = ""

    @property
    def state(self) -> LiveState:
        """Everything a view shows beside the text."""
        return self._state

    def observe(self, observer: LiveObserver) -> Callable[[], None]:
        """Tell `observer` every change from now on; the result ends that."""
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def start(self) -> None:
        """Begin to record; returns at once."""
        self._recorder.start()

    def pause(self) -> None:
        """Let go of the microphone, and have what was said so far confirmed."""
        self._recorder.pause()

    def resume(self) -> None:
        """Go on after a pause."""
        self._recorder.resume()

    def stop(self) -> None:
        """Record no more, and write down everything that was heard; `ENDED` follows."""
        self._recorder.stop()

    def leave(self) -> None:
        """End at once: the recording is whole, its row is taken up at the next start. Waits for the disk."""
        self._recorder.stop()
        self._recorder.wait(_PATIENCE_S)
        self._take_marks()
        self._captions.stop()
        self._set(phase=LivePhase.ENDED)

    def set_language(self, language: str | None) -> None:
        """Write in this language from here on; None: find out anew."""
        self._captions.set_language(language)
        self._set(language=language)

    def retry_captions(self) -> None:
        """Try again after captions were lost; everything missed is caught up with."""
        self._captions.retry()

    def tick(self) -> None:
        """Take in what the recorder did, and tell the meter; ten times a second."""
        for notice in self._recorder.take_notices():
            self._tell(LiveChange(kind=LiveChangeKind.NOTICE, notice=notice))
        phase = self._recorder.phase
        if phase is not self._recorder_phase:
            self._on_recorder_phase(phase)
        self._take_marks()
        self._measure()
        if self._state.phase is LivePhase.FINISHING:
            self._conclude()

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in what the engine told, in order."""
        for event in events:
            match event:
                case Welcome() | ModelState() | EngineLost():
                    pass
                case Refused(failure=reason):
                    self.on_engine_given_up(reason)
                case _:
                    self._captions.on_event(event)
        if self._state.phase is LivePhase.FINISHING:
            self._conclude()

    def on_engine_given_up(self, reason: Failure) -> None:
        """The engine could not be kept alive; the recording goes on."""
        self._captions.give_up(reason)

    # What the captions tell.

    def on_confirmed(self, delta: str) -> None:
        """Show confirmed text."""
        self._tell(LiveChange(kind=LiveChangeKind.CONFIRMED, text=delta))

    def on_tail(self, text: str) -> None:
        """Show what follows it for now."""
        self._tail = text
        self._tell(LiveChange(kind=LiveChangeKind.TAIL, text=text))
        self._show_row_tail()

    def on_segment(self, segment: Segment) -> None:
        """Store a segment at once."""
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.store(self._state.recording_id, segment)
        self._tell(LiveChange(kind=LiveChangeKind.SEGMENT, segment=segment))

    def on_unfinished(self, segment: Segment | None) -> None:
        """Store confirmed text at once, though its segment has not ended."""
        self._unfinished_text = segment.text if segment else ""
        if segment is not None:
            # What was the tail is confirmed now; what follows is told next.
            self._tail = ""
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.keep_unfinished(self._state.recording_id, segment)
        self._show_row_tail()

    def on_model(self, model: str) -> None:
        """Store what decodes."""
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.set_model(self._state.recording_id, model)

    def on_language(self, language: str, probability: float) -> None:
        """Store and show what is spoken."""
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.set_language(self._state.recording_id, language, probability)
        self._set(language=language)

    def on_caption_phase(self, phase: CaptionPhase, reason: Failure | None) -> None:
        """Say whether text comes."""
        before = self._state.captions
        if phase is CaptionPhase.LOST:
            detail = reason.message if reason else ""
            self._tell_notice(Notice(kind=NoticeKind.CAPTIONS_LOST, detail=detail))
        elif before is CaptionPhase.LOST:
            self._tell_notice(Notice(kind=NoticeKind.CAPTIONS_BACK))
        self._set(captions=phase, failure=reason or self._recorder.failure)

    def on_warning(self, reason: Failure) -> None:
        """Say what was refused, or that some of the recording could not be heard."""
        if reason.kind in _ABOUT_SOUND:
            reason = failure(reason.kind, Path(self._state.path).name, reason.detail)
        self._set(language=self._captions.language)
        self._tell(LiveChange(kind=LiveChangeKind.WARNING, failure=reason))

    def _on_recorder_phase(self, phase: RecorderPhase) -> None:
        before, self._recorder_phase = self._recorder_phase, phase
        if before is RecorderPhase.OPENING and self._recorder.has_begun:
            self._begin()
        match phase:
            case RecorderPhase.OPENING:
                pass
            case RecorderPhase.RECORDING:
                self._set(phase=LivePhase.RECORDING)
            case RecorderPhase.PAUSED:
                self._captions.flush()
                self._set(phase=LivePhase.PAUSED)
            case RecorderPhase.ENDED:
                self._on_recorder_ended()

    def _begin(self) -> None:
        """The file is there: from now on the recording has a row, and is listened to."""
        path = self._recorder.path
        self._state = msgspec.structs.replace(self._state, path=str(path))
        try:
            if self._rows is not None:
                recording_id = self._rows.begin(path, self._wish.options)
                self._state = msgspec.structs.replace(self._state, recording_id=recording_id)
        except FailureError as error:
            log.warning("the recording has no row: %s", error.failure.kind)
        self._captions.start(path, lambda: self._recorder.num_samples, self._is_quiet)

    def _is_quiet(self) -> bool:
        return self._recorder.level.peak_db < QUIET_DB

    def _on_recorder_ended(self) -> None:
        if not self._recorder.num_samples:
            self._end_without_sound()
            return
        self._captions.finish()
        self._set(phase=LivePhase.FINISHING, failure=self._recorder.failure or self._state.failure)

    def _end_without_sound(self) -> None:
        self._captions.stop()
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.end(self._state.recording_id, is_complete=True)
        self._set(phase=LivePhase.ENDED, failure=self._recorder.failure)

    def _conclude(self) -> None:
        """Go from finishing to ended, once the text is complete or will not become so here."""
        if self._captions.phase not in (CaptionPhase.DONE, CaptionPhase.LOST):
            return
        self._captions.stop()
        if self._rows is not None and self._state.recording_id is not None:
            is_complete = self._captions.phase is CaptionPhase.DONE
            self._rows.end(self._state.recording_id, is_complete=is_complete)
        self._set(phase=LivePhase.ENDED)

    def _measure(self) -> None:
        elapsed_s = self._recorder.elapsed_s
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.set_duration(self._state.recording_id, elapsed_s)
        self._state = msgspec.structs.replace(
            self._state,
            elapsed_s=elapsed_s,
            level=self._recorder.level,
            backlog_s=max(0.0, elapsed_s - self._captions.decoded_s),
            devices=tuple(device.name for device in self._recorder.devices),
            lost_s=self._recorder.lost_s,
        )
        self._tell(LiveChange(kind=LiveChangeKind.METER))

    def _take_marks(self) -> None:
        marks = self._recorder.take_marks()
        if marks and self._rows is not None and self._state.recording_id is not None:
            self._rows.add_marks(self._state.recording_id, marks)

    def _show_row_tail(self) -> None:
        """In the library's list the text of an unfinished segment is still part of the tail."""
        if self._rows is not None and self._state.recording_id is not None:
            self._rows.show_tail(self._state.recording_id, self._unfinished_text + self._tail)

    def _set(self, **fields: object) -> None:
        changed = msgspec.structs.replace(self._state, **fields)
        if changed != self._state:
            self._state = changed
            self._tell(LiveChange(kind=LiveChangeKind.PHASE))

    def _tell_notice(self, notice: Notice) -> None:
        self._tell(LiveChange(kind=LiveChangeKind.NOTICE, notice=notice))

    def _tell(self, change: LiveChange) -> None:
        for observer in tuple(self._observers):
            observer(change)
