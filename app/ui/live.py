"""The live session on the window's thread: begun, ticked and ended here, and told as Qt signals."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from app.capture.devices import DeviceKind, Wish
from app.live_changes import LiveChange, LiveChangeKind, LiveObserver, LivePhase, LiveState
from app.settings import RecordFrom, Settings
from engine.protocol.events import Event
from engine.protocol.failures import Failure

log = logging.getLogger(__name__)

TICK_MS: Final = 100


class SessionPort(Protocol):
    """What the window asks of a recording (`app.live_session.LiveSession`)."""

    @property
    def state(self) -> LiveState: ...
    def observe(self, observer: LiveObserver) -> Callable[[], None]: ...
    def start(self) -> None: ...
    def pause(self) -> None: ...
    def resume(self) -> None: ...
    def stop(self) -> None: ...
    def leave(self) -> None: ...
    def set_language(self, language: str | None) -> None: ...
    def retry_captions(self) -> None: ...
    def tick(self) -> None: ...
    def on_events(self, events: Sequence[Event]) -> None: ...
    def on_engine_given_up(self, reason: Failure) -> None: ...


SessionMaker = Callable[[tuple[Wish, ...]], SessionPort]
"""Makes a session that records these sources with the settings of this moment."""


class Live(QObject):
    """The recording that is shown, and earlier ones whose last words are still being written down.

    Signals: `began`; `shifted` when `state` has another phase, language or failure; `metered` ten times
    a second; `text_changed` when `unfinished` or `tail` did; `confirmed(str delta)`; `noticed(Notice)`;
    `warned(Failure)`; `ended(LiveState)` once for each recording.
    """

    began = Signal()
    shifted = Signal()
    metered = Signal()
    text_changed = Signal()
    confirmed = Signal(str)
    noticed = Signal(object)
    warned = Signal(object)
    ended = Signal(object)

    def __init__(self, make: SessionMaker, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._sessions: list[SessionPort] = []
        self._shown: SessionPort | None = None
        self.unfinished = ""
        """Confirmed text of the shown recording that is in no segment yet."""
        self.tail = ""
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    @property
    def state(self) -> LiveState | None:
        """Of the newest recording, as long as it has not ended."""
        return self._shown.state if self._shown is not None else None

    @property
    def is_recording(self) -> bool:
        """Whether something is recorded, or paused."""
        state = self.state
        return state is not None and state.phase not in (LivePhase.FINISHING, LivePhase.ENDED)

    @property
    def is_open(self) -> bool:
        """Whether any recording has not ended yet."""
        return bool(self._sessions)

    def begin(self, wishes: tuple[Wish, ...]) -> None:
        """Record, unless that is being done."""
        if self.is_recording:
            return
        session = self._make(wishes)
        session.observe(lambda change: self._on_change(session, change))
        self._sessions.append(session)
        self._shown = session
        self._set_text("", "")
        session.start()
        self._timer.start()
        self.began.emit()
        self.shifted.emit()

    def stop(self) -> None:
        """Record no more; the last words follow."""
        if self._shown is not None and self.is_recording:
            self._shown.stop()

    def toggle_pause(self) -> None:
        """Pause, or go on."""
        if self._shown is None:
            return
        if self._shown.state.phase is LivePhase.PAUSED:
            self._shown.resume()
        elif self._shown.state.phase is LivePhase.RECORDING:
            self._shown.pause()

    def set_language(self, language: str | None) -> None:
        """Write in this language from here on; None: find out anew."""
        if self._shown is not None and self.is_recording:
            self._shown.set_language(language)

    def retry_captions(self) -> None:
        """Try again after captions were lost."""
        if self._shown is not None:
            self._shown.retry_captions()

    def leave(self) -> None:
        """The app ends: every recording is whole, and its text goes on at the next start."""
        for session in tuple(self._sessions):
            session.leave()
        self._timer.stop()

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in what the engine told."""
        for session in tuple(self._sessions):
            session.on_events(events)

    def on_engine_given_up(self, reason: Failure) -> None:
        """The engine could not be kept alive."""
        for session in tuple(self._sessions):
            session.on_engine_given_up(reason)

    def _tick(self) -> None:
        for session in tuple(self._sessions):
            session.tick()

    def _on_change(self, session: SessionPort, change: LiveChange) -> None:
        if session.state.phase is LivePhase.ENDED:
            self._on_ended(session)
            return
        if session is not self._shown:
            return
        match change.kind:
            case LiveChangeKind.PHASE:
                self.shifted.emit()
            case LiveChangeKind.METER:
                self.metered.emit()
            case LiveChangeKind.CONFIRMED:
                self.confirmed.emit(change.text)
                self._set_text(self.unfinished + change.text, "")
            case LiveChangeKind.TAIL:
                self._set_text(self.unfinished, change.text)
            case LiveChangeKind.SEGMENT if change.segment is not None:
                self._set_text(self.unfinished.removeprefix(change.segment.text), self.tail)
            case LiveChangeKind.NOTICE if change.notice is not None:
                self.noticed.emit(change.notice)
            case LiveChangeKind.WARNING if change.failure is not None:
                self.warned.emit(change.failure)
            case _:
                pass

    def _on_ended(self, session: SessionPort) -> None:
        if session not in self._sessions:
            return
        self._sessions.remove(session)
        if not self._sessions:
            self._timer.stop()
        if session is self._shown:
            self._set_text("", "")
            self._shown = None
        self.ended.emit(session.state)
        self.shifted.emit()

    def _set_text(self, unfinished: str, tail: str) -> None:
        if (unfinished, tail) != (self.unfinished, self.tail):
            self.unfinished, self.tail = unfinished, tail
            self.text_changed.emit()


def wishes_of(settings: Settings) -> tuple[Wish, ...]:
    """Return what is to be recorded; of two sources the microphone keeps the time."""
    microphone = Wish(kind=DeviceKind.MICROPHONE, device_id=settings.microphone)
    computer = Wish(kind=DeviceKind.COMPUTER, device_id=settings.computer_sound)
    match settings.record_from:
        case RecordFrom.MICROPHONE:
            return (microphone,)
        case RecordFrom.COMPUTER:
            return (computer,)
        case RecordFrom.BOTH:
            return (microphone, computer)
