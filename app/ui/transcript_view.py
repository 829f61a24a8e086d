"""The transcript as the window uses it: rows, search bar, what is followed, copying and correcting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from PySide6.QtCore import QEvent, QPoint, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QUndoStack,
)
from PySide6.QtWidgets import QLabel, QMenu, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from app.library import StoredSegment
from app.player import Player, segment_at
from app.ui.icons import Icons
from app.ui.search_bar import SearchBar
from app.ui.text_search import TextSearch
from app.ui.transcript_list import TranscriptList
from app.ui.transcript_model import TranscriptModel

_KEYS: Final = QKeySequence.StandardKey
_READING_LINE: Final = 0.3
"""Where the row being heard is put, as a share of the height: what comes next is on screen too."""


class TranscriptView(QWidget):
    """Shows one recording's transcript.

    Signals: `seek_requested(float seconds)`: hear it from here; `nudge_requested(float seconds)`: go
    that much forward or back; `play_pause_requested()`; `segment_edited(int segment_id, str text)`:
    store it at once (corrections, undo and redo alike); `zoom_changed(int percent)`.
    """

    seek_requested = Signal(float)
    nudge_requested = Signal(float)
    play_pause_requested = Signal()
    segment_edited = Signal(int, str)
    zoom_changed = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = TranscriptModel(self)
        self._search = TextSearch()
        self._recording_id: int | None = None
        self._is_streaming = False
        self._player: Player | None = None
        self._follows_playback = True
        self.search_bar = SearchBar(self)
        self.list = TranscriptList(self.model, self._search, self)
        self._empty = QLabel(self)
        self._jump = QPushButton(self)
        self._icons = Icons()
        self._build()
        self._connect()
        self.set_empty_text(self.tr("No text yet"))

    @property
    def undo_stack(self) -> QUndoStack:
        """The corrections of this recording, for the window's Undo and Redo."""
        return self.list.undo_stack

    def set_segments(self, segments: Sequence[StoredSegment], *, is_streaming: bool = False) -> None:
        """Show a transcript from its beginning, or from its end when it is still being recognised.

        The corrections of another recording can no longer be undone.
        """
        recording_id = segments[0].recording_id if segments else None
        if recording_id is None or recording_id != self._recording_id:
            self.undo_stack.clear()
        self._recording_id = recording_id
        self._is_streaming = is_streaming
        self._follows_playback = True
        self.list.sticks_to_end = is_streaming
        self.model.set_segments(segments)
        self._search_again()
        self._show_state()

    def append_segment(self, segment: StoredSegment) -> None:
        """Add a segment that has just become final."""
        if self._recording_id is None:
            self._recording_id = segment.recording_id
        self._start_streaming()
        row = self.model.add(segment)
        if row < len(self.model.segments) - 1:
            self._search_again()
        elif self._search.query:
            self._search.row_changed(row, self.model.text(row))
            self._show_count()
        self._show_state()

    def set_tail(self, text: str, confirmed: str = "") -> None:
        """Replace the text that is still being recognised; empty when there is none.

        `confirmed` stands before it: it will not change, but its segment has not ended yet.
        """
        if text.strip() or confirmed.strip():
            self._start_streaming()
        self.model.set_tail(text, confirmed)
        self._show_state()

    def end_streaming(self) -> None:
        """Stop following the end: nothing more will come."""
        self.model.set_tail("")
        self._is_streaming = False
        self.list.sticks_to_end = False
        self._show_state()

    def set_playing(self, seconds: float | None) -> None:
        """Highlight what is heard at `seconds`, None when nothing is; cheap, called at every frame."""
        row = None if seconds is None else segment_at(self.model.starts, seconds)
        if row == self.list.playing_row:
            return
        self.list.set_playing_row(row)
        if row is not None and self._follows_playback and not self.list.is_editing:
            self._show_playing(row)
        self._show_jump()

    def use_player(self, player: Player) -> None:
        """Play, pause and seek with `player`, and highlight what it plays."""
        self.seek_requested.connect(player.play_from)
        self.nudge_requested.connect(player.nudge)
        self.play_pause_requested.connect(player.toggle)
        # Methods, not functions: the player may outlive this view, and forgets only methods by itself.
        self._player = player
        player.loaded_changed.connect(self._on_loaded_changed)
        player.position_changed.connect(self._on_position_changed)

    def _on_loaded_changed(self) -> None:
        self.set_playing(None)

    def _on_position_changed(self, seconds: float) -> None:
        # A recording just opened stands at its beginning, but nobody is listening to that.
        if self._player is not None and (self._player.is_playing or seconds > 0):
            self.set_playing(seconds)

    def set_follows_playback(self, follows: bool) -> None:
        """Keep the row being heard on screen, or leave scrolling to the person."""
        self._follows_playback = follows
        if follows and self.list.playing_row is not None:
            self._show_playing(self.list.playing_row)
        self._show_jump()

    def show_segment(self, segment_id: int) -> None:
        """Make a segment current and bring it into the middle of the screen."""
        row = self.model.row_of(segment_id)
        if row is not None:
            self.list.setCurrentIndex(self.model.index(row))
            self.list.scrollTo(self.model.index(row), TranscriptList.ScrollHint.PositionAtCenter)
            self._show_jump()

    def set_empty_text(self, text: str) -> None:
        """Say this while there is neither a segment nor a tail."""
        self._empty.setText(text)

    def open_search(self) -> None:
        """Show the search bar, ready for typing."""
        self.search_bar.open_bar()

    def find_text(self, query: str) -> None:
        """Show the search bar with `query` and its first match."""
        self.search_bar.field.setText(query)
        self.search_bar.open_bar()

    def find_next(self, by: int = 1) -> None:
        """Go `by` matches forward; opens the search bar when there is nothing to find."""
        if not self.search_bar.query:
            self.open_search()
            return
        self._search.step(by)
        self._show_match()

    def copy(self, *, with_times: bool = False) -> None:
        """Copy the chosen rows to the clipboard, a line each."""
        text = self.list.chosen_text(with_times=with_times)
        if text:
            QGuiApplication.clipboard().setText(text)

    def set_zoom(self, percent: int) -> None:
        """Show the text at `percent` of the font's size."""
        self.list.set_zoom(percent)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Take the keys that no shortcut of a window around has taken."""
        if event.matches(_KEYS.Find):
            self.open_search()
        elif event.key() == Qt.Key.Key_F3:
            self.find_next(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        elif event.matches(_KEYS.Copy):
            self.copy()
        elif event.matches(_KEYS.Undo):
            self.undo_stack.undo()
        elif event.matches(_KEYS.Redo) or QKeySequence(event.keyCombination()) in _REDO:
            self.undo_stack.redo()
        elif event.key() == Qt.Key.Key_Escape:
            self.search_bar.close_bar()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.list.chosen_rows():
            self.context_menu().popup(event.globalPos())

    def context_menu(self) -> QMenu:
        """Return the menu of what can be done with the chosen rows."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        row = self.list.chosen_rows()[0]
        play = menu.addAction(self.tr("Play from here"), lambda: self.list.play_from_row(row))
        edit = menu.addAction(self.tr("Correct the text"), lambda: self.list.edit_row(row))
        menu.addSeparator()
        menu.addAction(self.tr("Copy"), self.copy)
        menu.addAction(self.tr("Copy with times"), lambda: self.copy(with_times=True))
        menu.addAction(self.tr("Select all"), self.list.selectAll)
        for action in (play, edit):
            action.setEnabled(not self.model.is_tail(row))
        return menu

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_jump()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._icons.redraw()

    def _build(self) -> None:
        self.setObjectName("transcript_view")
        self._empty.setObjectName("transcript_empty")
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        self._empty.setForegroundRole(self._empty.palette().ColorRole.PlaceholderText)
        self._empty.setBackgroundRole(self._empty.palette().ColorRole.Base)
        self._empty.setAutoFillBackground(True)
        self._empty.setMargin(24)
        self._jump.setObjectName("jump_button")
        self._jump.setCursor(Qt.CursorShape.PointingHandCursor)
        self._icons.put(self._jump, "down")
        self._jump.hide()
        body = QWidget(self)
        self._pages = QStackedLayout(body)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self.list)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.search_bar)
        column.addWidget(body, 1)

    def _connect(self) -> None:
        self.list.seek_requested.connect(self._on_seek_requested)
        self.list.nudge_requested.connect(self.nudge_requested)
        self.list.play_pause_requested.connect(self.play_pause_requested)
        self.list.zoom_changed.connect(self.zoom_changed)
        self.list.scrolled_by_hand.connect(self._on_scrolled_by_hand)
        self.list.verticalScrollBar().valueChanged.connect(self._show_jump)
        self.model.corrected.connect(self._on_corrected)
        self.search_bar.query_changed.connect(self._on_query_changed)
        self.search_bar.step_requested.connect(self.find_next)
        self.search_bar.closed.connect(self._on_search_closed)
        self._jump.clicked.connect(self._on_jump)

    def _start_streaming(self) -> None:
        if not self._is_streaming:
            self._is_streaming = True
            self.list.sticks_to_end = self.list.is_at_end

    def _show_state(self) -> None:
        has_rows = self.model.rowCount() > 0
        self._pages.setCurrentIndex(1 if has_rows else 0)
        # A proxy that cannot be seen cannot take the focus either, and Tab would never get past it.
        self.setFocusProxy(self.list if has_rows else None)  # type: ignore[arg-type]
        self._show_jump()

    def _show_playing(self, row: int) -> None:
        if not self.list.is_row_visible(row):
            self.list.put_row(row, round(self.list.viewport().height() * _READING_LINE))

    def _show_jump(self) -> None:
        playing = self.list.playing_row
        if playing is not None and not self._follows_playback and not self.list.is_row_visible(playing):
            self._jump.setText(self.tr("Jump to playing"))
        elif self._is_streaming and not self.list.sticks_to_end and playing is None:
            self._jump.setText(self.tr("Jump to newest"))
        else:
            self._jump.hide()
            return
        self._jump.setAccessibleName(self._jump.text())
        self._jump.adjustSize()
        self._place_jump()
        self._jump.show()
        self._jump.raise_()

    def _place_jump(self) -> None:
        area = self.list.mapTo(self, QPoint(0, 0))
        left = area.x() + (self.list.viewport().width() - self._jump.width()) // 2
        self._jump.move(left, area.y() + self.list.height() - self._jump.height() - 16)

    def _on_jump(self) -> None:
        if self.list.playing_row is not None and not self._follows_playback:
            self.set_follows_playback(True)
        else:
            self.list.stick_to_end()
            self._show_jump()
        self.list.setFocus()

    def _on_scrolled_by_hand(self) -> None:
        self._follows_playback = False
        self.list.sticks_to_end = self._is_streaming and self.list.is_at_end
        self._show_jump()

    def _on_seek_requested(self, seconds: float) -> None:
        self._follows_playback = True
        self.seek_requested.emit(seconds)

    def _on_corrected(self, segment_id: int, text: str) -> None:
        row = self.model.row_of(segment_id)
        if row is not None:
            if self._search.query:
                self._search.row_changed(row, self.model.text(row))
                self._show_count()
            if not self.list.is_editing:
                self.list.setCurrentIndex(self.model.index(row))
        self.segment_edited.emit(segment_id, text)

    def _on_query_changed(self, query: str) -> None:
        from_row = self.list.row_at(0) or 0
        current = self._search.current
        if current is not None:
            from_row = current.row
        self._search.start(query, self.model.texts(), from_row=from_row)
        self._show_match()

    def _search_again(self) -> None:
        if self._search.query:
            self._search.start(self._search.query, self.model.texts())
            self._show_count()

    def _on_search_closed(self) -> None:
        self._search.start("", [])
        self.list.viewport().update()
        self.list.setFocus()

    def _show_match(self) -> None:
        match = self._search.current
        if match is not None:
            self._follows_playback = False
            index = self.model.index(match.row)
            self.list.setCurrentIndex(index)
            if not self.list.is_row_visible(match.row):
                self.list.scrollTo(index, TranscriptList.ScrollHint.PositionAtCenter)
        self._show_count()
        self._show_jump()

    def _show_count(self) -> None:
        self.search_bar.show_count(self._search.position, len(self._search.matches))
        self.list.viewport().update()


_REDO: Final = tuple(QKeySequence(keys) for keys in ("Ctrl+Y", "Ctrl+Shift+Z"))
