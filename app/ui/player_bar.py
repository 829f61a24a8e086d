"""The player's controls at the bottom of the window."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QLocale, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QSlider, QStyle, QToolButton, QWidget

from app.player import RATES, Player
from app.ui.clock import clock_text
from app.ui.icons import icon

_MS: Final = 1000
_SECOND_MS: Final = 1000
_PAGE_MS: Final = 10_000
_HOUR_S: Final = 3600.0


class SeekSlider(QSlider):
    """A slider that goes where it is clicked, and is dragged on from there.

    Signals: `seek_requested(int ms)`.
    """

    seek_requested = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setSingleStep(_SECOND_MS)
        self.setPageStep(_PAGE_MS)
        self.actionTriggered.connect(lambda _action: self.seek_requested.emit(self.sliderPosition()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            event.ignore()
            return
        self.setSliderDown(True)
        self._go_to(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self._go_to(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if self.isSliderDown():
            self._go_to(event)
            self.setSliderDown(False)

    def _go_to(self, event: QMouseEvent) -> None:
        handle = self.style().pixelMetric(QStyle.PixelMetric.PM_SliderLength, None, self)
        x = round(event.position().x()) - handle // 2
        is_mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        value = QStyle.sliderValueFromPosition(
            self.minimum(), self.maximum(), x, max(1, self.width() - handle), is_mirrored
        )
        self.setSliderPosition(value)
        self.seek_requested.emit(value)


class PlayerBar(QWidget):
    """Play/pause, place, duration and speed of a `Player`; asleep while nothing is loaded."""

    def __init__(self, player: Player, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._player = player
        self.play_button = QToolButton(self)
        self.slider = SeekSlider(self)
        self.position = QLabel(self)
        self.duration = QLabel(self)
        self.speed = QComboBox(self)
        self._build()
        self._connect()
        self._on_loaded_changed(player.is_loaded)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            self._player.toggle()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._player.nudge(1.0 if event.key() == Qt.Key.Key_Right else -1.0)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._show_playing(self._player.is_playing)

    def _build(self) -> None:
        self.setObjectName("player_bar")
        self.setAccessibleName(self.tr("Player"))
        self.play_button.setObjectName("play_button")
        self.play_button.setAutoRaise(True)
        self.slider.setObjectName("seek_slider")
        self.slider.setAccessibleName(self.tr("Place in the recording"))
        self.speed.setObjectName("speed_combo")
        self.speed.setAccessibleName(self.tr("Speed"))
        self.speed.setToolTip(self.tr("Speed"))
        for rate in RATES:
            self.speed.addItem(f"{QLocale().toString(rate, 'g', 3)}×", rate)
        self.speed.setCurrentIndex(RATES.index(min(RATES, key=lambda rate: abs(rate - self._player.rate))))
        for label, name in ((self.position, "position_label"), (self.duration, "duration_label")):
            font = QFont(label.font())
            # Digits of one width: the numbers must not tremble while they run.
            font.setFeature(QFont.Tag("tnum"), 1)
            label.setFont(font)
            label.setObjectName(name)
        self.position.setAlignment(Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 10, 6)
        row.setSpacing(10)
        row.addWidget(self.play_button)
        row.addWidget(self.position)
        row.addWidget(self.slider, 1)
        row.addWidget(self.duration)
        row.addWidget(self.speed)

    def _connect(self) -> None:
        player = self._player
        self.play_button.clicked.connect(player.toggle)
        self.slider.seek_requested.connect(lambda ms: player.seek(ms / _MS))
        self.speed.activated.connect(lambda index: player.set_rate(self.speed.itemData(index)))
        player.position_changed.connect(self._on_position_changed)
        player.duration_changed.connect(self._on_duration_changed)
        player.playing_changed.connect(self._show_playing)
        player.loaded_changed.connect(self._on_loaded_changed)
        player.rate_changed.connect(self._on_rate_changed)

    def _on_loaded_changed(self, is_loaded: bool) -> None:
        for widget in (self.play_button, self.slider, self.position, self.duration, self.speed):
            widget.setEnabled(is_loaded)
        self._on_duration_changed(self._player.duration if is_loaded else 0.0)
        self._on_position_changed(self._player.position if is_loaded else 0.0)
        self._show_playing(self._player.is_playing)

    def _on_duration_changed(self, duration: float) -> None:
        self.slider.setRange(0, round(duration * _MS))
        self.duration.setText(clock_text(duration))
        widest = self.fontMetrics().horizontalAdvance("0:00:00" if duration >= _HOUR_S else "00:00")
        self.position.setMinimumWidth(widest)
        self.duration.setMinimumWidth(widest)
        self._on_position_changed(self._player.position)

    def _on_position_changed(self, position: float) -> None:
        text = clock_text(position, with_hours=self._player.duration >= _HOUR_S)
        if text != self.position.text():
            self.position.setText(text)
            self.slider.setAccessibleDescription(text)
        if not self.slider.isSliderDown():
            with QSignalBlocker(self.slider):
                self.slider.setValue(round(position * _MS))

    def _on_rate_changed(self, rate: float) -> None:
        self.speed.setCurrentIndex(self.speed.findData(rate))

    def _show_playing(self, is_playing: bool) -> None:
        name = self.tr("Pause") if is_playing else self.tr("Play")
        self.play_button.setIcon(icon("pause" if is_playing else "play"))
        self.play_button.setAccessibleName(name)
        self.play_button.setToolTip(self.tr("{name} (Space)").format(name=name))
