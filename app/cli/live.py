"""`jamak live`: records, and prints what is said while it is said."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Final, assert_never

import msgspec

from app import settings as settings_file
from app.capture.devices import AudioSystem, Device, DeviceKind, Wish
from app.capture.notices import Notice, NoticeKind
from app.capture.system import SystemAudio
from app.cli.arguments import live_options
from app.cli.console import Console
from app.cli.session import Session
from app.cli.whole_file import write_whole
from app.crashes import EXIT_INTERRUPTED
from app.keep_awake import KeepAwake
from app.live_changes import CaptionPhase, LiveChange, LiveChangeKind, LivePhase
from app.live_session import LiveSession, LiveWish
from app.paths import new_recording_path, recordings_folder, settings_path
from app.restarts import Restarts
from app.texts import tr
from engine.export import ExportFormat, render
from engine.protocol.events import EngineLost, Event
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.transcript import Options, Segment, Transcript

_TICK_S: Final = 0.1
_COMPUTER: Final = "computer"
_MISTAKES: Final = frozenset(
    {
        FailureKind.MODEL_MISSING,
        FailureKind.MODEL_UNKNOWN,
        FailureKind.MODEL_BROKEN,
        FailureKind.MODEL_INCOMPLETE,
        FailureKind.MODEL_UNSUPPORTED,
        FailureKind.MODEL_VOCABULARY,
        FailureKind.MODEL_IS_ALIGNER,
        FailureKind.MODEL_NO_ALIGNER,
        FailureKind.LANGUAGE_UNKNOWN,
        FailureKind.TASK_UNSUPPORTED,
        FailureKind.PROTOCOL_MISMATCH,
        FailureKind.REMOTE_ADDRESS,
    }
)
"""What was wrong before anything was said: it is put right, and begun anew."""


class Listening(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked for."""

    options: Options
    format: ExportFormat = ExportFormat.TXT
    output: Path | None = None
    device: str | None = None
    is_mixed: bool = False
    only_lists: bool = False
    folder: Path


def live_wish(arguments: argparse.Namespace) -> Listening:
    """Return what `jamak live` was asked for."""
    chosen = settings_file.load(settings_path()).settings.recordings_folder
    return Listening(
        options=live_options(arguments),
        format=ExportFormat(arguments.format),
        output=arguments.output,
        device=arguments.device,
        is_mixed=arguments.mix,
        only_lists=arguments.list_devices,
        folder=recordings_folder(chosen),
    )


def run_live(
    session: Session,
    console: Console,
    wish: Listening,
    *,
    make_audio: Callable[[], AudioSystem] = SystemAudio,
    awake: KeepAwake | None = None,
) -> int:
    """Record until Ctrl-C; return 0, 1 if something failed, or 130 after a second Ctrl-C."""
    try:
        audio = make_audio()
        devices = audio.devices()
    except OSError as error:
        console.complain(failure(FailureKind.NO_SOUND_SOURCE, DeviceKind.MICROPHONE, str(error)))
        return 1
    if wish.only_lists:
        console.result("".join(f"{_line(device)}\n" for device in devices))
        return 0
    source = source_called(wish.device, devices)
    if source is None:
        console.tell("jamak: " + tr("cli_live_no_device", name=wish.device))
        return 1
    sources = (source, Wish(kind=DeviceKind.COMPUTER)) if wish.is_mixed else (source,)
    now = datetime.now()
    wanted = LiveWish(
        sources=sources,
        path=new_recording_path(wish.folder, now),
        spare_path=new_recording_path(recordings_folder(), now),
        options=wish.options,
    )
    live = LiveSession(wanted, audio, session.client)
    with session, _interruptible() as interrupts, _held(awake or KeepAwake()):
        return _Listener(session, console, wish, live, interrupts).go()


class _Interrupts:
    """How often Ctrl-C was pressed."""

    def __init__(self) -> None:
        self.num = 0

    def count(self, _signal: int, _frame: FrameType | None) -> None:
        self.num += 1


@contextmanager
def _interruptible() -> Iterator[_Interrupts]:
    """Count Ctrl-C instead of being interrupted by it."""
    interrupts = _Interrupts()
    before = signal.signal(signal.SIGINT, interrupts.count)
    try:
        yield interrupts
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _held(awake: KeepAwake) -> Iterator[None]:
    """Let the computer not sleep while it listens."""
    awake.hold("Recording")
    try:
        yield
    finally:
        awake.release()


class _Listener:
    """One run: the session's changes in, lines out."""

    def __init__(
        self,
        session: Session,
        console: Console,
        wish: Listening,
        live: LiveSession,
        interrupts: _Interrupts,
    ) -> None:
        self._session = session
        self._console = console
        self._wish = wish
        self._live = live
        self._interrupts = interrupts
        self._restarts = Restarts()
        self._segments: list[Segment] = []
        self._line = ""
        self._tail = ""
        self._has_failed = False
        self._has_listened = False
        """The engine took the session on: what fails later is no mistake of who asked."""
        self._has_announced = False
        self._warned: set[FailureKind] = set()

    def go(self) -> int:
        """Listen until the session has ended."""
        stop_observing = self._live.observe(self._on_change)
        self._live.start()
        is_stopping = False
        next_s = self._console.now()
        try:
            while self._live.state.phase is not LivePhase.ENDED:
                if self._interrupts.num > 1:
                    return self._leave()
                if self._interrupts.num and not is_stopping:
                    is_stopping = True
                    self._live.stop()
                    self._console.note(tr("cli_live_finishing"))
                self._take(self._session.events_within(max(0.0, next_s - self._console.now())))
                if self._console.now() >= next_s:
                    self._live.tick()
                    next_s = self._console.now() + _TICK_S
        except BaseException:
            self._live.leave()
            raise
        finally:
            stop_observing()
        return self._conclude()

    def _take(self, events: list[Event]) -> None:
        self._live.on_events(events)
        for event in events:
            if isinstance(event, EngineLost):
                if self._restarts.allow(self._console.now()):
                    self._session.client.restart()
                else:
                    self._live.on_engine_given_up(event.failure)

    def _on_change(self, change: LiveChange) -> None:
        match change.kind:
            case LiveChangeKind.CONFIRMED:
                self._confirm(change.text)
            case LiveChangeKind.TAIL:
                self._tail = change.text
                self._draw()
            case LiveChangeKind.SEGMENT:
                self._end_line(change.segment)
            case LiveChangeKind.NOTICE:
                if change.notice is not None:
                    self._tell(change.notice)
            case LiveChangeKind.WARNING:
                if change.failure is not None:
                    self._warn(change.failure)
            case LiveChangeKind.PHASE:
                self._on_phase()
            case LiveChangeKind.METER:
                self._announce()
            case _:
                assert_never(change.kind)

    @property
    def _is_streamed(self) -> bool:
        return self._wish.format is ExportFormat.TXT or self._wish.output is not None

    def _confirm(self, delta: str) -> None:
        self._tail = ""
        self._warned.clear()
        text = delta if self._line else delta.lstrip()
        self._line += text
        if self._is_streamed and not self._console.is_watched:
            self._console.result(text)
        self._draw()

    def _end_line(self, segment: Segment | None) -> None:
        if segment is None:
            return
        self._segments.append(segment)
        if self._is_streamed and self._line.strip():
            self._console.result(f"{self._line}\n" if self._console.is_watched else "\n")
        self._line = ""
        self._draw()

    def _draw(self) -> None:
        """On a terminal the line that grows is drawn again and again, and written once it is whole."""
        self._console.tail((self._line + self._tail).lstrip())

    def _tell(self, notice: Notice) -> None:
        if notice.kind is NoticeKind.CAPTIONS_LOST:
            return  # said with its reason, and what can be done
        self._console.tell("jamak: " + tr(f"live_{notice.kind}", device=notice.device, folder=notice.folder))
        self._draw()

    def _warn(self, reason: Failure) -> None:
        """Say it once, however often it happens before there is text again."""
        if reason.kind not in self._warned:
            self._warned.add(reason.kind)
            self._console.complain(reason)
            self._draw()

    def _on_phase(self) -> None:
        state = self._live.state
        self._has_listened = self._has_listened or state.captions is CaptionPhase.LISTENING
        if state.captions is not CaptionPhase.LOST or self._has_failed:
            return
        self._has_failed = True
        if state.failure is not None:
            self._console.complain(state.failure)
            if state.failure.kind in _MISTAKES and not self._has_listened:
                self._live.stop()
                return
        # Words without captions can be written down later; words that nobody recorded are gone.
        if state.phase in (LivePhase.OPENING, LivePhase.RECORDING):
            self._console.tell("jamak: " + tr("cli_live_uncaptioned"))
        self._console.tell(tr("cli_live_transcribe", path=state.path))
        self._draw()

    def _announce(self) -> None:
        """Say once what is recorded, and where to."""
        state = self._live.state
        if state.devices and not self._has_announced:
            self._has_announced = True
            self._console.note(tr("cli_live_recording", device=" + ".join(state.devices), path=state.path))

    def _leave(self) -> int:
        self._live.leave()
        self._console.note(tr("cli_cancelled"))
        self._say_where()
        return EXIT_INTERRUPTED

    def _conclude(self) -> int:
        state = self._live.state
        if state.failure is not None and not self._has_failed:
            self._console.complain(state.failure)
            self._has_failed = True
        if not self._is_streamed:
            self._console.result(render(self._transcript(), self._wish.format))
        if self._wish.output is not None:
            problem = self._write(self._wish.output)
            if problem is not None:
                self._console.complain(problem)
                self._has_failed = True
        self._say_where()
        return int(self._has_failed)

    def _write(self, path: Path) -> Failure | None:
        try:
            write_whole(path, render(self._transcript(), self._wish.format))
        except OSError as error:
            kind = FailureKind.NOT_READABLE if isinstance(error, PermissionError) else FailureKind.DISK_FULL
            return failure(kind, str(path), str(error))
        self._console.note(tr("cli_wrote", path=path))
        return None

    def _say_where(self) -> None:
        if lost_s := self._live.state.lost_s:
            self._console.tell(tr("cli_live_lost", seconds=f"{max(lost_s, 0.1):.1f}"))
        path = Path(self._live.state.path)
        if path.exists():
            self._console.tell(tr("cli_live_kept", path=path))

    def _transcript(self) -> Transcript:
        state = self._live.state
        return Transcript(
            segments=tuple(self._segments),
            language=state.language,
            duration=state.elapsed_s,
            model=self._wish.options.model,
            task=self._wish.options.task,
            source=Path(state.path).name,
        )


def source_called(name: str | None, devices: list[Device]) -> Wish | None:
    """Return what `--device` means; None if no device is called so."""
    if name is None:
        return Wish()
    if name.lower() == _COMPUTER:
        return Wish(kind=DeviceKind.COMPUTER)
    exact = [device for device in devices if name in (device.id, device.name)]
    alike = [device for device in devices if name.lower() in f"{device.id}\n{device.name}".lower()]
    found = next(iter([*exact, *alike]), None)
    return Wish(kind=found.kind, device_id=found.id) if found is not None else None


def _line(device: Device) -> str:
    mark = "*" if device.is_default else " "
    return f"{mark} {device.name}  [{device.id}]  {device.kind}, {device.rate_hz} Hz"
