"""What each command of the window does, and when it can be done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QModelIndex, QObject, QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog

from app.intake import MEDIA_SUFFIXES
from app.library import Recording, RowState, SearchHit
from app.paths import resource
from app.settings import Settings
from app.ui.export_dialog import ExportDialog
from app.ui.export_plan import plain_text
from app.ui.models_dialog import ModelsDialog
from app.ui.notices import NoticeKind
from app.ui.settings_dialog import SettingsDialog
from app.ui.wording import plain
from engine.export import ExportFormat
from engine.protocol.failures import FailureKind, failure

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow


_PLAYER: Final = "player"
_NOT_MEDIA: Final = frozenset(
    {FailureKind.BAD_MEDIA, FailureKind.NO_AUDIO, FailureKind.EMPTY_AUDIO, FailureKind.REFUSED_MEDIA}
)


class WindowCommands(QObject):
    """Connects the actions of one `MainWindow`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._parts = window.parts
        self._list = window.side.list
        self._connect_actions()
        self._connect_parts()
        self._connect_settings()

    def refresh(self) -> None:
        """Enable what makes sense now."""
        do = self._window.actions_
        can = self._window.rows.possible()
        do.cancel.setEnabled(can.cancel)
        do.retry.setEnabled(can.retry)
        do.tracks.setEnabled(can.reveal)
        do.remove.setEnabled(can.remove)
        do.reveal.setEnabled(can.reveal)
        do.relocate.setEnabled(can.relocate)
        do.again.setEnabled(can.again)
        do.move_up.setEnabled(can.move_up)
        do.move_down.setEnabled(can.move_down)
        do.export.setEnabled(can.export)
        do.copy.setEnabled(can.export)
        has_rows = self._list.rows.rowCount() > 0
        do.find.setEnabled(self._window.pages.currentWidget() is self._window.page)
        do.search_all.setEnabled(has_rows)
        do.play_pause.setEnabled(self._parts.player.is_loaded)
        is_held = self._parts.gate.is_held_by_user
        text = self.tr("&Resume queue") if is_held else self.tr("&Pause queue")
        do.pause.setText(text)
        do.pause.setIconText(plain(text))
        self._window.show_icon(do.pause, "play" if is_held else "pause")

    def load_player(self, recording_id: int | None) -> None:
        """Get the chosen recording ready to be heard, if its file is there."""
        row = self._parts.desk.row(recording_id) if recording_id is not None else None
        path = Path(row.recording.path) if row and not _is_unplayable(row.recording) else None
        self._window.notices.withdraw(_PLAYER)
        self._parts.player.load(path if path is not None and path.is_file() else None)

    def open_models(self) -> None:
        """Show the models."""
        dialog = ModelsDialog(self._parts.shelf, self._window)
        dialog.folder_added.connect(self.use_folder)
        dialog.folder_forgotten.connect(self._on_folder_forgotten)
        dialog.model_preferred.connect(self._choose_model)
        dialog.select(self._parts.keeper.now.model)
        dialog.exec()
        dialog.deleteLater()

    def open_settings(self) -> None:
        """Show the settings."""
        dialog = SettingsDialog(self._parts.keeper, self._parts.shelf, self._parts.server, self._window)
        dialog.exec()
        dialog.deleteLater()

    def _connect_actions(self) -> None:
        do, window = self._window.actions_, self._window
        do.open.triggered.connect(self._open)
        do.open_folder.triggered.connect(self._open_folder)
        do.export.triggered.connect(self._export)
        do.copy.triggered.connect(self._copy)
        do.quit.triggered.connect(window.close)
        do.undo.triggered.connect(self._undo)
        do.redo.triggered.connect(window.page.view.undo_stack.redo)
        do.find.triggered.connect(window.page.view.open_search)
        do.search_all.triggered.connect(window.side.open_search)
        do.play_pause.triggered.connect(self._parts.player.toggle)
        do.pause.triggered.connect(self._parts.gate.toggle)
        do.retry.triggered.connect(window.rows.retry)
        do.cancel.triggered.connect(window.rows.cancel)
        do.move_up.triggered.connect(lambda: window.rows.move(up=True))
        do.move_down.triggered.connect(lambda: window.rows.move(up=False))
        do.reveal.triggered.connect(window.rows.reveal)
        do.relocate.triggered.connect(window.rows.relocate)
        do.tracks.triggered.connect(self._choose_track)
        do.again.triggered.connect(self._offer_other_models)
        do.remove.triggered.connect(window.rows.remove)
        do.next_row.triggered.connect(lambda: self._step(1))
        do.previous_row.triggered.connect(lambda: self._step(-1))
        do.larger.triggered.connect(lambda: window.page.view.list.zoom_by(1))
        do.smaller.triggered.connect(lambda: window.page.view.list.zoom_by(-1))
        do.normal.triggered.connect(lambda: window.page.view.set_zoom(100))
        do.models.triggered.connect(self.open_models)
        do.settings.triggered.connect(self.open_settings)

    def _connect_parts(self) -> None:
        window = self._window
        window.drop_zone.open_requested.connect(self._open)
        window.drop_zone.sample_requested.connect(lambda: window.drop_in.take([str(resource("sample.flac"))]))
        window.first_run.other_models_requested.connect(self.open_models)
        window.first_run.folder_requested.connect(self._ask_for_folder)
        window.side.hit_chosen.connect(self._show_hit)
        window.page.retry_requested.connect(lambda one: window.rows.retry_rows([one]))
        window.page.other_model_requested.connect(self._retry_with_other_model)
        window.page.versions.chosen.connect(self._list.choose)
        window.page.versions.again_requested.connect(self._offer_other_models)
        window.page.locate_requested.connect(lambda one: window.rows.relocate_row(one, window))
        window.page.view.segment_edited.connect(
            lambda segment_id, text: window.rows.guarded(
                lambda: self._parts.desk.edit_segment(segment_id, text)
            )
        )
        window.page.view.zoom_changed.connect(
            lambda percent: self._parts.keeper.change(text_zoom_percent=percent)
        )
        window.tracks.chosen.connect(lambda one, track: window.rows.retry_with([one], audio_track=track))
        self._list.selection_shifted.connect(self.refresh)
        self._list.opened.connect(lambda _: window.page.view.setFocus())
        self._list.play_pause_requested.connect(self._parts.player.toggle)
        self._list.menu_requested.connect(self._show_row_menu)
        self._list.retry_requested.connect(lambda one: window.rows.retry_rows([one]))
        self._list.move_requested.connect(window.rows.move_to)
        # Methods, not lambdas: what outlives the window must forget it when it is built anew.
        self._parts.player.failed.connect(self._on_player_failed)
        self._parts.player.rate_changed.connect(self._on_rate_changed)

    def _connect_settings(self) -> None:
        window, keeper = self._window, self._parts.keeper
        window.choices.model_chosen.connect(self._choose_model)
        window.choices.language_chosen.connect(lambda code: keeper.change(language=code))
        window.choices.task_chosen.connect(lambda task: keeper.change(task=task))
        window.choices.mode_chosen.connect(lambda mode: keeper.change(mode=mode))
        window.choices.more_models_requested.connect(self.open_models)
        keeper.changed.connect(self._on_settings)
        keeper.save_failed.connect(window.rows.tell)
        self._parts.shelf.listed.connect(self._on_listed)
        self._use(keeper.now)

    def _on_player_failed(self, sentence: str) -> None:
        self._window.notices.tell(sentence, kind=NoticeKind.WARNING, key=_PLAYER)

    def _on_rate_changed(self, rate: float) -> None:
        self._parts.keeper.change(playback_rate=rate)

    def _on_settings(self, _before: Settings, now: Settings) -> None:
        self._use(now)

    def _use(self, settings: Settings) -> None:
        self._window.choices.show_settings(settings)
        self._window.page.view.set_zoom(settings.text_zoom_percent)

    def _on_listed(self) -> None:
        """Fall back to a model that is here when the chosen one is gone."""
        keeper, shelf = self._parts.keeper, self._parts.shelf
        keys = [model.key for model in shelf.installed]
        if shelf.is_listed and keys and keeper.now.model not in keys:
            self._choose_model(keys[0])
        self._window.choices.show_settings(keeper.now)

    def _open(self) -> None:
        suffixes = " ".join(f"*{suffix}" for suffix in sorted(MEDIA_SUFFIXES))
        paths, _ = QFileDialog.getOpenFileNames(
            self._window,
            self.tr("Open audio or video"),
            self._parts.keeper.now.open_folder,
            f"{self.tr('Audio and video')} ({suffixes});;{self.tr('All files')} (*)",
        )
        if paths:
            self._parts.keeper.change(open_folder=str(Path(paths[0]).parent))
            self._window.drop_in.take(paths)

    def _open_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self._window, self.tr("Open a folder of recordings"), self._parts.keeper.now.open_folder
        )
        if folder:
            self._parts.keeper.change(open_folder=folder)
            self._window.drop_in.take([folder])

    def _copy(self) -> None:
        library = self._parts.library
        if text := plain_text([library.transcript(one) for one in self._window.rows.selected_ids()]):
            QGuiApplication.clipboard().setText(text)
            self._window.statusBar().showMessage(self.tr("The transcript was copied."), 4000)

    def _undo(self) -> None:
        stack = self._window.page.view.undo_stack
        focus = QApplication.focusWidget()
        is_in_text = focus is not None and self._window.page.view.isAncestorOf(focus)
        if self._window.rows.can_undo and not (is_in_text and stack.canUndo()):
            self._window.rows.undo()
        else:
            stack.undo()

    def _choose_track(self) -> None:
        for row in self._list.selected_rows()[:1]:
            self._window.tracks.ask(row.recording.id, row.recording.path, row.recording.name)

    def _choose_model(self, key: str) -> None:
        keeper = self._parts.keeper
        keeper.change(**self._parts.shelf.choosing(key, keeper.now))

    def _retry_with_other_model(self, recording_id: int) -> None:
        """Offer the models under the button that was pressed."""
        self._list.choose(recording_id)
        models = self._parts.shelf.installed
        if len(models) < 2:
            self.open_models()
            return
        menu = self._window.menus.model_menu(
            models, lambda key: self._window.rows.retry_with([recording_id], model=key)
        )
        menu.popup(self._window.cursor().pos())

    def _offer_other_models(self) -> None:
        """Offer what the shown recording can be transcribed with once more."""
        ids = self._window.rows.selected_ids()
        if len(ids) != 1:
            return
        row = self._parts.desk.row(ids[0])
        used = row.recording.options.model if row else ""
        menu = self._window.menus.model_menu(
            self._parts.shelf.installed,
            lambda key: self._window.rows.transcribe_again(ids[0], key),
            used=used,
        )
        menu.addSeparator()
        menu.addAction(self.tr("More models…")).triggered.connect(self.open_models)
        menu.setObjectName("again_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._window.page.versions.menu_place())

    def _show_row_menu(self, at: QPoint) -> None:
        ids = self._window.rows.selected_ids()
        menu = self._window.menus.row_menu(
            self._parts.shelf.installed,
            lambda key: self._window.rows.retry_with(ids, model=key),
            can_retry_with=self._window.rows.possible().retry_with,
        )
        menu.popup(at)

    def _step(self, by: int) -> None:
        place = self._list.currentIndex().row() + by
        if 0 <= place < self._list.rows.rowCount(QModelIndex()):
            self._list.setCurrentIndex(self._list.rows.index(place))

    def _show_hit(self, hit: SearchHit) -> None:
        if self._parts.desk.row(hit.recording_id) is None:
            return
        self._list.choose(hit.recording_id)
        self._window.page.show_recording(hit.recording_id, hit.segment_id)
        self._window.page.view.setFocus()

    def _ask_for_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(
            self._window,
            self.tr("Choose a folder that holds a model"),
            self._parts.keeper.now.model_dialog_folder,
        )
        if folder:
            self._parts.keeper.change(model_dialog_folder=str(Path(folder).parent))
            self.use_folder(folder)

    def use_folder(self, folder: str) -> None:
        """Transcribe with the model in a folder of the user's, if there is one."""
        keeper = self._parts.keeper
        if not (Path(folder) / "config.json").is_file():
            self._window.rows.tell(failure(FailureKind.MODEL_UNKNOWN, Path(folder).name))
            return
        folders = tuple(dict.fromkeys((*keeper.now.model_folders, folder)))
        keeper.change(model_folders=folders, model=folder)
        self._parts.shelf.set_folders(folders)

    def _on_folder_forgotten(self, folder: str) -> None:
        keeper = self._parts.keeper
        folders = tuple(one for one in keeper.now.model_folders if one != folder)
        keeper.change(model_folders=folders)
        self._parts.shelf.set_folders(folders)

    def _export(self) -> None:
        ids = self._window.rows.selected_ids()
        if not ids:
            return
        row, now = self._parts.desk.row(ids[0]), self._parts.keeper.now
        beside = Path(row.recording.path).parent if row else Path.home()
        dialog = ExportDialog(
            [self._parts.library.transcript(one) for one in ids],
            folder=Path(now.export_folder) if now.export_folder else beside,
            format=ExportFormat(now.export_format),
            parent=self._window,
        )
        dialog.exported.connect(lambda chosen, _: self._parts.keeper.change(export_format=chosen))
        dialog.exec()
        dialog.deleteLater()


def _is_unplayable(recording: Recording) -> bool:
    """Whether the file still grows, or the engine has found already that there is nothing to hear."""
    if recording.state is RowState.RECORDING:
        return True
    return recording.failure is not None and recording.failure.kind in _NOT_MEDIA
