"""Opens and closes the caption window, and feeds it what is said."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.library import Library
from app.settings import Settings
from app.ui.caption_window import CaptionWindow
from app.ui.live import Live
from app.ui.settings_keeper import SettingsKeeper

_NUM_EARLIER: int = 6
"""Segments that are shown when the window is opened in the middle of a recording."""


class Captions(QObject):
    """The caption window, made when it is first wanted.

    Signals: `shown(bool)` when it appears or goes; `settings_requested`.
    """

    shown = Signal(bool)
    settings_requested = Signal()

    def __init__(self, live: Live, library: Library, keeper: SettingsKeeper, parent: QObject) -> None:
        super().__init__(parent)
        self._live = live
        self._library = library
        self._keeper = keeper
        self.window: CaptionWindow | None = None
        live.began.connect(self._on_began)
        live.confirmed.connect(self._on_confirmed)
        live.text_changed.connect(self._on_text)
        keeper.changed.connect(self._on_settings)

    @property
    def is_shown(self) -> bool:
        """Whether the window is on screen."""
        return self.window is not None and self.window.isVisible()

    def show(self) -> None:
        """Show the window with what was said last."""
        if self.window is None:
            self.window = self._made()
        if not self.is_shown:
            self.window.show_captions()
            self.shown.emit(True)

    def hide(self) -> None:
        """Put it away; what is said meanwhile is there when it comes back."""
        if self.window is not None and self.window.isVisible():
            self.window.close()

    def close(self) -> None:
        """Let go of the window for good."""
        for signal, slot in (
            (self._live.began, self._on_began),
            (self._live.confirmed, self._on_confirmed),
            (self._live.text_changed, self._on_text),
            (self._keeper.changed, self._on_settings),
        ):
            signal.disconnect(slot)
        if self.window is not None:
            self.window.hide()
            self.window.deleteLater()
            self.window = None

    def _made(self) -> CaptionWindow:
        now = self._keeper.now
        window = CaptionWindow(now.captions, dict(now.caption_places))
        window.closed.connect(lambda: self.shown.emit(False))
        window.settings_requested.connect(self.settings_requested)
        window.style_changed.connect(lambda style: self._keeper.change(captions=style))
        window.places_changed.connect(lambda places: self._keeper.change(caption_places=places))
        window.view.set_placeholder(self.tr("Captions appear here while Jamak records."))
        state = self._live.state
        if state is not None and state.recording_id is not None:
            earlier = self._library.segments(state.recording_id)[-_NUM_EARLIER:]
            window.view.add("".join(segment.text for segment in earlier) + self._live.unfinished)
            window.view.set_tail(self._live.tail)
        return window

    def _on_began(self) -> None:
        if self.window is not None:
            self.window.view.begin()
        if self._keeper.now.captions_with_recording:
            self.show()

    def _on_confirmed(self, delta: str) -> None:
        if self.window is not None:
            self.window.view.add(delta)

    def _on_text(self) -> None:
        if self.window is not None:
            self.window.view.set_tail(self._live.tail)

    def _on_settings(self, before: Settings, now: Settings) -> None:
        if self.window is not None and now.captions != before.captions:
            self.window.set_style(now.captions)
