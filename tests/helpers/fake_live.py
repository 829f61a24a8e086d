"""A recording that hears nothing by itself: a test says what was said, and what went wrong."""

from __future__ import annotations

import wave
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from app.capture.devices import Wish
from app.capture.level import Level
from app.capture.notices import Notice, NoticeKind
from app.live_changes import CaptionPhase, LiveChange, LiveChangeKind, LiveObserver, LivePhase, LiveState
from app.live_rows import LiveRows
from engine.protocol.events import Event
from engine.protocol.failures import Failure
from engine.protocol.transcript import Options, Segment


class FakeSession:
    """Keeps what was asked of it in `asked`. Its row is a real one; its file is silence.

    Like the real one it tells a change only after its state has it, and tells nothing once ended.
    """

    def __init__(self, wishes: tuple[Wish, ...], path: Path, rows: LiveRows) -> None:
        self.wishes = wishes
        self.asked: list[str] = []
        self.num_ticks = 0
        self.state = LiveState(path=str(path), devices=("Built-in Microphone",))
        self._path = path
        self._rows = rows
        self._observers: list[LiveObserver] = []

    def observe(self, observer: LiveObserver) -> Callable[[], None]:
        self._observers.append(observer)
        return lambda: self._observers.remove(observer)

    def start(self) -> None:
        self.asked.append("start")

    def pause(self) -> None:
        self.asked.append("pause")
        self._set(phase=LivePhase.PAUSED)

    def resume(self) -> None:
        self.asked.append("resume")
        self._set(phase=LivePhase.RECORDING)

    def stop(self) -> None:
        self.asked.append("stop")
        self._set(phase=LivePhase.FINISHING)

    def leave(self) -> None:
        self.asked.append("leave")
        self._set(phase=LivePhase.ENDED)

    def set_language(self, language: str | None) -> None:
        self.asked.append(f"language {language}")

    def retry_captions(self) -> None:
        self.asked.append("retry")

    def tick(self) -> None:
        self.num_ticks += 1

    def on_events(self, events: Sequence[Event]) -> None: ...

    def on_engine_given_up(self, reason: Failure) -> None: ...

    def open(self) -> None:
        """The file is there, and the captions listen."""
        write_silence(self._path)
        recording_id = self._rows.begin(self._path, Options())
        self._set(phase=LivePhase.RECORDING, captions=CaptionPhase.LISTENING, recording_id=recording_id)

    def measure(
        self, elapsed_s: float, rms_db: float = -90.0, backlog_s: float = 0.0, lost_s: float = 0.0
    ) -> None:
        """A tenth of a second was heard."""
        level = Level(rms_db=rms_db, peak_db=rms_db + 3)
        self.state = msgspec.structs.replace(
            self.state, elapsed_s=elapsed_s, level=level, backlog_s=backlog_s, lost_s=lost_s
        )
        self._tell(LiveChange(kind=LiveChangeKind.METER))

    def say(self, delta: str, tail: str = "") -> None:
        """Text was confirmed."""
        self._tell(LiveChange(kind=LiveChangeKind.CONFIRMED, text=delta))
        self.guess(tail)

    def guess(self, tail: str) -> None:
        """What follows the confirmed text for now."""
        self._tell(LiveChange(kind=LiveChangeKind.TAIL, text=tail))

    def end_segment(self, text: str, start: float, end: float) -> None:
        """A segment of confirmed text is complete."""
        segment = Segment(start=start, end=end, text=text)
        assert self.state.recording_id is not None
        self._rows.store(self.state.recording_id, segment)
        self._tell(LiveChange(kind=LiveChangeKind.SEGMENT, segment=segment))

    def notice(self, kind: NoticeKind, device: str = "") -> None:
        """Something happened."""
        self._tell(LiveChange(kind=LiveChangeKind.NOTICE, notice=Notice(kind=kind, device=device)))

    def warn(self, reason: Failure) -> None:
        """Something was refused or not heard."""
        self._tell(LiveChange(kind=LiveChangeKind.WARNING, failure=reason))

    def lose_captions(self, reason: Failure) -> None:
        """The engine cannot go on."""
        self._set(captions=CaptionPhase.LOST, failure=reason)
        self.notice(NoticeKind.CAPTIONS_LOST)

    def end(self, failure: Failure | None = None) -> None:
        """Everything is written down, or nothing could be recorded."""
        if self.state.recording_id is not None:
            self._rows.end(self.state.recording_id, is_complete=True)
        self._set(phase=LivePhase.ENDED, failure=failure)

    def _set(self, **fields: object) -> None:
        self.state = msgspec.structs.replace(self.state, **fields)
        self._tell(LiveChange(kind=LiveChangeKind.PHASE))

    def _tell(self, change: LiveChange) -> None:
        for observer in tuple(self._observers):
            observer(change)


def write_silence(path: Path) -> None:
    """Write a WAV file of a tenth of a second."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(3200))
