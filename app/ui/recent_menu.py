"""File → Open recent: the files that were opened last, gone ones forgotten when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QWidget

from app.ui.settings_keeper import SettingsKeeper

MAX_RECENT: Final = 10
_WIDEST_PX: Final = 420


class RecentMenu(QMenu):
    """Lists what `note` was told, across starts.

    Signals: `chosen(path)` of a file that is there; `missing(path)` of one that is not.
    """

    chosen = Signal(str)
    missing = Signal(str)

    def __init__(self, keeper: SettingsKeeper, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("recent_files")
        self.setTitle(self.tr("Open &recent"))
        self.setToolTipsVisible(True)
        self._keeper = keeper
        self.aboutToShow.connect(self.fill)
        self.setEnabled(bool(keeper.now.recent_files))

    def note(self, paths: Iterable[str]) -> None:
        """Remember that these were opened, in this order."""
        self._keep(with_opened(self._keeper.now.recent_files, paths))

    def fill(self) -> None:
        """List the files of this moment; two of the same name are told apart by their folders."""
        self.clear()
        paths = self._keeper.now.recent_files
        for number, (path, label) in enumerate(zip(paths, labels(paths), strict=True), 1):
            key = f"&{number % 10}  " if number <= MAX_RECENT else ""
            short = self.fontMetrics().elidedText(label, Qt.TextElideMode.ElideMiddle, _WIDEST_PX)
            entry = self.addAction(key + short.replace("&", "&&"))
            entry.setToolTip(path)
            entry.triggered.connect(partial(self._open, path))
        self.addSeparator()
        self.addAction(self.tr("&Clear the list")).triggered.connect(partial(self._keep, ()))

    def _open(self, path: str) -> None:
        if Path(path).exists():
            self.note([path])
            self.chosen.emit(path)
        else:
            self._keep(tuple(one for one in self._keeper.now.recent_files if one != path))
            self.missing.emit(path)

    def _keep(self, paths: tuple[str, ...]) -> None:
        self._keeper.change(recent_files=paths)
        self.setEnabled(bool(paths))


def with_opened(recent: Sequence[str], opened: Iterable[str]) -> tuple[str, ...]:
    """Return `recent` with what was opened in front, the last one first, each once."""
    newest_first = [*reversed(list(opened)), *recent]
    return tuple(dict.fromkeys(newest_first))[:MAX_RECENT]


def labels(paths: Sequence[str]) -> list[str]:
    """Return a name for each path: the file's, with its folder's where another has the same."""
    names = [Path(path).name for path in paths]
    return [
        f"{name} – {Path(path).parent.name}" if names.count(name) > 1 else name
        for path, name in zip(paths, names, strict=True)
    ]
