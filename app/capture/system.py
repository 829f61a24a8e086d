"""The computer's real sound: PortAudio's streams, with PulseAudio's list of devices where there is one."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import numpy as np

from app.capture.devices import Device, DeviceKind, OnBlock, Stream
from app.capture.ring import Samples

log = logging.getLogger(__name__)

_LATENCY_S: Final = 0.1
_BLOCK_SAMPLES: Final = 512
"""With this latency nothing is lost while three busy threads share the process; "low" lost 2 %."""
_POLL_S: Final = 2.0
_MAX_CHANNELS: Final = 8
_PULSE: Final = "pulse"
_LOOPBACKS: Final = ("stereo mix", "loopback", "blackhole", "cable output", "what u hear", "monitor of")
"""How devices are called that give back what the computer plays, where the system does not say so."""


class SystemAudio:
    """`AudioSystem` by PortAudio. May be used from any thread; PortAudio is loaded at the first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        """PortAudio is not thread-safe, and PULSE_SOURCE belongs to the whole process."""
        self._num_open = 0

    def devices(self) -> list[Device]:
        """List what can be recorded now."""
        if (pulse := _pulse()) is not None and (found := pulse.sources()):
            return list(found)
        with self._lock:
            return _portaudio_devices(self._fresh_sounddevice())

    def open(self, device: Device, on_block: OnBlock) -> Stream:
        """Begin to capture `device`, mono, at its own rate. Raises OSError."""
        pulse = _pulse()
        is_source = pulse is not None and any(source.id == device.id for source in pulse.sources())
        with self._lock:
            sounddevice = self._fresh_sounddevice()
            try:
                stream = _PulseStream(pulse, self._release) if is_source else _PlainStream(self._release)
                stream.open(sounddevice, device, on_block)
            except (sounddevice.PortAudioError, ValueError) as error:
                raise OSError(str(error)) from error
            self._num_open += 1
        return stream

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Tell changes: by PulseAudio's events, else by looking every two seconds."""
        pulse = _pulse()
        if pulse is not None and pulse.is_there():
            return pulse.watch(on_change)  # type: ignore[no-any-return]
        poller = _Poller(self.devices, on_change)
        poller.start()
        return poller.stop

    def _fresh_sounddevice(self) -> Any:
        """Load PortAudio. It lists devices once; while nothing is open it can be made to look again."""
        sounddevice = _sounddevice()
        if self._num_open == 0:
            sounddevice._terminate()
            sounddevice._initialize()
        return sounddevice

    def _release(self) -> None:
        with self._lock:
            self._num_open -= 1


class _PlainStream:
    """A PortAudio stream that gives mono blocks."""

    def __init__(self, on_close: Callable[[], None]) -> None:
        self._on_close = on_close
        self._stream: Any = None

    @property
    def is_active(self) -> bool:
        return bool(self._stream.active)

    def is_elsewhere(self) -> bool:
        return False

    def open(self, sounddevice: Any, device: Device, on_block: OnBlock) -> None:
        num_channels = min(device.num_channels, _MAX_CHANNELS)
        indexes = {name: index for index, name in reversed(_inputs(sounddevice))}
        if device.id not in indexes:
            raise ValueError(f"{device.name} is not there")
        self._start(sounddevice, indexes[device.id], device.rate_hz, num_channels, on_block)

    def close(self) -> None:
        stream, self._stream = self._stream, _Closed()
        if not isinstance(stream, _Closed):
            # `stop` waits for the device, for ever if that has stalled.
            stream.abort(ignore_errors=True)
            stream.close(ignore_errors=True)
            self._on_close()

    def _start(
        self, sounddevice: Any, device: str | int, rate_hz: int, num_channels: int, on_block: OnBlock
    ) -> None:
        def on_audio(frames: Samples, _num: int, _time: object, _status: object) -> None:
            on_block(frames[:, 0] if num_channels == 1 else frames.mean(axis=1, dtype=np.float32))

        stream = sounddevice.InputStream(
            device=device,
            samplerate=rate_hz,
            channels=num_channels,
            dtype="float32",
            latency=_LATENCY_S,
            blocksize=_BLOCK_SAMPLES,
            callback=on_audio,
        )
        try:
            stream.start()
        except BaseException:
            stream.close(ignore_errors=True)
            raise
        self._stream = stream


class _PulseStream(_PlainStream):
    """A PortAudio stream on a PulseAudio source; knows when the server has moved it to another one."""

    def __init__(self, pulse: Any, on_close: Callable[[], None]) -> None:
        super().__init__(on_close)
        self._pulse = pulse
        self._source = ""
        self._number: int | None = None

    def is_elsewhere(self) -> bool:
        if self._number is None:
            return False
        place = self._pulse.streams_of_ours().get(self._number)
        return place is not None and place != self._source

    def open(self, sounddevice: Any, device: Device, on_block: OnBlock) -> None:
        before = self._pulse.streams_of_ours()
        with _environment("PULSE_SOURCE", device.id):
            # One channel: the server mixes down by itself, and leaves a microphone's samples as they are.
            self._start(sounddevice, _PULSE, device.rate_hz, 1, on_block)
        ours = [number for number in self._pulse.streams_of_ours() if number not in before]
        self._source = device.id
        self._number = ours[0] if len(ours) == 1 else None


class _Closed:
    """What is left of a stream that was closed."""

    active = False


class _Poller(threading.Thread):
    """Compares the list of devices every two seconds."""

    def __init__(self, devices: Callable[[], list[Device]], on_change: Callable[[], None]) -> None:
        super().__init__(name="device-poll", daemon=True)
        self._devices = devices
        self._on_change = on_change
        self._is_over = threading.Event()

    def stop(self) -> None:
        self._is_over.set()

    def run(self) -> None:
        before = self._devices()
        while not self._is_over.wait(_POLL_S):
            now = self._devices()
            if now != before:
                before = now
                self._on_change()


def _inputs(sounddevice: Any) -> list[tuple[int, str]]:
    """Return number and name of the inputs; the other host APIs list the same ones once more."""
    listed = list(sounddevice.query_devices())
    host = sounddevice.query_hostapis(sounddevice.default.hostapi)
    return [(i, listed[i]["name"]) for i in host["devices"] if listed[i]["max_input_channels"] > 0]


def _portaudio_devices(sounddevice: Any) -> list[Device]:
    try:
        host = sounddevice.query_hostapis(sounddevice.default.hostapi)
        defaults = {sounddevice.default.device[0], host["default_input_device"]}
        return [
            _device(name, sounddevice.query_devices(index), index in defaults)
            for index, name in _inputs(sounddevice)
        ]
    except (sounddevice.PortAudioError, ValueError) as error:
        log.debug("no devices: %s", error)
        return []


def _device(name: str, listed: Any, is_default: bool) -> Device:
    is_loopback = any(word in name.lower() for word in _LOOPBACKS)
    return Device(
        id=name,
        name=name,
        kind=DeviceKind.COMPUTER if is_loopback else DeviceKind.MICROPHONE,
        rate_hz=int(listed["default_samplerate"]),
        num_channels=int(listed["max_input_channels"]),
        is_default=is_default,
    )


@functools.cache
def _pulse() -> Any:
    """Return `app.capture.pulse` where it can be used."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        from app.capture import pulse
    except (ImportError, OSError) as error:
        log.info("devices are listed without PulseAudio: %s", error)
        return None
    return pulse


@functools.cache
def _sounddevice() -> Any:
    """Load PortAudio. Raises OSError where its library is missing."""
    _silence_alsa()
    import sounddevice

    return sounddevice


_ALSA_HANDLER: Final = ctypes.CFUNCTYPE(None)(lambda: None)


def _silence_alsa() -> None:
    """ALSA's library writes what it tries in vain to stderr, in the middle of captions."""
    with suppress(OSError, AttributeError):
        if sys.platform.startswith("linux"):
            ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_ALSA_HANDLER)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
