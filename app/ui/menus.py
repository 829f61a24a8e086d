"""The menu bar, the tool bar and the menu of a row, made of the window's commands."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QObject, QSize, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app.ui.actions import Actions
from app.ui.choice_bar import ChoiceBar
from app.ui.wording import plain
from engine.protocol.transcript import ModelInfo


class Menus(QObject):
    """Builds what the commands are reached by."""

    def __init__(self, window: QMainWindow, actions: Actions) -> None:
        super().__init__(window)
        self._window = window
        self._actions = actions

    def fill_menu_bar(self, sources: QMenu, recent: QMenu) -> None:
        """Put every command under a menu, with the choices of what is recorded and of recent files."""
        do = self._actions
        menus: tuple[tuple[str, tuple[QAction | None, ...]], ...] = (
            (
                self.tr("&File"),
                (do.open, do.open_folder, None, do.export, do.copy, None, do.quit),
            ),
            (
                self.tr("&Live"),
                (do.record, do.pause_recording, do.captions, do.caption_settings),
            ),
            (self.tr("&Edit"), (do.undo, do.redo, None, do.find, do.search_all, None, do.settings)),
            (
                self.tr("&Queue"),
                (
                    do.pause,
                    None,
                    do.retry,
                    do.cancel,
                    do.remove,
                    None,
                    do.move_up,
                    do.move_down,
                    None,
                    do.reveal,
                    do.relocate,
                    do.tracks,
                    do.again,
                ),
            ),
            (
                self.tr("&View"),
                (do.play_pause, None, do.previous_row, do.next_row, None, do.larger, do.smaller, do.normal),
            ),
            (self.tr("&Help"), (do.models, None, do.help, do.report, do.updates, None, do.about)),
        )
        for title, actions in menus:
            menu = self._window.menuBar().addMenu(title)
            _fill(menu, actions)
            if do.record in actions:
                menu.insertMenu(do.captions, sources)
                menu.insertSeparator(do.captions)
            if do.open_folder in actions:
                menu.insertMenu(do.open_folder, recent)

    def tool_bar(self, choices: ChoiceBar, record: QWidget) -> QToolBar:
        """Return the tool bar: open, record, the choices, and at its end search, export and settings."""
        do = self._actions
        bar = QToolBar(self.tr("Tools"))
        bar.setObjectName("tools")
        bar.setMovable(False)
        bar.setFloatable(False)
        bar.setIconSize(QSize(20, 20))
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        bar.addAction(do.open)
        _with_text(bar, do.open)
        bar.addWidget(record)
        bar.addWidget(choices)
        gap = QWidget()
        gap.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        bar.addWidget(gap)
        for action in (do.find, do.export, do.models, do.settings):
            bar.addAction(action)
            _name(bar, action)
        _with_text(bar, do.export)
        return bar

    def row_menu(
        self, models: Iterable[ModelInfo], retry_with: Callable[[str], None], *, can_retry_with: bool
    ) -> QMenu:
        """Return the menu of the selected rows; `retry_with` is given a model's key."""
        do = self._actions
        menu = QMenu(self._window)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        _fill(menu, (do.retry,))
        other = self.model_menu(models, retry_with)
        other.setTitle(self.tr("Retry with another model"))
        menu.addMenu(other)
        other.setEnabled(can_retry_with and not other.isEmpty())
        _fill(
            menu,
            (
                do.again,
                do.tracks,
                do.cancel,
                None,
                do.move_up,
                do.move_down,
                None,
                do.export,
                do.copy,
                do.reveal,
                do.relocate,
                None,
                do.remove,
            ),
        )
        return menu

    def model_menu(
        self, models: Iterable[ModelInfo], choose: Callable[[str], None], *, used: str = ""
    ) -> QMenu:
        """Return a menu of models; `choose` is given the key of the one that is chosen."""
        menu = QMenu(self._window)
        for model in models:
            entry = menu.addAction(model.name)
            if used:
                entry.setCheckable(True)
                entry.setChecked(model.key == used)
            entry.triggered.connect(lambda _=False, key=model.key: choose(key))
        return menu


def _fill(menu: QMenu, actions: Iterable[QAction | None]) -> None:
    for action in actions:
        if action is None:
            menu.addSeparator()
        else:
            menu.addAction(action)


def _with_text(bar: QToolBar, action: QAction) -> None:
    button = bar.widgetForAction(action)
    if isinstance(button, QToolButton):
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    _name(bar, action)


def _name(bar: QToolBar, action: QAction) -> None:
    name = plain(action.text())
    if button := bar.widgetForAction(action):
        button.setObjectName(action.objectName().replace("action_", "tool_"))
        button.setAccessibleName(name)
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        button.setToolTip(f"{name} ({keys})" if keys else name)
