"""The Help menu: keys, what this is, whether there is a newer version, and the report of a problem."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import platformdirs
from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices

from app import updates
from app.paths import library_path
from app.report import Entry, Known, make_report
from app.ui.help_dialog import ShortcutsDialog, show_about
from app.ui.notices import Choice, NoticeKind
from app.ui.report_dialog import Facts, ReportDialog
from engine.config import log_folder
from engine.facts import version_of
from engine.protocol.events import Event

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

_UPDATES: Final = "updates"
_PASSING_S: Final = 12.0


class HelpCommands(QObject):
    """Connects the actions of the Help menu of one `MainWindow`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._report: ReportDialog | None = None
        do = window.actions_
        do.help.triggered.connect(lambda: ShortcutsDialog(do.all(), window).exec())
        do.about.triggered.connect(lambda: show_about(window))
        do.report.triggered.connect(self.open_report)
        do.updates.triggered.connect(self.look_for_updates)

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in what the engine says of itself."""
        if self._report is not None:
            self._report.on_events(events)

    def open_report(self) -> None:
        """Show what a report would hold."""
        if self._report is not None:
            self._report.raise_()
            return
        parts = self._window.parts
        recordings = [row.recording for row in parts.desk.rows()]
        settings = parts.keeper.now

        def make(facts: Facts) -> Sequence[Entry]:
            return make_report(
                Known(
                    settings=settings,
                    recordings=recordings,
                    paths=parts.library.paths(),
                    devices=parts.audio.devices(),
                    engine_facts=facts,
                    log_folder=log_folder(),
                    home=Path.home(),
                    library_bytes=_size_of(library_path()),
                )
            )

        folder = platformdirs.user_documents_path()
        dialog = ReportDialog(
            make,
            parts.engine.diagnose,
            folder=folder if folder.is_dir() else Path.home(),
            parent=self._window,
        )
        self._report = dialog
        dialog.finished.connect(self._on_report_closed)
        dialog.open()

    def tell_crash(self) -> None:
        """Say that something went wrong which nobody expected, and offer to report it."""
        choice = Choice(self.tr("Report it…"), self.open_report)
        text = self.tr("Something went wrong inside Jamak. What you were doing may not have been done.")
        self._window.notices.tell(text, choice, kind=NoticeKind.WARNING, key="crash")

    def look_for_updates(self) -> None:
        """Ask whether there is a newer version, now and never otherwise."""
        url = updates.address()
        if url is None:
            self._tell(
                self.tr(
                    "This is Jamak %1. It was built without an address to ask for newer versions: "
                    "look where you got it from."
                ).replace("%1", version_of("jamak"))
            )
            return
        self._tell(self.tr("Looking for a newer version…"))
        self._window.background.run(lambda: _ask(url), self._on_release)

    def _on_release(self, answer: updates.Release | str) -> None:
        own = version_of("jamak")
        if isinstance(answer, str):
            text = self.tr("Whether there is a newer version could not be found out: %1")
            self._tell(text.replace("%1", answer), kind=NoticeKind.WARNING)
        elif not updates.is_newer(answer.version, own):
            self._tell(self.tr("Jamak %1 is the newest version.").replace("%1", own), lasts_s=_PASSING_S)
        else:
            text = self.tr("Jamak %1 is there; this is %2.").replace("%1", answer.version)
            show = Choice(self.tr("Show it"), partial(_open, answer.page))
            self._tell(text.replace("%2", own), *([show] if answer.page else []))

    def _tell(
        self,
        text: str,
        *choices: Choice,
        kind: NoticeKind = NoticeKind.INFO,
        lasts_s: float | None = None,
    ) -> None:
        self._window.notices.tell(text, *choices, kind=kind, key=_UPDATES, lasts_s=lasts_s)

    def _on_report_closed(self) -> None:
        if self._report is not None:
            self._report.deleteLater()
            self._report = None


def _ask(url: str) -> updates.Release | str:
    """Return the newest release, or why it is not known."""
    try:
        return updates.newest_release(url)
    except updates.UpdateError as error:
        return str(error)


def _open(page: str) -> None:
    QDesktopServices.openUrl(QUrl(page))


def _size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
