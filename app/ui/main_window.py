"""The window: composes its parts, hands the desk's changes around, takes drops, and asks before it closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import QByteArray, QEvent, Qt, Signal
from PySide6.QtGui import QAction, QCloseEvent, QDragEnterEvent, QDragLeaveEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import (
    QDialog,
    QLabel,
    QMainWindow,
    QMessageBox,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.capture.devices import AudioSystem
from app.changes import ChangeKind, DeskChange
from app.desk import Desk
from app.library import Library
from app.player import Player
from app.ports import Questions
from app.settings import Settings
from app.ui.actions import Actions
from app.ui.background import Background
from app.ui.choice_bar import ChoiceBar
from app.ui.drop_in import DropIn
from app.ui.drop_zone import DropOverlay, DropZone
from app.ui.first_run import FirstRun
from app.ui.help_commands import HelpCommands
from app.ui.icons import Icons, app_icon
from app.ui.library_model import ROWS_MIME
from app.ui.live import Live
from app.ui.live_commands import LiveCommands
from app.ui.live_panel import LivePanel
from app.ui.menus import Menus
from app.ui.model_shelf import ModelShelf
from app.ui.notices import NoticeBar
from app.ui.notify import EndNotice, TrayMessenger
from app.ui.player_bar import PlayerBar
from app.ui.queue_gate import QueueGate
from app.ui.recent_menu import RecentMenu
from app.ui.record_button import RecordButton
from app.ui.row_commands import RowCommands
from app.ui.server_switch import ServerSwitch
from app.ui.settings_keeper import SettingsKeeper
from app.ui.side_panel import SidePanel
from app.ui.source_menu import SourceMenu
from app.ui.track_choice import TrackChoice
from app.ui.transcript_page import TranscriptPage
from app.ui.window_commands import WindowCommands
from engine.protocol.elsewhere import host_elsewhere
from engine.protocol.events import Event, ModelState, WorkerPhase

_SIZE: Final = (1120, 740)
_SIDE_WIDTH: Final = 300


@dataclass(frozen=True)
class Parts:
    """What the window shows and commands; all of it outlives the window."""

    desk: Desk
    library: Library
    keeper: SettingsKeeper
    shelf: ModelShelf
    gate: QueueGate
    player: Player
    engine: Questions
    live: Live
    audio: AudioSystem
    server: ServerSwitch


class MainWindow(QMainWindow):
    """The one window of the app. It owns no jobs: building it anew loses nothing.

    Signals: `closed` when the person has closed it and the app may end.
    """

    closed = Signal()

    def __init__(self, parts: Parts) -> None:
        super().__init__()
        self.parts = parts
        self._may_close = False
        self.setObjectName("main_window")
        self.setWindowTitle("Jamak")
        self.setWindowIcon(app_icon())
        self.setAcceptDrops(True)
        self._icons = Icons()
        self.background = Background(self)
        self.notices = NoticeBar()
        self.side = SidePanel(parts.desk, parts.library, self.background)
        self.page = TranscriptPage(parts.desk, parts.library, self.background, parts.shelf.name_of)
        self.drop_zone = DropZone()
        self.first_run = FirstRun(parts.shelf, Settings().model)
        self.player_bar = PlayerBar(parts.player)
        self.choices = ChoiceBar(parts.shelf)
        self.actions_ = Actions(self, self.side.list, self._icons)
        self.menus = Menus(self, self.actions_)
        self.sources = SourceMenu(parts.audio, self.background, lambda: parts.keeper.now, self)
        self.recent = RecentMenu(parts.keeper, self)
        self.record_button = RecordButton(self.actions_.record, self.sources)
        self.live_panel = LivePanel(
            self.actions_.pause_recording, self.actions_.record, self.actions_.captions
        )
        self.rows = RowCommands(parts.desk, self.side.list, self.notices)
        self.drop_in = DropIn(parts.desk, self.notices, self.background, lambda: parts.keeper.now.options())
        self.tracks = TrackChoice(parts.engine, self.notices)
        self.end_notice = EndNotice(
            parts.desk,
            TrayMessenger(self),
            is_wanted=lambda: parts.keeper.now.notify_when_done and not self.isActiveWindow(),
            parent=self,
        )
        self._build()
        self.commands = WindowCommands(self)
        self.live_commands = LiveCommands(self)
        self.help_commands = HelpCommands(self)
        self._connect()
        self._stop_observing = parts.desk.observe(self._on_change)
        self._show_state()

    def on_events(self, events: Sequence[Event]) -> None:
        """Take in what the engine told beside what the desk and the shelf take."""
        self.tracks.on_events(events)
        self.help_commands.on_events(events)

    def choose_newest(self) -> None:
        """Show what was added last, where nothing is shown yet."""
        rows = self.parts.desk.rows()
        if rows and self.side.list.current_id is None:
            newest = max(rows, key=lambda row: row.recording.added_at)
            self.side.list.choose(newest.recording.id)

    def show_icon(self, action: QAction, name: str) -> None:
        """Give a command another icon from now on."""
        self._icons.put(action, name)

    def detach(self) -> None:
        """Let go of everything that outlives the window; it may be deleted then."""
        self._stop_observing()
        self.live_commands.detach()
        self.background.close()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take files from anywhere; rows of our own list are the list's affair."""
        if event.mimeData().hasUrls() and not event.mimeData().hasFormat(ROWS_MIME):
            event.setDropAction(Qt.DropAction.CopyAction)
            event.accept()
            self._show_hovered(True)

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        """Keep taking them."""
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        """They were carried away again."""
        super().dragLeaveEvent(event)
        self._show_hovered(False)

    def dropEvent(self, event: QDropEvent) -> None:
        """Put what was dropped into the queue."""
        self._show_hovered(False)
        event.setDropAction(Qt.DropAction.CopyAction)
        event.accept()
        self.drop_in.take_urls(event.mimeData().urls())

    def changeEvent(self, event: QEvent) -> None:
        """Follow the palette."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._icons.redraw()
            self.notices.redraw()
            self.record_button.redraw()
            self.live_panel.redraw()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask once while work is going on; what is done and what waits is kept either way."""
        if (self.parts.desk.num_running or self.parts.live.is_open) and not self._may_close:
            event.ignore()
            self._ask_about_closing()
            return
        self._may_close = True
        self.save_layout()
        event.accept()
        self.closed.emit()

    def has_dialog(self) -> bool:
        """Whether a dialog of this window is open."""
        return any(dialog.isVisible() for dialog in self.findChildren(QDialog))

    def save_layout(self) -> None:
        """Keep size, place and the splitter for the next start."""
        self.parts.keeper.change(
            window_geometry=bytes(self.saveGeometry().toBase64().data()).decode(),
            window_state=bytes(self._splitter.saveState().toBase64().data()).decode(),
        )

    def restore_layout(self) -> None:
        """Take the size, place and splitter that were kept."""
        now = self.parts.keeper.now
        if now.window_geometry:
            self.restoreGeometry(QByteArray.fromBase64(now.window_geometry.encode()))
        if now.window_state:
            self._splitter.restoreState(QByteArray.fromBase64(now.window_state.encode()))

    def _ask_about_closing(self) -> None:
        if self.findChild(QMessageBox, "close_question") is not None:
            return
        box = QMessageBox(self)
        box.setObjectName("close_question")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle("Jamak")
        if self.parts.live.is_recording:
            box.setText(self.tr("A recording is running."))
            box.setInformativeText(
                self.tr(
                    "It is ended and kept. What is not written down yet will be when Jamak is started again."
                )
            )
        else:
            box.setText(self.tr("Files are still being transcribed."))
            box.setInformativeText(
                self.tr("What is there is kept, and the rest goes on by itself when Jamak is started again.")
            )
        leave = box.addButton(self.tr("&Quit"), QMessageBox.ButtonRole.AcceptRole)
        stay = box.addButton(self.tr("&Keep running"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(stay)
        box.setEscapeButton(stay)
        leave.clicked.connect(self.leave)
        box.open()

    def leave(self) -> None:
        """Close without asking: the person has answered, or the system does not wait for answers."""
        self._may_close = True
        self.close()

    def _build(self) -> None:
        self.menus.fill_menu_bar(self.sources, self.recent)
        self.addToolBar(self.menus.tool_bar(self.choices, self.record_button))
        self.side.set_pause_action(self.actions_.pause)
        self.pages = QStackedWidget()
        for page in (self.drop_zone, self.first_run, self.page):
            self.pages.addWidget(page)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.live_panel)
        column.addWidget(self.pages, 1)
        column.addWidget(self.notices)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setObjectName("splitter")
        self._splitter.setHandleWidth(1)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.addWidget(self.side)
        self._splitter.addWidget(centre)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([_SIDE_WIDTH, _SIZE[0] - _SIDE_WIDTH])
        whole = QWidget()
        outer = QVBoxLayout(whole)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self._splitter, 1)
        outer.addWidget(self.player_bar)
        self.setCentralWidget(whole)
        self._overlay = DropOverlay(self)
        self._device = QLabel()
        self._device.setObjectName("device")
        self._device.setAccessibleName(self.tr("Device in use"))
        self._sent_to = QLabel()
        self._sent_to.setObjectName("sent_to")
        self._sent_to.setAccessibleName(self.tr("Where sound is sent to"))
        self.statusBar().addPermanentWidget(self._sent_to)
        self.statusBar().addPermanentWidget(self._device)
        self._show_where_sound_goes()
        room = self.screen().availableGeometry().size()
        self.resize(min(_SIZE[0], room.width() - 20), min(_SIZE[1], room.height() - 60))
        self.restore_layout()

    def _connect(self) -> None:
        parts = self.parts
        self.side.list.chosen.connect(self._on_chosen)
        self.drop_in.added.connect(self._on_added)
        self.background.failed.connect(self.rows.tell)
        self.recent.chosen.connect(self._open_again)
        self.recent.missing.connect(self.rows.tell_missing)
        parts.gate.shifted.connect(self._show_state)
        parts.keeper.changed.connect(self._show_where_sound_goes)
        parts.gate.blocked.connect(self.rows.tell)
        parts.shelf.listed.connect(self._show_state)
        parts.shelf.listed.connect(self.page.show_names)
        parts.shelf.state_changed.connect(self._on_model_state)
        self.page.view.use_player(parts.player)
        self.tracks.failed.connect(self.rows.tell)

    def _on_change(self, change: DeskChange) -> None:
        self.side.list.rows.apply(change)
        self.page.apply(change)
        if change.kind is ChangeKind.SEGMENT:
            self.live_commands.show_text()
            if not self.actions_.export.isEnabled():
                self.commands.refresh()
        self.end_notice.apply(change)
        match change.kind:
            case ChangeKind.TROUBLE | ChangeKind.WARNING if change.failure is not None:
                self.rows.tell(change.failure)
            case ChangeKind.ADDED | ChangeKind.REMOVED | ChangeKind.QUEUE | ChangeKind.ROW | ChangeKind.ORDER:
                self._show_state()
            case _:
                pass

    def _open_again(self, path: str) -> None:
        """Show what there is of a file, or put it into the queue."""
        rows = [row.recording for row in self.parts.desk.rows() if row.recording.path == path]
        if rows:
            self.side.search.clear()
            self.side.list.choose(max(rows, key=lambda recording: recording.id).id)
        else:
            self.drop_in.take([path])

    def _on_added(self, ids: list[int]) -> None:
        rows = [row for one in ids if (row := self.parts.desk.row(one)) is not None]
        self.recent.note(row.recording.path for row in rows)
        self.side.search.clear()
        self.side.list.choose(ids[0])

    def _on_chosen(self, recording_id: int | None) -> None:
        self.page.show_recording(recording_id)
        self.commands.load_player(recording_id)
        self._show_state()

    def _show_state(self) -> None:
        """Show what fits the library, the queue and the models of this moment."""
        rows = self.side.list.rows.rowCount()
        self.pages.setCurrentWidget(self._page_to_show(rows))
        self.side.setVisible(bool(rows))
        self.player_bar.setVisible(self.pages.currentWidget() is self.page and not self.page.is_recording)
        self.side.show_queue(is_held=self.parts.gate.is_held_by_user)
        self.first_run.set_num_waiting(self.parts.desk.num_open)
        self.commands.refresh()

    def _page_to_show(self, num_rows: int) -> QWidget:
        row = self.parts.desk.row(self.page.recording_id) if self.page.recording_id is not None else None
        has_text = row is not None and row.recording.stored_until > 0
        if self.parts.gate.needs_model and not has_text:
            return self.first_run
        return self.page if num_rows and row is not None else self.drop_zone

    def _show_hovered(self, is_hovered: bool) -> None:
        if self.pages.currentWidget() is self.drop_zone and not self.side.isVisible():
            self.drop_zone.set_hovered(is_hovered)
        else:
            self._overlay.cover(is_hovered)

    def _show_where_sound_goes(self) -> None:
        """Say for as long as it is so that what is recorded or added now leaves this computer."""
        host = host_elsewhere(self.parts.keeper.now.model)
        self._sent_to.setText(self.tr("Sound is sent to %1").replace("%1", host) if host else "")
        self._sent_to.setVisible(bool(host))
        self.drop_zone.show_where_sound_goes(host)

    def _on_model_state(self, state: ModelState) -> None:
        match state.phase:
            case WorkerPhase.LOADING:
                name = self.parts.shelf.name_of(state.model)
                self._device.setText(self.tr("Loading %1…").replace("%1", name))
            case WorkerPhase.READY:
                self._device.setText(f"{self.parts.shelf.name_of(state.model)}  ·  {state.device}")
            case WorkerPhase.UNLOADED | WorkerPhase.FAILED:
                self._device.setText("")
