"""The app's process as a whole: what it loads, how it starts, how it ends."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.library import Library
from app.settings import LoadedSettings, Settings, UiLanguage
from app.ui.translation import Translation
from app.wiring import Session
from engine.config import EngineConfig
from engine.protocol.events import Event, JobDone, ModelList, Welcome
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

    def list_models(self) -> str:
        job = super().list_models()
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
def session(qtbot: QtBot, tmp_path: Path, clients: Clients) -> Iterator[Session]:
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    before, rules = app.palette(), app.styleSheet()
    translation = Translation(app)
    folder = str(tmp_path)
    config = EngineConfig(models_folder=folder, cache_folder=folder, log_folder=folder, runtime_folder=folder)
    made = Session(
        app,
        Library(tmp_path / "library.db"),
        LoadedSettings(Settings(ui_language=UiLanguage.ENGLISH)),
        translation=translation,
        config=config,
        make_client=clients,
    )
    yield made
    made.window.hide()
    made.close()
    translation.clear()
    app.setStyleSheet(rules)
    app.setPalette(before)


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
