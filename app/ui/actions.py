"""Every command of the window with its name, its keys and its icon; the menus are made of them."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from app.ui.icons import Icons
from app.ui.wording import plain

_STANDARD: Final = QKeySequence.StandardKey


class Actions(QObject):
    """The commands. `library` commands have their keys only while the list has the focus."""

    def __init__(self, window: QWidget, library: QWidget, icons: Icons) -> None:
        super().__init__(window)
        self._window = window
        self._library = library
        self._icons = icons
        make = self._make
        self.open = make("open", self.tr("&Open…"), _STANDARD.Open, icon="open")
        self.open_folder = make("open_folder", self.tr("Open &folder…"), "Ctrl+Shift+O", icon="folder")
        self.export = make("export", self.tr("&Export…"), "Ctrl+S", icon="export")
        self.copy = make("copy_transcript", self.tr("&Copy transcript"), "Ctrl+Shift+C")
        self.quit = make("quit", self.tr("&Quit"), "Ctrl+Q")
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)

        self.record = make("record", self.tr("&Record"), "Ctrl+R")
        self.pause_recording = make(
            "pause_recording", self.tr("&Pause recording"), "Ctrl+Shift+Space", icon="pause"
        )
        self.captions = make("captions", self.tr("Caption &window"), "Ctrl+Shift+L", icon="captions")
        self.captions.setCheckable(True)
        self.caption_settings = make("caption_settings", self.tr("Caption &settings…"))

        self.undo = make("undo", self.tr("&Undo"), _STANDARD.Undo)
        self.redo = make("redo", self.tr("&Redo"), "Ctrl+Y")
        self.redo.setShortcuts([QKeySequence("Ctrl+Y"), QKeySequence("Ctrl+Shift+Z")])
        self.find = make("find", self.tr("&Find in transcript…"), _STANDARD.Find, icon="search")
        self.search_all = make("search_all", self.tr("Search &all transcripts…"), "Ctrl+Shift+F")

        self.play_pause = make("play_pause", self.tr("P&lay or pause"), "Ctrl+Space")
        self.pause = make("pause_queue", self.tr("&Pause queue"), "Ctrl+Shift+P", icon="pause")
        self.retry = make("retry", self.tr("&Retry"), "Ctrl+Shift+R", icon="retry")
        self.cancel = make("cancel", self.tr("&Cancel"), "Ctrl+.", icon="cancel")
        self.move_up = make("move_up", self.tr("Move &up"), "Alt+Shift+Up")
        self.move_down = make("move_down", self.tr("Move &down"), "Alt+Shift+Down")
        self.reveal = make("reveal", self.tr("&Show in folder"), "Ctrl+Shift+E", icon="folder")
        self.relocate = make("relocate", self.tr("&Locate the file…"))
        self.tracks = make("tracks", self.tr("Choose the audio &track…"))
        self.again = make("transcribe_again", self.tr("Transcribe a&gain with…"), "Ctrl+Shift+T")
        self.remove = self._for_library("remove", self.tr("Remo&ve from the list"), _STANDARD.Delete)
        self.next_row = make("next_row", self.tr("&Next recording"), "Ctrl+PgDown")
        self.previous_row = make("previous_row", self.tr("Pre&vious recording"), "Ctrl+PgUp")

        self.larger = make("larger", self.tr("&Larger text"), _STANDARD.ZoomIn)
        self.larger.setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])
        self.smaller = make("smaller", self.tr("S&maller text"), "Ctrl+-")
        self.normal = make("normal", self.tr("&Normal text size"), "Ctrl+0")

        self.models = make("models", self.tr("&Models…"), "Ctrl+M", icon="models")
        self.settings = make("settings", self.tr("&Settings…"), "Ctrl+,", icon="settings")
        self.settings.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.help = make("help", self.tr("&Keyboard shortcuts"), "F1", icon="help")
        self.report = make("report", self.tr("&Report a problem…"))
        self.updates = make("updates", self.tr("Check for &updates"))
        self.about = make("about", self.tr("&About Jamak"))
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    def all(self) -> list[QAction]:
        """Return every command."""
        return [value for value in vars(self).values() if isinstance(value, QAction)]

    def _make(
        self, name: str, text: str, keys: QKeySequence.StandardKey | str = "", *, icon: str | None = None
    ) -> QAction:
        action = QAction(text, self._window)
        action.setObjectName(f"action_{name}")
        action.setIconText(plain(text))
        if keys:
            action.setShortcut(QKeySequence(keys))
        if icon:
            self._icons.put(action, icon)
        action.setIconVisibleInMenu(False)
        self._window.addAction(action)
        return action

    def _for_library(self, name: str, text: str, keys: QKeySequence.StandardKey) -> QAction:
        """Make a command whose key means something else where text is edited."""
        action = self._make(name, text, keys, icon="remove")
        action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self._window.removeAction(action)
        self._library.addAction(action)
        return action
