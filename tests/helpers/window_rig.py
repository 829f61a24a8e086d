"""A whole window over a real desk and library, with an engine that says only what a test tells it to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from PySide6.QtCore import QCoreApplication, QEvent

from app.capture.devices import Wish
from app.desk import Desk
from app.library import Library
from app.player import Player
from app.settings import Settings
from app.ui.live import Live
from app.ui.main_window import MainWindow, Parts
from app.ui.model_shelf import ModelShelf
from app.ui.queue_gate import QueueGate
from app.ui.server_switch import ServerSwitch
from app.ui.settings_keeper import SettingsKeeper
from engine.protocol.events import (
    Confirmed,
    Event,
    JobDone,
    JobFailed,
    JobStarted,
    LanguageDetected,
    ModelList,
    Progress,
    SegmentDone,
    Welcome,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import AudioTrack, MediaInfo, ModelInfo, ModelPhase, Options, Segment
from tests.helpers.fake_live import FakeSession, write_silence
from tests.helpers.fake_sound import HEADSET, MIC, SPEAKERS, FakeAudio
from tests.helpers.fake_streams import FakeStreams

TRACK = AudioTrack(index=0, codec="flac", channels=1, sample_rate_hz=16000)


@dataclass(frozen=True)
class Request:
    """Something the app asked of the engine."""

    kind: str
    job: JobId
    subject: str
    options: Options | None = None


@dataclass
class FakeEngine(FakeStreams):
    """Keeps what was asked for, in order; answers nothing by itself. Job ids are job-1, job-2, …"""

    requests: list[Request] = field(default_factory=list)
    cancelled: list[JobId] = field(default_factory=list)
    keys: dict[str, str] = field(default_factory=dict)

    def start(self) -> None: ...

    def restart(self) -> None: ...

    def close(self) -> None: ...

    def transcribe(self, path: str, options: Options, resume_at_sample: int | None = None) -> JobId:
        return self._note("transcribe", path, options)

    def probe(self, path: str) -> JobId:
        return self._note("probe", path)

    def list_models(self, server: str = "") -> JobId:
        return self._note("list", server)

    def use_key(self, server: str, key: str) -> None:
        self.keys[server] = key

    def download_model(self, model: str) -> JobId:
        return self._note("download", model)

    def verify_model(self, model: str) -> JobId:
        return self._note("verify", model)

    def remove_model(self, model: str) -> JobId:
        return self._note("remove", model)

    def diagnose(self) -> JobId:
        return self._note("diagnose", "")

    def cancel(self, job: JobId) -> None:
        self.cancelled.append(job)

    def last(self, kind: str) -> Request:
        """Return the newest request of a kind."""
        return [request for request in self.requests if request.kind == kind][-1]

    def _note(self, kind: str, subject: str, options: Options | None = None) -> JobId:
        job = f"job-{len(self.requests) + 1}"
        self.requests.append(Request(kind, job, subject, options))
        return job


def model(key: str, name: str, phase: ModelPhase = ModelPhase.INSTALLED, **fields: object) -> ModelInfo:
    """Return a line of the model list."""
    made = ModelInfo(
        key=key,
        name=name,
        family="whisper",
        size_bytes=148_000_000,
        languages=("en", "de", "ko", "ja"),
        can_translate=True,
        phase=phase,
        note="Quick, and good for clear speech.",
    )
    return msgspec.structs.replace(made, **fields)


BASE = model("whisper-base", "Whisper base")
SMALL = model("whisper-small", "Whisper small")


class WindowRig:
    """The window and everything it needs; the engine's part is played by the test."""

    def __init__(
        self, folder: Path, *, models: Sequence[ModelInfo] = (BASE,), settings: Settings | None = None
    ) -> None:
        self.folder = folder
        self.engine = FakeEngine()
        self.library = Library(folder / "library.db")
        self.keeper = SettingsKeeper(settings or Settings(), folder / "settings.json")
        self.desk = Desk(self.library, self.engine)
        self.shelf = ModelShelf(self.engine)
        self.player = Player()
        self.gate = QueueGate(self.desk, self.shelf, self.keeper)
        self.audio = FakeAudio(MIC, HEADSET, SPEAKERS)
        self.sessions: list[FakeSession] = []
        self.live = Live(self._make_session)
        self.server = ServerSwitch(self.keeper)
        self.window = MainWindow(
            Parts(
                desk=self.desk,
                library=self.library,
                keeper=self.keeper,
                shelf=self.shelf,
                gate=self.gate,
                player=self.player,
                engine=self.engine,
                live=self.live,
                audio=self.audio,
                server=self.server,
            )
        )
        self.shelf.refresh()
        self.desk.start()
        self.play(Welcome(engine_pid=1, protocol_version=1))
        self.list_models(models)

    def play(self, *events: Event) -> None:
        """Let the engine tell these events."""
        self.desk.on_events(events)
        self.shelf.on_events(events)
        self.window.on_events(events)

    def list_models(self, models: Sequence[ModelInfo]) -> None:
        """Answer the newest request for the list of models."""
        job = self.engine.last("list").job
        self.play(
            ModelList(job=job, models=tuple(models), folder="/models", free_bytes=50 * 10**9),
            JobDone(job=job),
        )

    @property
    def session(self) -> FakeSession:
        """The newest recording."""
        return self.sessions[-1]

    def record(self) -> FakeSession:
        """Press Record, and let the microphone open."""
        self.window.actions_.record.trigger()
        self.session.open()
        return self.session

    def make_file(self, name: str) -> str:
        """Return the path of a file that looks like media by its name, and is silence."""
        path = self.folder / name
        # Sound that can be played: a player's complaint, told on a thread of its own, may end the process.
        write_silence(path)
        return str(path)

    def add(self, *names: str) -> list[int]:
        """Add new files and return their rows' ids."""
        return list(self.desk.add([self.make_file(name) for name in names], Options()).recording_ids)

    def begin(self, job: JobId, duration: float = 60.0, language: str = "ko") -> None:
        """Tell that a job's media is open and its language known."""
        self.play(
            JobStarted(job=job, media=MediaInfo(duration=duration, tracks=(TRACK,)), model="whisper-base"),
            LanguageDetected(job=job, language=language, probability=0.98),
        )

    def say(self, job: JobId, text: str, start: float, end: float) -> None:
        """Tell one segment and how far the job is."""
        self.play(
            Confirmed(job=job, delta=text),
            SegmentDone(job=job, segment=Segment(start=start, end=end, text=text)),
            Progress(job=job, done=end, total=60.0, remaining_s=max(0.0, (60.0 - end) / 4)),
        )

    def finish(self, job: JobId) -> None:
        """Tell a job's happy ending."""
        self.play(JobDone(job=job, duration=60.0, speech=50.0, elapsed=15.0))

    def fail(self, job: JobId, kind: FailureKind, subject: str) -> None:
        """Tell that a job has failed."""
        self.play(JobFailed(job=job, failure=failure(kind, subject)))

    def job_of(self, name: str) -> JobId:
        """Return the newest job for a file."""
        jobs = [one.job for one in self.engine.requests if one.subject.endswith(name)]
        return jobs[-1]

    def close(self) -> None:
        """Put everything away."""
        self.live.leave()
        self.window.detach()
        self.window.hide()
        self.window.deleteLater()
        # Here and now: the garbage collector would do it at any time, and on any thread.
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        self.desk.stop()
        self.library.close()

    def _make_session(self, wishes: tuple[Wish, ...]) -> FakeSession:
        path = self.folder / f"recording {len(self.sessions) + 1}.wav"
        self.sessions.append(FakeSession(wishes, path, self.desk.live))
        return self.session
