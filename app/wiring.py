"""Builds every long-lived object of the window's process and connects them; the only file that knows all."""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from PySide6.QtCore import QLoggingCategory, QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QMessageBox

from app import settings as settings_file
from app.capture.devices import Wish
from app.capture.system import SystemAudio
from app.changes import ChangeKind, DeskChange
from app.crashes import CrashWatch
from app.desk import Desk
from app.engine_key import find_key
from app.engine_link import EngineLink
from app.keep_awake import KeepAwake, system_inhibitors
from app.library import Library
from app.paths import (
    instance_address,
    library_path,
    new_recording_path,
    recordings_folder,
    settings_path,
    starts_path,
)
from app.player import Player
from app.ports import ClientMaker
from app.settings import Settings, UiLanguage
from app.single_instance import SingleInstance
from app.start_record import SafeStart, StartRecord, settings_for_start
from app.texts import failure_line, tr
from app.ui.collector import Collector
from app.ui.icons import app_icon
from app.ui.live import Live, SessionPort
from app.ui.main_window import MainWindow, Parts
from app.ui.model_shelf import ModelShelf
from app.ui.notices import Choice, NoticeKind
from app.ui.opened_files import OpenedFiles
from app.ui.queue_gate import QueueGate
from app.ui.screen_saver import ask_screen_saver
from app.ui.server_switch import ServerSwitch
from app.ui.settings_keeper import SettingsKeeper
from app.ui.style import Style
from app.ui.termination import Termination
from app.ui.translation import Translation
from engine.client.client import EngineClient
from engine.config import EngineConfig, default_config, log_folder
from engine.facts import version_of
from engine.logs import start_logging
from engine.protocol.events import Event
from engine.protocol.failures import Failure, FailureError

log = logging.getLogger(__name__)

_SETTLED_AFTER_MS: Final = 1500
"""A window that stands so long was a good start."""


def run_window(files: Sequence[str]) -> int:
    """Show the window with `files` in its queue, or hand them to the one that runs; return the exit code."""
    app = _application()
    translation = Translation(app)
    translation.use(UiLanguage.SYSTEM)
    instance = SingleInstance(instance_address())
    starts = StartRecord(starts_path())
    try:
        if instance.hand_over(files):
            return 0
        # The log belongs to the window that stays.
        start_logging("window", log_folder(), "INFO")
        num_failed = starts.begin()
        log.info("jamak %s begins, after %d failed starts", version_of("jamak"), num_failed)
        safe = settings_for_start(settings_path(), num_failed)
        translation.use(safe.loaded.settings.ui_language)
        library = Library(library_path())
    except FailureError as error:
        starts.succeed()
        QMessageBox.critical(None, "Jamak", failure_line(error.failure))
        return 1
    session = Session(app, library, safe, translation=translation, config=default_config())
    session.settled.connect(starts.succeed)
    instance.files_received.connect(session.take)
    OpenedFiles(app).files_received.connect(session.take)
    termination = Termination()
    termination.asked.connect(session.leave)
    crashes = CrashWatch(session.crashed.emit)
    crashes.begin()
    collector = Collector(app)
    session.show(files)
    try:
        exit_code = app.exec()
        starts.succeed()
        return exit_code
    finally:
        termination.close()
        session.close()
        # Only now may another start take over: it would run the same queue.
        instance.close()
        crashes.end()
        collector.close()


class Session(QObject):
    """One run of the window: everything that lives from its first to its last moment.

    Signals: `settled` when the window has been there for a moment, and everything with it; `crashed`, on
    any thread, when something was raised that nobody caught.
    """

    settled = Signal()
    crashed = Signal()

    def __init__(
        self,
        app: QApplication,
        library: Library,
        safe: SafeStart,
        *,
        translation: Translation,
        config: EngineConfig,
        make_client: ClientMaker = EngineClient,
    ) -> None:
        super().__init__(app)
        self._is_closed = False
        self._translation = translation
        self._library = library
        self._safe = safe
        loaded = safe.loaded
        self._keeper = SettingsKeeper(loaded.settings, settings_path(), self)
        self._style = Style(app)
        self._style.set_theme(loaded.settings.theme)
        self._link = EngineLink(config, self, make_client=make_client)
        self.desk = Desk(library, self._link)
        self._shelf = ModelShelf(self._link, loaded.settings.model_folders, self)
        self._shelf.set_server(loaded.settings.engine_server, loaded.settings.engine_models)
        self._player = Player(self)
        self._player.set_rate(loaded.settings.playback_rate)
        self._awake = KeepAwake((ask_screen_saver, *system_inhibitors()))
        self._audio = SystemAudio()
        self._live = Live(self._make_recording, self)
        self._server = ServerSwitch(self._keeper, self)
        self._parts = Parts(
            desk=self.desk,
            library=library,
            keeper=self._keeper,
            shelf=self._shelf,
            gate=QueueGate(self.desk, self._shelf, self._keeper, self),
            player=self._player,
            engine=self._link,
            live=self._live,
            audio=self._audio,
            server=self._server,
        )
        self.window = MainWindow(self._parts)
        self._connect()

    def show(self, files: Sequence[str] = ()) -> None:
        """Show the window; the engine is started when it is on screen."""
        self.window.show()
        QTimer.singleShot(0, self, lambda: self._begin(files))

    def take(self, files: Sequence[str]) -> None:
        """Queue files that a second start handed over, and come to the front."""
        self.window.showNormal() if self.window.isMinimized() else self.window.show()
        self.window.raise_()
        self.window.activateWindow()
        if files:
            self.window.drop_in.take(list(files))

    def leave(self) -> None:
        """Close the window without asking, which ends the program."""
        self.window.leave()

    def close(self) -> None:
        """End work and engine, and keep everything; the window is gone, or goes now. Idempotent."""
        if self._is_closed:
            return
        self._is_closed = True
        self._server.leave()
        self.window.save_layout()
        self.window.hide()
        self._awake.release()
        self._player.load(None)
        self._live.leave()
        self.desk.stop()
        self.window.detach()
        self._server.close()
        self._link.close()
        self._keeper.flush()
        self._library.close()

    def _begin(self, files: Sequence[str]) -> None:
        self._find_key()
        self._link.start()
        self._shelf.refresh()
        self._server.open()
        self.desk.start()
        self._tell_what_was_set_aside()
        self._tell_what_was_cut_off()
        self.window.choose_newest()
        if files:
            self.window.drop_in.take(list(files))
        QTimer.singleShot(_SETTLED_AFTER_MS, self, self.settled.emit)

    def _find_key(self) -> None:
        """Let the engine have the key of the server elsewhere; a keyring that is locked takes its time."""
        if server := self._keeper.now.engine_server:
            link = self._link
            threading.Thread(
                target=lambda: link.use_key(server, find_key(server)), daemon=True, name="engine-key"
            ).start()

    def _connect(self) -> None:
        self._link.events.connect(self._on_events)
        self._link.given_up.connect(self._on_given_up)
        self._keeper.changed.connect(self._on_settings)
        self.desk.observe(self._on_change)
        self._live.shifted.connect(self._keep_awake)
        self.crashed.connect(self._on_crash, Qt.ConnectionType.QueuedConnection)
        self.settled.connect(self._get_ready_to_record)

    def _get_ready_to_record(self) -> None:
        """Load what recording needs: the window opens without it, and who presses Record begins to speak."""
        self.window.background.run(lambda: importlib.import_module("app.live_session"), lambda _: None)

    def _make_recording(self, wishes: tuple[Wish, ...]) -> SessionPort:
        from app.live_session import LiveSession, LiveWish

        now, settings = datetime.now().astimezone(), self._keeper.now
        wish = LiveWish(
            sources=wishes,
            path=new_recording_path(recordings_folder(settings.recordings_folder), now),
            spare_path=new_recording_path(recordings_folder(), now),
            options=settings.options(),
        )
        return LiveSession(wish, self._audio, self._link, self.desk.live)

    def _on_events(self, events: list[Event]) -> None:
        self.desk.on_events(events)
        self._live.on_events(events)
        self._shelf.on_events(events)
        self.window.on_events(events)

    def _on_given_up(self, failure: Failure) -> None:
        self.desk.on_engine_given_up(failure)
        self._live.on_engine_given_up(failure)

    def _on_crash(self) -> None:
        if not self._is_closed:
            self.window.help_commands.tell_crash()

    def _on_change(self, change: DeskChange) -> None:
        if change.kind in (ChangeKind.QUEUE, ChangeKind.ROW, ChangeKind.REMOVED):
            self._keep_awake()

    def _keep_awake(self) -> None:
        if self._live.is_open:
            self._awake.hold(self.tr("Recording"))
        elif self.desk.num_running and self._keeper.now.keep_awake:
            self._awake.hold(self.tr("Transcribing"))
        else:
            self._awake.release()

    def _on_settings(self, before: Settings, now: Settings) -> None:
        if now.theme is not before.theme:
            self._style.set_theme(now.theme)
        if now.keep_awake != before.keep_awake:
            self._keep_awake()
        if now.ui_language is not before.ui_language:
            self._translation.use(now.ui_language)
            # Not at once: the dialog in which the language was chosen belongs to the old window.
            QTimer.singleShot(0, self, self._rebuild_window)

    def _rebuild_window(self) -> None:
        """Build the window anew in the language in use; work goes on meanwhile."""
        old = self.window
        if old.has_dialog():
            QTimer.singleShot(100, self, self._rebuild_window)
            return
        current = old.page.recording_id
        has_captions = old.live_commands.captions.is_shown
        old.save_layout()
        old.detach()
        self.window = MainWindow(self._parts)
        self.window.show()
        if current is not None:
            self.window.side.list.choose(current)
        if has_captions:
            self.window.live_commands.captions.show()
        old.hide()
        old.deleteLater()

    def _tell_what_was_set_aside(self) -> None:
        library = self._library.opened
        for key, path in (
            ("settings_set_aside", self._safe.loaded.set_aside),
            ("library_newer" if library.is_from_newer else "library_set_aside", library.set_aside),
        ):
            if path is not None:
                text = tr(key, name=path.name, count=library.num_rescued)
                self.window.notices.tell(text, kind=NoticeKind.WARNING, key=key)
        if (kept := self._safe.kept) is not None:
            key = "safe_mode"
            again = Choice(self.tr("Use my settings again"), lambda: self._use_again(kept))
            text = tr(key, name=kept.name)
            self.window.notices.tell(text, again, kind=NoticeKind.WARNING, key=key)

    def _use_again(self, kept: Path) -> None:
        """Go back to the settings that were put aside after failed starts; the file stays."""
        loaded = settings_file.load(kept)
        if loaded.set_aside is not None:
            key = "settings_set_aside"
            self.window.notices.tell(tr(key, name=loaded.set_aside.name), kind=NoticeKind.WARNING)
            return
        self._keeper.replace(loaded.settings)
        self._shelf.set_folders(loaded.settings.model_folders)
        self._shelf.set_server(loaded.settings.engine_server, loaded.settings.engine_models)
        self._player.set_rate(loaded.settings.playback_rate)
        self.window.restore_layout()

    def _tell_what_was_cut_off(self) -> None:
        key = "live_recovered"
        for recording_id in self.desk.recovered:
            if (row := self.desk.row(recording_id)) is not None:
                self.window.notices.tell(tr(key, name=row.recording.name), key=f"{key}_{recording_id}")


def _application() -> QApplication:
    # The player says what it opens and which libraries it lacks; a terminal is no place for either.
    # QT_LOGGING_RULES brings it back.
    QLoggingCategory.setFilterRules("qt.multimedia.*=false\nqt.text.font.db=false")
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setApplicationName("jamak")
    app.setApplicationDisplayName("Jamak")
    app.setDesktopFileName("jamak")
    app.setWindowIcon(app_icon())
    return app
