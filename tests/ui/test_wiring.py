"""The app's process as a whole: what it loads, how it starts, how it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from app.capture.devices import Wish
from app.capture.recording_file import RecordingWriter
from app.library import Library, RowKind, RowState
from app.settings import LoadedSettings, Settings, UiLanguage, save
from app.start_record import SafeStart, settings_for_start
from app.ui.translation import Translation
from app.wiring import Session
from engine.config import EngineConfig
from engine.protocol.events import Event, JobDone, ModelList, Welcome
from engine.protocol.transcript import Options
from tests.helpers.window_rig import BASE, FakeEngine


class FakeClient(FakeEngine):
    """An `EngineClient` that is welcomed as soon as it is started, and has one model."""

    def __init__(self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "gui") -> None:
        super().__init__()
        self._on_event = on_event
        self.is_started = False
        self.is_closed = False

    def start(self) -> None:
        self.is_started = True
        self._on_event(Welcome(engine_pid=1, protocol_version=1))

    def list_models(self, server: str = "") -> str:
        job = super().list_models(server)
        self._on_event(ModelList(job=job, models=(BASE,), folder="/models", free_bytes=10**9))
        self._on_event(JobDone(job=job))
        return job

    def close(self) -> None:
        self.is_closed = True


class Clients:
    """Makes the client, and lets a test look at it."""

    made: FakeClient

    def __call__(
        self, config: EngineConfig, on_event: Callable[[Event], None], *, name: str = "gui"
    ) -> FakeClient:
        self.made = FakeClient(config, on_event, name=name)
        return self.made


@pytest.fixture
def clients() -> Clients:
    return Clients()


@pytest.fixture
def make_session(qtbot: QtBot, tmp_path: Path, clients: Clients) -> Iterator[Callable[[SafeStart], Session]]:
    """Makes the one session of a test."""
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before, rules = app.palette(), app.styleSheet()
    translation = Translation(app)
    folder = str(tmp_path)
    config = EngineConfig(models_folder=folder, cache_folder=folder, log_folder=folder, runtime_folder=folder)
    made: list[Session] = []

    def make(safe: SafeStart) -> Session:
        library = Library(tmp_path / "library.db")
        made.append(Session(app, library, safe, translation=translation, config=config, make_client=clients))
        return made[0]

    yield make
    made[0].window.hide()
    made[0].close()
    translation.clear()
    app.setStyleSheet(rules)
    app.setPalette(before)


@pytest.fixture
def session(make_session: Callable[[SafeStart], Session]) -> Session:
    return make_session(SafeStart(LoadedSettings(Settings(ui_language=UiLanguage.ENGLISH))))


@pytest.mark.parametrize("module", ["app.wiring", "app.__main__"])
def test_the_window_loads_neither_torch_nor_an_adapter(module: str) -> None:
    code = (
        f"import sys, {module}\n"
        "bad = [m for m in sys.modules if m.split('.')[0] in ('torch', 'transformers', 'tokenizers', 'av')"
        " or m.startswith('engine.adapters') or m.startswith('engine.manager')]\n"
        "sys.exit(', '.join(bad) or 0)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr


def test_the_engine_starts_after_the_window_is_on_screen(
    session: Session, clients: Clients, qtbot: QtBot
) -> None:
    session.show()
    assert session.window.isVisible()
    assert not clients.made.is_started
    qtbot.waitUntil(lambda: clients.made.is_started)


def test_files_of_the_command_line_are_queued_and_begun(
    session: Session, clients: Clients, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "talk.wav"
    path.write_bytes(b"RIFF")
    session.show([str(path)])
    qtbot.waitUntil(lambda: any(one.kind == "transcribe" for one in clients.made.requests))
    assert [row.recording.name for row in session.desk.rows()] == ["talk.wav"]


def test_recordings_go_to_the_chosen_folder_and_earlier_ones_stay(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    """Only `jamak live` obeyed the setting."""
    earlier = tmp_path / "earlier.wav"
    earlier.write_bytes(b"RIFF")
    session.take([str(earlier)])
    parts = session.window.parts
    parts.keeper.change(recordings_folder=str(tmp_path / "chosen"))
    parts.live.begin((Wish(),))
    assert parts.live.state is not None
    assert Path(parts.live.state.path).parent == tmp_path / "chosen"
    assert [row.recording.path for row in session.desk.rows()] == [str(earlier)]


def test_a_recording_that_was_cut_off_is_named_at_the_next_start(
    make_session: Callable[[SafeStart], Session], qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "cut off.wav"
    writer = RecordingWriter(path, 16_000)
    writer.append(np.ones(16_000, np.int16))
    library = Library(tmp_path / "library.db")
    library.add(str(path), Options(), kind=RowKind.LIVE, state=RowState.RECORDING)
    library.close()
    session = make_session(SafeStart(LoadedSettings(Settings(ui_language=UiLanguage.ENGLISH))))
    session.show()
    qtbot.waitUntil(lambda: any("“cut off.wav” was cut off" in t for t in session.window.notices.texts()))
    (row,) = session.desk.rows()
    assert row.recording.duration == 1.0
    writer.close()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd's way")
def test_the_computer_stays_awake_while_something_is_recorded(
    session: Session, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    program = tmp_path / "systemd-inhibit"
    program.write_text(f'#!/bin/sh\necho "$@" > {asked}\nexec cat\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    session.window.parts.keeper.change(keep_awake=False)
    session.window.parts.live.begin((Wish(),))
    qtbot.waitUntil(lambda: asked.exists() and "--why=Recording" in asked.read_text())


def test_files_of_a_second_start_join_the_queue(
    session: Session, clients: Clients, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "later.wav"
    path.write_bytes(b"RIFF")
    session.show()
    session.take([str(path)])
    assert [row.recording.name for row in session.desk.rows()] == ["later.wav"]


def test_another_language_builds_the_window_anew_and_work_goes_on(
    session: Session, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "talk.wav"
    path.write_bytes(b"RIFF")
    session.show([str(path)])
    qtbot.waitUntil(lambda: session.desk.num_running == 1)
    old = session.window
    old.parts.keeper.change(ui_language=UiLanguage.KOREAN)
    qtbot.waitUntil(lambda: session.window is not old)
    assert session.window.actions_.open.text() == "열기(&O)…"
    assert session.window.side.list.current_id is not None
    assert session.desk.num_running == 1
    session.window.parts.keeper.change(ui_language=UiLanguage.ENGLISH)
    qtbot.waitUntil(lambda: session.window.actions_.open.text() == "&Open…")


def test_ending_closes_the_engine(session: Session, clients: Clients, qtbot: QtBot) -> None:
    session.show()
    qtbot.waitUntil(lambda: clients.made.is_started)
    session.close()
    assert clients.made.is_closed


def test_a_system_that_ends_the_program_is_not_asked_back(
    session: Session, clients: Clients, qtbot: QtBot, tmp_path: Path
) -> None:
    """Qt's own quit asks every window, and one that asks the person about its work stops it."""
    path = tmp_path / "talk.wav"
    path.write_bytes(b"RIFF")
    session.show([str(path)])
    qtbot.waitUntil(lambda: session.desk.num_running == 1)
    with qtbot.waitSignal(session.window.closed):
        session.leave()
    assert not session.window.isVisible()


def test_a_window_that_stands_for_a_moment_is_a_good_start(session: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.settled):
        session.show()


def test_settings_put_aside_after_failed_starts_can_be_used_again(
    qtbot: QtBot, tmp_path: Path, clients: Clients, make_session: Callable[[SafeStart], Session]
) -> None:
    path = tmp_path / "settings.json"
    save(Settings(ui_language=UiLanguage.ENGLISH, text_zoom_percent=150), path)
    session = make_session(settings_for_start(path, 2))
    session.show()
    qtbot.waitUntil(lambda: clients.made.is_started)
    keeper = session.window.parts.keeper
    assert keeper.now.text_zoom_percent == 100
    (said,) = session.window.notices.texts()
    assert "settings.kept-1.json" in said
    button = session.window.notices.findChild(QPushButton, "notice_choice_0")
    assert button is not None
    button.click()
    assert keeper.now.text_zoom_percent == 150
    assert (tmp_path / "settings.kept-1.json").exists()


def test_a_crash_is_told_with_a_way_to_report_it(session: Session, qtbot: QtBot) -> None:
    session.show()
    session.crashed.emit()
    qtbot.waitUntil(lambda: any("Something went wrong" in text for text in session.window.notices.texts()))
