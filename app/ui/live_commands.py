"""What recording means for the window: its buttons, the row that grows, the captions, and what is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, SignalInstance

from app.capture.notices import Notice, NoticeKind
from app.live_changes import LivePhase, LiveState
from app.settings import Settings
from app.texts import failure_line, tr
from app.ui.caption_settings import CaptionSettingsDialog
from app.ui.captions import Captions
from app.ui.compositor import can_stay_above
from app.ui.live import wishes_of
from app.ui.notices import Choice
from app.ui.notices import NoticeKind as Urgency

if TYPE_CHECKING:
    from app.ui.main_window import MainWindow

_NOTICE: Final = "live"
_CAPTIONS: Final = "live_captions"
_FOLDER: Final = "live_folder"
_PASSING_S: Final = 8.0
_GOOD: Final = frozenset(
    {NoticeKind.RETURNED, NoticeKind.RESUMED, NoticeKind.DISK_FREE, NoticeKind.CAPTIONS_BACK}
)
# What stands beside the others; of the rest the newest is shown.
_ABOUT: Final = {
    NoticeKind.CAPTIONS_LOST: _CAPTIONS,
    NoticeKind.CAPTIONS_BACK: _CAPTIONS,
    NoticeKind.FOLDER_REFUSED: _FOLDER,
}


class LiveCommands(QObject):
    """Connects the live session with the parts of one `MainWindow`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._live = window.parts.live
        self._keeper = window.parts.keeper
        self._has_told_limits = False
        self._chosen: int | None = None
        """The recording whose row was chosen when it began: a person may look elsewhere afterwards."""
        self.captions = Captions(self._live, window.parts.library, self._keeper, self)
        self._connect()
        self._on_shifted()
        self.show_text()

    def detach(self) -> None:
        """Let go of the session, which outlives the window."""
        for signal, slot in self._connections():
            signal.disconnect(slot)
        self._keeper.changed.disconnect(self._on_settings)
        self.captions.close()

    def _connect(self) -> None:
        do, window = self._window.actions_, self._window
        for signal, slot in self._connections():
            signal.connect(slot)
        self._keeper.changed.connect(self._on_settings)
        do.record.triggered.connect(self._toggle)
        do.pause_recording.triggered.connect(self._live.toggle_pause)
        do.captions.triggered.connect(self._toggle_captions)
        do.caption_settings.triggered.connect(self._open_settings)
        self.captions.shown.connect(do.captions.setChecked)
        self.captions.shown.connect(lambda is_shown: self.tell_limits(is_shown and not can_stay_above()))
        self.captions.settings_requested.connect(self._open_settings)
        window.sources.chosen.connect(lambda fields: self._keeper.change(**fields))

    def _connections(self) -> tuple[tuple[SignalInstance, Callable[..., None]], ...]:
        live = self._live
        return (
            (live.shifted, self._on_shifted),
            (live.metered, self._on_metered),
            (live.text_changed, self.show_text),
            (live.noticed, self._on_noticed),
            (live.warned, self._window.rows.tell),
            (live.ended, self._on_ended),
        )

    def _toggle(self) -> None:
        if self._live.is_recording:
            self._live.stop()
        else:
            self._window.notices.withdraw(_NOTICE)
            self._window.notices.withdraw(_FOLDER)
            self._live.begin(wishes_of(self._keeper.now))

    def tell_limits(self, has_limits: bool) -> None:
        """Say, once in a run, what this desktop does not let the caption window do."""
        if has_limits and not self._has_told_limits:
            self._has_told_limits = True
            self._window.notices.tell(
                self.tr(
                    "This desktop (Wayland) lets no window put itself above the others or remember its "
                    "place. Choose “Always on top” in the caption window's own menu (Alt+Space), or start "
                    "Jamak with QT_QPA_PLATFORM=xcb."
                ),
                key="caption_limits",
            )

    def _toggle_captions(self, is_wanted: bool) -> None:
        if is_wanted:
            self.captions.show()
        else:
            self.captions.hide()

    def _open_settings(self) -> None:
        if self._window.findChild(CaptionSettingsDialog) is None:
            dialog = CaptionSettingsDialog(self._keeper, self._window)
            dialog.finished.connect(dialog.deleteLater)
            dialog.open()

    def show_text(self) -> None:
        """Show what is in no segment yet, if the recording is the one on the page."""
        state = self._live.state
        if state is not None and state.recording_id is not None:
            self._window.page.show_live_text(state.recording_id, self._live.unfinished, self._live.tail)

    def _on_shifted(self) -> None:
        do, state = self._window.actions_, self._live.state
        is_recording = self._live.is_recording
        is_paused = state is not None and state.phase is LivePhase.PAUSED
        self._window.record_button.show_recording(is_recording)
        self._window.live_panel.show_state(state)
        text = self.tr("&Go on recording") if is_paused else self.tr("&Pause recording")
        do.pause_recording.setText(text)
        do.pause_recording.setIconText(self.tr("Go on") if is_paused else self.tr("Pause"))
        do.pause_recording.setEnabled(is_recording)
        self._window.show_icon(do.pause_recording, "play" if is_paused else "pause")
        if state is not None and state.recording_id is not None and state.recording_id != self._chosen:
            self._chosen = state.recording_id
            self._window.side.search.clear()
            self._window.side.list.choose(self._chosen)

    def _on_metered(self) -> None:
        if (state := self._live.state) is not None:
            self._window.live_panel.show_meter(state)

    def _on_settings(self, before: Settings, now: Settings) -> None:
        if now.language != before.language:
            self._live.set_language(now.language)

    def _on_noticed(self, notice: Notice) -> None:
        key = f"live_{notice.kind.value}"
        sentence = tr(key, device=notice.device, folder=notice.folder)
        is_good = notice.kind in _GOOD
        choices: tuple[Choice, ...] = ()
        if notice.kind is NoticeKind.CAPTIONS_LOST:
            state = self._live.state
            if state is not None and state.failure is not None:
                sentence = f"{sentence} {failure_line(state.failure)}"
            choices = (Choice(self.tr("Try again"), self._live.retry_captions),)
        self._window.notices.tell(
            sentence,
            *choices,
            kind=Urgency.INFO if is_good else Urgency.WARNING,
            key=_ABOUT.get(notice.kind, _NOTICE),
            lasts_s=_PASSING_S if is_good else None,
        )

    def _on_ended(self, state: LiveState) -> None:
        self._window.notices.withdraw(_CAPTIONS)
        if state.failure is not None and not state.elapsed_s:
            self._window.rows.tell(state.failure)
        if state.recording_id is not None and state.recording_id == self._window.page.recording_id:
            self._window.commands.load_player(state.recording_id)
        self._window.commands.refresh()
