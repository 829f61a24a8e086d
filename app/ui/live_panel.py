"""The slim bar above the transcript while something is recorded: time, level, backlog, device, buttons."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QFont, QKeySequence, QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from app.live_changes import CaptionPhase, LivePhase, LiveState
from app.ui.clock import clock_text
from app.ui.level_meter import LevelMeter
from app.ui.record_button import dot
from app.ui.wording import plain

BACKLOG_FROM_S: Final = 2.0


class LivePanel(QFrame):
    """Shows a `LiveState`; its buttons are the window's actions `pause`, `stop` and `captions`."""

    def __init__(self, pause: QAction, stop: QAction, captions: QAction) -> None:
        super().__init__()
        self.setObjectName("live_panel")
        self.setAccessibleName(self.tr("Recording"))
        self._dot = QLabel()
        self._phase: LivePhase | None = None
        self.elapsed = _label("live_elapsed", self.tr("Recorded time"))
        self.meter = LevelMeter()
        self.status = _label("live_status", self.tr("State of the captions"))
        self.status.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.device = _label("live_device", self.tr("Device being recorded"))
        self.device.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.device.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.device.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        font = QFont(self.elapsed.font())
        # Digits of one width: the numbers must not tremble while they run.
        font.setFeature(QFont.Tag("tnum"), 1)
        font.setBold(True)
        self.elapsed.setFont(font)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 6, 8, 6)
        row.setSpacing(10)
        for widget in (self._dot, self.elapsed, self.meter, self.status):
            row.addWidget(widget)
        row.addWidget(self.device, 1)
        row.addWidget(_button(captions))
        self._while_recording: list[QWidget] = [self.meter, _button(pause), _button(stop)]
        for button in self._while_recording[1:]:
            row.addWidget(button)
        self.hide()

    def show_state(self, state: LiveState | None) -> None:
        """Show what changes seldom; None when nothing is recorded."""
        self.setVisible(state is not None)
        if state is None:
            self._phase = None
            return
        if state.phase is not self._phase:
            self._phase = state.phase
            self.redraw()
        for widget in self._while_recording:
            widget.setVisible(state.phase is not LivePhase.FINISHING)
        self.show_meter(state)

    def show_meter(self, state: LiveState) -> None:
        """Show what changes often; called ten times a second. A label is drawn only when its text changes."""
        self.meter.show_level(state.level)
        _put(self.elapsed, clock_text(state.elapsed_s))
        _put(self.status, self._status(state))
        names = ", ".join(state.devices) if state.phase is not LivePhase.FINISHING else ""
        if names != self.device.toolTip():
            self.device.setToolTip(names)
            self._show_device()

    def redraw(self) -> None:
        """Follow the palette."""
        is_running = self._phase in (LivePhase.OPENING, LivePhase.RECORDING)
        self._dot.setPixmap(dot(12, self.devicePixelRatioF(), is_filled=is_running))

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self._show_device()

    def _status(self, state: LiveState) -> str:
        doing = self._doing(state)
        if not state.lost_s:
            return doing
        lost = self.tr("%1 s of sound lost").replace("%1", f"{max(state.lost_s, 0.1):.1f}")
        return f"{doing} · {lost}" if doing else lost

    def _doing(self, state: LiveState) -> str:
        is_behind = state.backlog_s > BACKLOG_FROM_S
        behind = self.tr("%1 s behind").replace("%1", str(round(state.backlog_s))) if is_behind else ""
        match state.phase:
            case LivePhase.OPENING:
                return self.tr("Opening the microphone…")
            case LivePhase.FINISHING:
                writing = self.tr("Writing down the last words…")
                return f"{writing} {behind}".rstrip()
            case LivePhase.PAUSED:
                return self.tr("Paused")
            case LivePhase.RECORDING | LivePhase.ENDED:
                pass
        match state.captions:
            case CaptionPhase.WAITING:
                return self.tr("Recording; the captions follow as soon as the model is loaded")
            case CaptionPhase.LOST:
                return self.tr("Recording without captions")
            case CaptionPhase.LISTENING | CaptionPhase.DONE:
                return behind

    def _show_device(self) -> None:
        metrics = self.device.fontMetrics()
        names = self.device.toolTip()
        elided = metrics.elidedText(names, Qt.TextElideMode.ElideMiddle, self.device.width())
        self.device.setText(elided)


def _put(label: QLabel, text: str) -> None:
    if label.text() != text:
        label.setText(text)


def _label(name: str, spoken: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setAccessibleDescription(spoken)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def _button(action: QAction) -> QToolButton:
    button = QToolButton()
    button.setObjectName(action.objectName().replace("action_", "live_"))
    button.setDefaultAction(action)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setAutoRaise(True)

    def name() -> None:
        text = plain(action.text())
        keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        button.setAccessibleName(text)
        button.setToolTip(f"{text} ({keys})" if keys else text)

    action.changed.connect(name)
    name()
    return button
