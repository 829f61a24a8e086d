"""Recording through PortAudio and a sound server: every sample, whatever is plugged, stalled or killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.capture.devices import DeviceKind, Wish
from app.capture.mending import mend
from app.capture.notices import MarkKind, NoticeKind
from app.capture.recorder import Recorder
from app.capture.recording_file import RecordingReader
from app.capture.system import SystemAudio
from engine.recording import num_samples_of
from tests.helpers.virtual_sound import VirtualSound, place_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs PulseAudio"),
]

RATE_HZ = 16_000


@pytest.fixture(scope="module")
def sound() -> Iterator[VirtualSound]:
    sound = VirtualSound()
    yield sound
    sound.close()


@pytest.fixture
def record(sound: VirtualSound, tmp_path: Path) -> Iterator[Callable[..., Recorder]]:
    """Begin recordings that end with the test."""
    recorders: list[Recorder] = []

    def begin(*wishes: Wish) -> Recorder:
        path = tmp_path / f"{len(recorders)}.wav"
        recorder = Recorder(SystemAudio(), wishes or (Wish(),), path)
        recorders.append(recorder)
        recorder.start()
        wait_until(lambda: recorder.num_samples > 0)
        return recorder

    yield begin
    for recorder in recorders:
        recorder.stop()
        recorder.wait(10.0)


def wait_until(is_so: Callable[[], bool], timeout_s: float = 15.0) -> None:
    end_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end_s, "it never happened"
        time.sleep(0.02)


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    """Noise that is recognised anywhere."""
    return (np.random.default_rng(seed).standard_normal(round(RATE_HZ * seconds)) * 3_000).astype(np.int16)


def murmur(seconds: float, seed: int = 0) -> np.ndarray:
    """Noise as deep as a voice: hardly changed by a shift of less than a sample."""
    deep = np.convolve(noise(seconds, seed), np.hanning(32) / 6.0, mode="same")
    return deep.astype(np.int16)


def ended(recorder: Recorder) -> np.ndarray:
    recorder.stop()
    assert recorder.wait(10.0)
    assert recorder.failure is None
    return RecordingReader(recorder.path).read(0, 10**8)


def grown(recorder: Recorder, seconds: float) -> None:
    """Wait until so much more is recorded."""
    wanted = recorder.elapsed_s + seconds
    wait_until(lambda: recorder.elapsed_s >= wanted)


def test_what_is_recorded_is_what_was_played_bit_for_bit(
    sound: VirtualSound, record: Callable[..., Recorder]
) -> None:
    recorder = record()
    said = noise(5.0)
    sound.say(said)
    grown(recorder, 0.5)
    heard = ended(recorder)
    place = place_of(said, heard)
    assert recorder.rate_hz == RATE_HZ
    assert np.array_equal(heard[place : place + len(said)], said)
    assert recorder.take_marks() == []
    assert recorder.take_notices() == []
    assert np.array_equal(soundfile.read(recorder.path, dtype="int16")[0], heard)


def test_the_system_lists_microphones_and_what_the_computer_plays(sound: VirtualSound) -> None:
    devices = {device.id: device for device in SystemAudio().devices()}
    assert devices["mic"].kind is DeviceKind.MICROPHONE
    assert devices["mic"].is_default
    assert devices["mic"].rate_hz == RATE_HZ
    assert devices["mic"].name == "mic-for-tests"
    assert devices["speakers.monitor"].kind is DeviceKind.COMPUTER
    assert devices["speakers.monitor"].is_default
    assert devices["speakers.monitor"].rate_hz == 48_000


def test_what_the_computer_plays_is_recorded_at_its_own_rate(
    sound: VirtualSound, record: Callable[..., Recorder]
) -> None:
    recorder = record(Wish(kind=DeviceKind.COMPUTER))
    said = noise(2.0)
    sound.say(said, "speakers", rate_hz=48_000)
    grown(recorder, 0.5)
    heard = ended(recorder)
    place = place_of(said, heard)
    assert recorder.rate_hz == 48_000
    assert np.corrcoef(heard[place : place + len(said)], said)[0, 1] > 0.99


def test_microphone_and_computer_are_recorded_together(
    sound: VirtualSound, record: Callable[..., Recorder]
) -> None:
    recorder = record(Wish(), Wish(kind=DeviceKind.COMPUTER))
    spoken, played = murmur(3.0, seed=1), murmur(3.0, seed=2)
    player = threading.Thread(target=sound.say, args=(played, "speakers"))
    player.start()
    sound.say(spoken)
    player.join()
    grown(recorder, 0.5)
    heard = ended(recorder).astype(np.float64)
    for said in (spoken, played):
        # A short piece: the second source is stretched a little to keep in step.
        middle = said[16_000:20_000]
        place = place_of(middle, heard)
        assert np.corrcoef(heard[place : place + len(middle)], middle)[0, 1] > 0.6


def test_a_microphone_plugged_in_and_out_costs_a_marked_gap_and_nothing_else(
    sound: VirtualSound, record: Callable[..., Recorder]
) -> None:
    sound.plug("usb")
    recorder = record(Wish(device_id="usb"))
    before, meanwhile, after = noise(1.5, seed=1), noise(1.5, seed=2), noise(1.5, seed=3)
    sound.say(before, "usbpipe")
    sound.unplug("usb")
    wait_until(lambda: [device.id for device in recorder.devices] == ["mic"])
    grown(recorder, 0.3)
    sound.say(meanwhile)
    sound.plug("usb")
    wait_until(lambda: [device.id for device in recorder.devices] == ["usb"])
    grown(recorder, 0.3)
    sound.say(after, "usbpipe")
    grown(recorder, 0.5)
    heard = ended(recorder)
    places = []
    for said in (before, meanwhile, after):
        places.append(place_of(said, heard))
        assert np.array_equal(heard[places[-1] : places[-1] + len(said)], said)
    assert places == sorted(places)
    assert [notice.kind for notice in recorder.take_notices()] == [
        NoticeKind.REPLACED,
        NoticeKind.RETURNED,
    ]
    marks = recorder.take_marks()
    assert marks
    assert {mark.kind for mark in marks} == {MarkKind.GAP}
    assert all(mark.end - mark.start < 2.5 for mark in marks)
    sound.unplug("usb")


def test_a_microphone_that_stalls_is_left_for_one_that_works(
    sound: VirtualSound, record: Callable[..., Recorder]
) -> None:
    pipe = sound.pipe("hanging")
    # Opened to read as well, so that the pipe never ends.
    descriptor = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    is_over = threading.Event()

    def breathe() -> None:
        while not is_over.wait(0.02):
            os.write(descriptor, b"\1\0" * 320)

    breather = threading.Thread(target=breathe)
    breather.start()
    recorder = record(Wish(device_id="hanging"))
    grown(recorder, 1.0)
    is_over.set()
    breather.join()
    wait_until(lambda: [device.id for device in recorder.devices] == ["mic"])
    grown(recorder, 0.5)
    said = noise(1.0)
    sound.say(said)
    grown(recorder, 0.5)
    heard = ended(recorder)
    os.close(descriptor)
    sound.unplug("hanging")
    place = place_of(said, heard)
    assert np.array_equal(heard[place : place + len(said)], said)
    assert [notice.kind for notice in recorder.take_notices()] == [NoticeKind.REPLACED]
    assert any(mark.kind is MarkKind.GAP for mark in recorder.take_marks())


def test_a_killed_recording_is_whole_up_to_its_last_second(sound: VirtualSound, tmp_path: Path) -> None:
    path = tmp_path / "killed.wav"
    program = subprocess.Popen(
        [sys.executable, "-m", "tests.helpers.record_program", str(path)], stdout=subprocess.PIPE, text=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "recording\n"
    said = noise(2.0)
    began_s = time.monotonic()
    sound.say(said)
    time.sleep(0.5)  # what was said last is on its way through the sound server
    num_before = num_samples_of(path)
    lasted_s = time.monotonic() - began_s
    program.send_signal(signal.SIGKILL)
    program.wait(10)
    heard, rate_hz = soundfile.read(path, dtype="int16")
    place = place_of(said, heard)
    assert rate_hz == RATE_HZ
    assert len(heard) >= num_before - RATE_HZ // 5
    assert len(heard) / rate_hz > lasted_s - 1.0
    assert np.array_equal(heard[place : place + len(said)], said)
    assert mend(path) >= len(heard)
