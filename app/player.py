"""Plays a recording: where it is, how fast, which segment is heard; loads Qt's player when needed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QElapsedTimer, QObject, QTimer, QUrl, Signal

from app.timeline import Timeline, timeline_of

if TYPE_CHECKING:
    from PySide6.QtMultimedia import QAudioOutput, QMediaPlayer

RATES: Final = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0)
"""Playback speeds offered; pitch is kept."""

_FRAME_MS: Final = 33
_MAX_LEAD_S: Final = 0.5
"""The backend tells the position about ten times a second; more than this ahead of it is a stall."""
_SEEK_MS: Final = 500
_SEEK_ERROR_S: Final = 0.5
"""For so long after a seek, places so far from it that the backend tells are those before it."""
_UNEVEN_S: Final = 0.2
_END_S: Final = 0.05


def segment_at(starts: Sequence[float], seconds: float) -> int | None:
    """Return the index of the segment last begun at `seconds`, None before the first.

    `starts` ascends. A silence belongs to the segment before it, so that the eye keeps its place.
    """
    index = bisect_right(starts, seconds) - 1
    return index if index >= 0 else None


class Player(QObject):
    """One recording at a time. All times are seconds.

    Signals: `position_changed(float)`, about 30 times a second while playing; `duration_changed(float)`;
    `playing_changed(bool)`; `loaded_changed(bool)`: whether there is something to play;
    `rate_changed(float)`; `failed(str sentence)`.
    """

    position_changed = Signal(float)
    duration_changed = Signal(float)
    playing_changed = Signal(bool)
    loaded_changed = Signal(bool)
    rate_changed = Signal(float)
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._media: QMediaPlayer | None = None
        self._output: QAudioOutput | None = None
        self._path: Path | None = None
        self._timeline = Timeline(parts=())
        self._part = 0
        """Which file of the timeline is open."""
        self._is_changing = False
        """One file is being put away for another: what its player tells meanwhile means nothing."""
        self._rate = 1.0
        self._told_s = 0.0
        self._shown_s = 0.0
        self._seek_s: float | None = None
        self._is_ready = False
        self._since_seek = QElapsedTimer()
        self._since_told = QElapsedTimer()
        self._frames = QTimer(self)
        self._frames.setInterval(_FRAME_MS)
        self._frames.timeout.connect(self._tell_position)

    @property
    def path(self) -> Path | None:
        """What is loaded."""
        return self._path

    @property
    def is_loaded(self) -> bool:
        """Whether there is something to play."""
        return self._path is not None

    @property
    def is_playing(self) -> bool:
        """Whether sound is running."""
        return self._frames.isActive()

    @property
    def rate(self) -> float:
        """The speed, 1.0 as recorded."""
        return self._rate

    @property
    def duration(self) -> float:
        """How long the recording is; 0 until known."""
        if self._timeline.length_s is not None:
            return self._timeline.length_s
        return self._media.duration() / 1000 if self._media is not None else 0.0

    @property
    def position(self) -> float:
        """Where it is, between two words of the backend by its own clock."""
        if self._seek_s is not None:
            return self._seek_s
        if not self.is_playing:
            return self._told_s
        lead = min(self._since_told.elapsed() / 1000 * self._rate, _MAX_LEAD_S)
        place = min(self._told_s + lead, self._part_end_s or self._told_s + lead)
        # The backend's clock is a little uneven: what it corrects by a hair must not be seen going back.
        return self._shown_s if 0 < self._shown_s - place < _UNEVEN_S else place

    def load(self, path: Path | str | None) -> None:
        """Get a recording ready, at its beginning and not playing; None puts the last one away."""
        self._path = Path(path) if path else None
        self._timeline = timeline_of(self._path) if self._path else Timeline(parts=())
        self._told_s, self._shown_s, self._seek_s, self._is_ready, self._part = 0.0, 0.0, None, False, 0
        if self._media is not None or self._path is not None:
            media = self._backend()
            media.stop()
            media.setSource(QUrl.fromLocalFile(str(self._path)) if self._path else QUrl())
        self.loaded_changed.emit(self.is_loaded)
        self.position_changed.emit(0.0)

    def play(self) -> None:
        """Play on, from the beginning when it has ended."""
        if self._path is None:
            return
        if self.duration and self.position >= self.duration - _END_S:
            self.seek(0.0)
        self._backend().play()

    def pause(self) -> None:
        """Stop where it is."""
        if self._media is not None:
            self._media.pause()

    def toggle(self) -> None:
        """Play or pause, whichever it does not."""
        if self.is_playing:
            self.pause()
        else:
            self.play()

    def seek(self, seconds: float) -> None:
        """Go to `seconds`, within the recording."""
        if self._media is None or self._path is None:
            return
        seconds = max(0.0, min(seconds, self.duration or seconds))
        # What was asked for is shown at once; a file that is still being opened goes there when it is.
        self._seek_s = self._shown_s = seconds
        self._since_seek.start()
        if self._timeline.at(seconds) != self._part:
            self._change_file(seconds)
        elif self._is_ready:
            self._go_to(seconds)
        self.position_changed.emit(seconds)

    def nudge(self, seconds: float) -> None:
        """Go that much forward, or back when negative."""
        self.seek(self.position + seconds)

    def play_from(self, seconds: float) -> None:
        """Be heard from `seconds` on."""
        self.seek(seconds)
        self.play()

    def set_rate(self, rate: float) -> None:
        """Play at `rate`, 0.5 to 2.0, without changing the pitch."""
        rate = max(RATES[0], min(rate, RATES[-1]))
        if rate == self._rate:
            return
        self._told_s, self._rate = self.position, rate
        self._since_told.start()
        if self._media is not None:
            self._media.setPlaybackRate(rate)
        self.rate_changed.emit(rate)

    def _backend(self) -> QMediaPlayer:
        if self._media is not None:
            return self._media
        # Loading Qt's media libraries takes a quarter of a second that the window's start can do without.
        from PySide6.QtMultimedia import QAudioOutput, QMediaDevices, QMediaPlayer

        media = QMediaPlayer(self)
        # Without a device an output only complains; the clock runs and the text is followed all the same.
        if not QMediaDevices.defaultAudioOutput().isNull():
            self._output = QAudioOutput(self)
            media.setAudioOutput(self._output)
        if media.pitchCompensationAvailability() == QMediaPlayer.PitchCompensationAvailability.Available:
            media.setPitchCompensation(True)
        media.setPlaybackRate(self._rate)
        media.positionChanged.connect(self._on_position)
        media.durationChanged.connect(lambda: self.duration_changed.emit(self.duration))
        media.mediaStatusChanged.connect(self._on_status)
        media.playbackStateChanged.connect(self._on_state)
        media.errorOccurred.connect(self._on_error)
        self._media = media
        return media

    def _change_file(self, seconds: float) -> None:
        """Open the file that is heard at `seconds` and go on there as in the one before."""
        assert self._media is not None
        was_playing = self.is_playing
        self._told_s = self._seek_s = self._shown_s = seconds
        self._part = self._timeline.at(seconds)
        self._is_ready, self._is_changing = False, True
        self._media.setSource(QUrl.fromLocalFile(str(self._timeline.parts[self._part])))
        self._is_changing = False
        if was_playing:
            self._media.play()

    def _go_to(self, seconds: float) -> None:
        assert self._media is not None
        self._media.setPosition(round((seconds - self._timeline.starts[self._part]) * 1000))

    @property
    def _part_end_s(self) -> float:
        return self._timeline.starts[self._part + 1] if self._has_next else self.duration

    @property
    def _has_next(self) -> bool:
        return self._part + 1 < len(self._timeline.parts)

    def _play_on(self) -> None:
        """The open file has come to its end: open the next one, as soon as the backend has told all."""
        if not self._is_changing:
            self._is_changing = True
            QTimer.singleShot(0, self, self._open_next)

    def _open_next(self) -> None:
        self._is_changing = False
        if self._has_next and self.is_playing:
            self._since_seek.start()
            self._change_file(self._timeline.starts[self._part + 1])

    def _on_status(self) -> None:
        from PySide6.QtMultimedia import QMediaPlayer

        assert self._media is not None
        if self._is_ready or self._path is None:
            return
        if self._media.mediaStatus() not in (
            QMediaPlayer.MediaStatus.LoadedMedia,
            QMediaPlayer.MediaStatus.BufferedMedia,
        ):
            return
        if not self._media.hasAudio():
            self._on_error()
            return
        self._is_ready = True
        # Pictures would be decoded for nobody.
        self._media.setActiveVideoTrack(-1)
        if self._seek_s is not None:
            self._go_to(self._seek_s)

    def _on_position(self, position_ms: int) -> None:
        if self._is_changing:
            return
        told_s = self._timeline.starts[self._part] + position_ms / 1000
        if self._seek_s is not None:
            is_old = abs(told_s - self._seek_s) > _SEEK_ERROR_S and self._since_seek.elapsed() < _SEEK_MS
            if is_old or not self._is_ready:
                return
        self._told_s, self._seek_s = told_s, None
        self._since_told.start()
        if not self.is_playing:
            self.position_changed.emit(self._told_s)

    def _on_state(self) -> None:
        from PySide6.QtMultimedia import QMediaPlayer

        assert self._media is not None
        state = self._media.playbackState()
        is_playing = state == QMediaPlayer.PlaybackState.PlayingState
        if is_playing == self.is_playing or self._is_changing:
            return
        if state == QMediaPlayer.PlaybackState.StoppedState and self._has_next and self._is_ready:
            self._play_on()
            return
        self._since_told.start()
        if is_playing:
            self._frames.start()
        else:
            self._frames.stop()
        self.playing_changed.emit(is_playing)
        self._tell_position()

    def _tell_position(self) -> None:
        self._shown_s = self.position
        self.position_changed.emit(self._shown_s)
        # Nobody hears the end where there is no device, so the backend never comes to it.
        if self._output is None and self.is_playing and self._has_told_all():
            if self._has_next:
                self._play_on()
            else:
                self.pause()

    def _has_told_all(self) -> bool:
        """Whether the place told last is the end of the open file."""
        assert self._media is not None
        length_s = self._media.duration() / 1000
        start_s = self._timeline.starts[self._part] if self._timeline.parts else 0.0
        return self._is_ready and self._told_s - start_s >= length_s > 0

    def _on_error(self) -> None:
        if self._path is None:
            return
        name = self._path.name
        if not self._path.exists():
            sentence = self.tr("“{name}” is not there any more, so it cannot be played.")
        else:
            sentence = self.tr("“{name}” cannot be played here. Its text can still be read and corrected.")
        self._path = None
        self.loaded_changed.emit(False)
        self.failed.emit(sentence.format(name=name))
