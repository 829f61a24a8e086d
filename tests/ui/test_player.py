"""Playing a recording, with Qt's own player; a sound device is not needed."""

from __future__ import annotations

import array
import math
import wave
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from app.capture.recording_file import RecordingWriter
from app.player import Player, segment_at
from app.ui.player_bar import PlayerBar

_RATE_HZ = 8000
_LENGTH_S = 3


@pytest.fixture(scope="module")
def tone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "tone.wav"
    samples = array.array("h", (round(3000 * math.sin(n / 5)) for n in range(_LENGTH_S * _RATE_HZ)))
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(_RATE_HZ)
        file.writeframes(samples.tobytes())
    return path


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    """A recording of ours in three files of a second each."""
    path = tmp_path / "회의.wav"
    writer = RecordingWriter(path, _RATE_HZ, max_part_samples=_RATE_HZ)
    writer.append((3000 * np.sin(np.arange(_LENGTH_S * _RATE_HZ) / 5)).astype(np.int16))
    writer.close()
    assert len(list(tmp_path.iterdir())) == _LENGTH_S
    return path


@pytest.fixture
def player(qtbot: QtBot) -> Player:
    return Player()


def _load(player: Player, tone: Path, qtbot: QtBot) -> None:
    with qtbot.wait_signal(player.duration_changed):
        player.load(tone)


@given(st.lists(st.floats(0, 100), max_size=20).map(sorted), st.floats(-1, 101))
def test_the_segment_heard_is_the_last_begun(starts: list[float], seconds: float) -> None:
    index = segment_at(starts, seconds)
    begun = [at for at, start in enumerate(starts) if start <= seconds]
    assert index == (begun[-1] if begun else None)


def test_a_recording_plays_and_tells_where_it_is(player: Player, tone: Path, qtbot: QtBot) -> None:
    _load(player, tone, qtbot)
    assert player.duration == pytest.approx(_LENGTH_S, abs=0.05)
    told: list[float] = []
    player.position_changed.connect(told.append)
    player.play_from(1.0)
    qtbot.wait_until(lambda: bool(told) and told[-1] > 1.3)
    player.pause()
    qtbot.wait_until(lambda: not player.is_playing)
    assert told[:-1] == sorted(told[:-1])
    assert told[0] == 1.0


def test_a_seek_before_the_file_is_open_is_not_lost(player: Player, tone: Path, qtbot: QtBot) -> None:
    player.load(tone)
    player.play_from(2.0)
    qtbot.wait_until(lambda: player.position > 2.1)


def test_seeking_stays_within_the_recording(player: Player, tone: Path, qtbot: QtBot) -> None:
    _load(player, tone, qtbot)
    player.nudge(-5)
    assert player.position == 0.0
    player.nudge(99)
    assert player.position == pytest.approx(player.duration)


def test_at_the_end_it_stops_and_plays_again_from_the_beginning(
    player: Player, tone: Path, qtbot: QtBot
) -> None:
    _load(player, tone, qtbot)
    player.play_from(_LENGTH_S - 0.2)
    qtbot.wait_until(lambda: player.is_playing)
    qtbot.wait_until(lambda: not player.is_playing)
    player.play()
    qtbot.wait_until(lambda: player.is_playing and player.position < 1.0)


def test_the_files_of_a_long_recording_are_one_stretch_of_time(
    player: Player, parts: Path, qtbot: QtBot
) -> None:
    _load(player, parts, qtbot)
    assert player.duration == pytest.approx(_LENGTH_S)
    told: list[float] = []
    playing: list[bool] = []
    player.position_changed.connect(told.append)
    player.playing_changed.connect(playing.append)
    player.play_from(0.7)
    qtbot.wait_until(lambda: bool(told) and told[-1] > 2.2, timeout=15_000)
    assert told == sorted(told)
    assert playing == [True]
    qtbot.wait_until(lambda: not player.is_playing, timeout=15_000)
    assert player.position == pytest.approx(_LENGTH_S, abs=0.1)
    player.play()
    qtbot.wait_until(lambda: player.is_playing and player.position < 0.9, timeout=15_000)


def test_a_seek_finds_the_file_it_is_in(player: Player, parts: Path, qtbot: QtBot) -> None:
    _load(player, parts, qtbot)
    player.seek(2.5)
    assert player.position == 2.5
    player.seek(0.25)
    player.seek(1.5)
    assert player.position == 1.5
    player.play()
    qtbot.wait_until(lambda: player.position > 1.7, timeout=15_000)
    player.pause()
    qtbot.wait_until(lambda: not player.is_playing)
    place = player.position
    assert 1.5 < place < 2.0
    player.seek(0.1)
    assert not player.is_playing


def test_the_speed_stays_within_half_and_double(player: Player) -> None:
    player.set_rate(9)
    assert player.rate == 2.0
    player.set_rate(0.1)
    assert player.rate == 0.5


def test_a_file_that_is_gone_is_said_by_name(player: Player, tmp_path: Path, qtbot: QtBot) -> None:
    with qtbot.wait_signal(player.failed) as told:
        player.load(tmp_path / "gone.mp3")
    assert told.args == ["“gone.mp3” is not there any more, so it cannot be played."]
    assert not player.is_loaded
    player.play()
    assert not player.is_playing


def test_a_file_without_sound_is_said_by_name(player: Player, tmp_path: Path, qtbot: QtBot) -> None:
    path = tmp_path / "notes.mp3"
    path.write_bytes(b"not music at all" * 100)
    with qtbot.wait_signal(player.failed) as told:
        player.load(path)
    assert told.args == ["“notes.mp3” cannot be played here. Its text can still be read and corrected."]


def test_the_bar_sleeps_until_something_is_loaded(player: Player, tone: Path, qtbot: QtBot) -> None:
    bar = PlayerBar(player)
    qtbot.addWidget(bar)
    assert not bar.play_button.isEnabled()
    _load(player, tone, qtbot)
    assert bar.play_button.isEnabled()
    assert bar.duration.text() == "0:03"
    player.load(None)
    assert not bar.slider.isEnabled()


def test_the_bars_button_plays_and_pauses(player: Player, tone: Path, qtbot: QtBot) -> None:
    bar = PlayerBar(player)
    qtbot.addWidget(bar)
    _load(player, tone, qtbot)
    button = bar.findChild(QToolButton, "play_button")
    assert button.accessibleName() == "Play"
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.wait_until(lambda: player.is_playing)
    assert button.accessibleName() == "Pause"
    qtbot.keyClick(bar, Qt.Key.Key_Space)
    qtbot.wait_until(lambda: not player.is_playing)


def test_a_click_on_the_slider_goes_there(player: Player, tone: Path, qtbot: QtBot) -> None:
    bar = PlayerBar(player)
    qtbot.addWidget(bar)
    bar.resize(600, 40)
    with qtbot.wait_exposed(bar):
        bar.show()
    _load(player, tone, qtbot)
    qtbot.mouseClick(bar.slider, Qt.MouseButton.LeftButton, pos=bar.slider.rect().center())
    assert player.position == pytest.approx(_LENGTH_S / 2, abs=0.1)
    assert bar.position.text() == "0:01"
    qtbot.keyClick(bar.slider, Qt.Key.Key_Right)
    assert player.position == pytest.approx(_LENGTH_S / 2 + 1, abs=0.1)


def test_the_bar_shows_and_sets_the_speed(player: Player, qtbot: QtBot) -> None:
    bar = PlayerBar(player)
    qtbot.addWidget(bar)
    assert bar.speed.currentText() == "1×"
    player.set_rate(1.5)
    assert bar.speed.currentText() == "1.5×"
    bar.speed.activated.emit(bar.speed.findData(2.0))
    assert player.rate == 2.0
