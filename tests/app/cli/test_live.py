"""`jamak live`: confirmed text on stdout as it comes, the tail on a terminal only, Ctrl-C in two steps."""

from __future__ import annotations

import io
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app import texts
from app.capture.devices import AudioSystem, Device, DeviceKind, OnBlock, Stream, Wish
from app.cli.arguments import live_options, parser
from app.cli.console import Console
from app.cli.live import Listening, run_live, source_called
from app.cli.session import Session
from app.keep_awake import KeepAwake, Release
from engine.config import EngineConfig, default_config
from engine.export import ExportFormat
from engine.protocol.events import (
    Confirmed,
    EngineLost,
    Event,
    JobDone,
    JobFailed,
    SegmentDone,
    Tail,
    Warned,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options
from tests.helpers.engine_stories import FakeClient, said, segment, started
from tests.helpers.fake_sound import HEADSET, MIC, SPEAKERS, FakeAudio
from tests.helpers.played_sound import PlayedSound
from tests.helpers.sounds import tone


class Terminal(io.StringIO):
    """A stream that somebody looks at."""

    def isatty(self) -> bool:
        return True


class LiveClient(FakeClient):
    """Tells `story` when it is listened to, and `ending` when the stream is closed."""

    story: Callable[[JobId], Sequence[Event]] = staticmethod(lambda job: [started(job, None)])
    ending: Callable[[JobId], Sequence[Event]] = staticmethod(lambda job: [JobDone(job=job)])

    def listen(self, options: Options, start_sample: int = 0) -> JobId:
        job = super().listen(options, start_sample)
        self._tell(type(self).story(job))
        return job

    def close_stream(self, job: JobId) -> None:
        super().close_stream(job)
        self._tell(type(self).ending(job))


class Inhibitor:
    """Keeps a computer awake that nobody else does; `told` is what it was asked, and when it ended."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def __call__(self, reason: str) -> Release:
        self.told.append(reason)
        return lambda: self.told.append("released")


class Run:
    """One `jamak live`, on the test's thread; another thread presses Ctrl-C."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.audio: AudioSystem = PlayedSound(tone(1.0))
        self.out, self.err = io.StringIO(), io.StringIO()
        self.clients: list[LiveClient] = []
        self.inhibitor = Inhibitor()
        self.presses_at: list[Callable[[], bool]] = [lambda: self.heard > 8_000]

    @property
    def heard(self) -> int:
        client = self.clients[-1] if self.clients else None
        return sum(len(client.heard(one.job)) for one in client.listened) if client else 0

    def go(self, kind: type[LiveClient] = LiveClient, **wish: object) -> int:
        def make(config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "") -> LiveClient:
            self.clients.append(kind(on_event))
            return self.clients[-1]

        presser = threading.Thread(target=self._press)
        presser.start()
        try:
            listening = Listening(options=Options(), folder=self.folder / "kept", **wish)  # type: ignore[arg-type]
            session = Session(default_config(), make)
            return run_live(
                session,
                Console(self.out, self.err),
                listening,
                make_audio=lambda: self.audio,
                awake=KeepAwake((self.inhibitor,)),
            )
        finally:
            self.presses_at.clear()
            presser.join()

    @property
    def recording(self) -> Path:
        (path,) = (self.folder / "kept").iterdir()
        return path

    def _press(self) -> None:
        end_s = time.monotonic() + 20.0
        for is_time in list(self.presses_at):
            while not is_time():
                if not self.presses_at or time.monotonic() > end_s:
                    return
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Run]:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    texts.use_language("en")
    yield Run(tmp_path)


class Talking(LiveClient):
    """Confirms a sentence in two pieces, and another one at the end."""

    @staticmethod
    def story(job: JobId) -> Sequence[Event]:
        return [
            started(job, None),
            Tail(job=job, text=" Hel"),
            Confirmed(job=job, delta=" Hello", end=0.3),
            Tail(job=job, text=" wor"),
            Confirmed(job=job, delta=" world.", end=0.6),
            SegmentDone(job=job, segment=segment(" Hello world.", 0.0, 0.6)),
            Tail(job=job, text=""),
        ]

    @staticmethod
    def ending(job: JobId) -> Sequence[Event]:
        return [*said(job, " Bye.", 0.7, 1.0), JobDone(job=job, duration=1.0)]


def test_confirmed_text_goes_to_stdout_line_by_line(run: Run) -> None:
    assert run.go(Talking) == 0
    assert run.out.getvalue() == "Hello world.\nBye.\n"
    assert "\r" not in run.err.getvalue()
    assert run.err.getvalue() == f"The recording is {run.recording}\n"


def test_the_recording_is_kept_whole_and_named_by_date(run: Run) -> None:
    run.go(Talking)
    assert soundfile.info(run.recording).duration > 0.5
    assert time.strptime(run.recording.stem[:19], "%Y-%m-%d %H.%M.%S")


def test_a_terminal_shows_the_tail_and_each_confirmed_line_once(run: Run) -> None:
    run.out, run.err = Terminal(), Terminal()
    assert run.go(Talking) == 0
    assert run.out.getvalue() == "Hello world.\nBye.\n"
    shown = run.err.getvalue()
    assert "\r\x1b[KHel" in shown
    assert "\r\x1b[KHello wor" in shown
    assert "Played sound" in shown


def test_other_formats_are_written_when_it_is_over(run: Run) -> None:
    assert run.go(Talking, format=ExportFormat.SRT) == 0
    assert run.out.getvalue() == "1\n00:00:00,000 --> 00:00:01,000\nHello world. Bye.\n"


def test_a_file_gets_the_whole_transcript_beside_the_lines(run: Run) -> None:
    path = run.folder / "talk.json"
    assert run.go(Talking, format=ExportFormat.JSON, output=path) == 0
    assert run.out.getvalue() == "Hello world.\nBye.\n"
    assert [s["text"] for s in json.loads(path.read_text())["segments"]] == [" Hello world.", " Bye."]


def test_the_second_ctrl_c_ends_at_once_and_the_recording_is_whole(run: Run) -> None:
    class Endless(Talking):
        @staticmethod
        def ending(job: JobId) -> Sequence[Event]:
            return []

    run.presses_at.append(lambda: bool(run.clients[-1].said))
    assert run.go(Endless) == 130
    assert run.out.getvalue() == "Hello world.\n"
    assert soundfile.info(run.recording).frames > 8_000
    assert run.clients[-1].is_closed


@pytest.mark.parametrize("kind", [FailureKind.MODEL_MISSING, FailureKind.LANGUAGE_UNKNOWN])
def test_a_mistake_at_the_start_ends_it_with_its_sentence(run: Run, kind: FailureKind) -> None:
    class Missing(LiveClient):
        @staticmethod
        def story(job: JobId) -> Sequence[Event]:
            return [JobFailed(job=job, failure=failure(kind, "whisper-base"))]

    run.presses_at.clear()
    assert run.go(Missing) == 1
    assert "whisper-base" in run.err.getvalue()
    assert "goes on" not in run.err.getvalue()


@pytest.mark.parametrize("last", [FailureKind.ENGINE_DIED, FailureKind.MODEL_MISSING])
def test_a_recording_outlives_captions_that_are_lost_before_the_first_word(
    run: Run, last: FailureKind
) -> None:
    """It was ended: the engine was killed three times, and nobody heard what was said afterwards."""
    lost = EngineLost(failure=failure(FailureKind.ENGINE_DIED, ""))

    class Killed(LiveClient):
        @staticmethod
        def story(job: JobId) -> Sequence[Event]:
            if job == "live-3":
                return [JobFailed(job=job, failure=failure(last, "whisper-base")), lost]
            return [started(job, None), JobFailed(job=job, failure=lost.failure), lost]

    played = PlayedSound(tone(1.0))
    run.audio = played
    run.presses_at = [lambda: "no captions" in run.err.getvalue() and played.is_over]
    assert run.go(Killed) == 1
    assert soundfile.info(run.recording).duration > 0.9
    told = run.err.getvalue()
    assert failure(last, "whisper-base").message.split("“")[0] in told
    assert told.count("The recording goes on until Ctrl-C.") == 1
    assert told.count(f'jamak transcribe "{run.recording}"') == 1


def test_an_engine_that_dies_is_started_again_and_text_goes_on(run: Run) -> None:
    lost = EngineLost(failure=failure(FailureKind.ENGINE_DIED, ""))

    class Dying(LiveClient):
        @staticmethod
        def story(job: JobId) -> Sequence[Event]:
            if job == "live-1":
                died = JobFailed(job=job, failure=lost.failure)
                return [started(job, None), Confirmed(job=job, delta=" One", end=0.25), died, lost]
            return [started(job, None), *said(job, " two.", 0.25, 0.5)]

    assert run.go(Dying) == 0
    assert run.out.getvalue() == "One\ntwo.\n"
    assert run.clients[-1].num_restarts == 1
    assert run.clients[-1].listened[-1].start_sample == 4_000


def test_sound_that_could_not_be_heard_is_told_once_until_there_is_text_again(run: Run) -> None:
    class Deaf(LiveClient):
        @staticmethod
        def story(job: JobId) -> Sequence[Event]:
            unheard = Warned(job=job, failure=failure(FailureKind.POISON, "whisper-base"))
            return [started(job, None), unheard, unheard, *said(job, " One.", 0.0, 0.5), unheard]

    assert run.go(Deaf) == 0
    assert run.out.getvalue() == "One.\n"
    assert run.err.getvalue().count(f"A part of “{run.recording.name}”") == 2


class Choking(PlayedSound):
    """Begins with more than a minute at once, for which there is no room."""

    def open(self, device: Device, on_block: OnBlock) -> Stream:
        on_block(np.zeros(61 * device.rate_hz, np.float32))
        return super().open(device, on_block)


def test_sound_that_was_lost_is_told_in_the_end(run: Run) -> None:
    run.audio = Choking(tone(1.0))
    assert run.go(Talking) == 0
    assert "61.0 s of sound were lost" in run.err.getvalue()


def test_the_computer_stays_awake_while_it_listens(run: Run) -> None:
    during: list[str] = []
    run.presses_at = [lambda: run.heard > 8_000 and not during.extend(run.inhibitor.told)]
    assert run.go(Talking) == 0
    assert during == ["Recording"]
    assert run.inhibitor.told == ["Recording", "released"]


def test_a_folder_that_cannot_be_written_gives_way_to_the_usual_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kept").write_text("a file stands where the folder should be")
    monkeypatch.setenv("JAMAK_RECORDINGS_DIR", str(tmp_path / "usual"))
    assert run.go(Talking) == 0
    (path,) = (tmp_path / "usual").iterdir()
    told = f"The folder for recordings cannot be written to. This one is kept in “{path.parent}”."
    assert told in run.err.getvalue()
    assert f"The recording is {path}" in run.err.getvalue()


def test_without_anything_to_record_it_says_so(run: Run) -> None:
    run.audio = FakeAudio()
    run.presses_at.clear()
    assert run.go() == 1
    assert "nothing to record" in run.err.getvalue()


def test_devices_are_listed_with_the_default_marked(run: Run) -> None:
    run.audio = FakeAudio(MIC, SPEAKERS)
    run.presses_at.clear()
    assert run.go(only_lists=True) == 0
    assert run.out.getvalue() == (
        "* Built-in Microphone  [mic]  microphone, 16000 Hz\n"
        "* Speakers  [speakers.monitor]  computer sound, 16000 Hz\n"
    )
    assert not (run.folder / "kept").exists()


def test_a_device_nobody_has_is_refused(run: Run) -> None:
    run.presses_at.clear()
    assert run.go(device="telescope") == 1
    assert "telescope" in run.err.getvalue()


@pytest.mark.parametrize(
    ("name", "wish"),
    [
        (None, Wish()),
        ("computer", Wish(kind=DeviceKind.COMPUTER)),
        ("mic", Wish(device_id="mic")),
        ("HEAD", Wish(device_id="headset")),
        ("Speakers", Wish(kind=DeviceKind.COMPUTER, device_id="speakers.monitor")),
        ("nothing", None),
    ],
)
def test_a_device_is_found_by_name(name: str | None, wish: Wish | None) -> None:
    assert source_called(name, [MIC, HEADSET, SPEAKERS]) == wish


def test_arguments_become_options() -> None:
    asked = parser().parse_args(
        ["live", "--language", "KO", "--model", "whisper-small", "--hotwords", "Jamak"]
    )
    assert live_options(asked) == Options(
        model="whisper-small", language="ko", word_timestamps=True, hotwords="Jamak"
    )


def test_a_chunk_may_be_half_a_second_and_no_less(capsys: pytest.CaptureFixture[str]) -> None:
    asked = parser().parse_args(["live", "--chunk", "0.5"])
    assert live_options(asked).live_chunk_s == 0.5
    assert live_options(parser().parse_args(["live"])).live_chunk_s is None
    for wrong in ("0.4", "11", "soon"):
        with pytest.raises(SystemExit):
            parser().parse_args(["live", "--chunk", wrong])
        assert "between 0.5 and 10" in capsys.readouterr().err
