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
from typing import TYPE_CHECKING, Any, Final

from app.capture.devices import Device, DeviceKind, OnBlock, Stream

if TYPE_CHECKING:
    # Devices are listed by many who never record.
    from app.capture.ring import Samples

log = logging.getLogger(__name__)

_LATENCY_S: Final = 0.1
_BLOCK_S: Final = 0.05
"""So nothing is lost while three busy threads share the process ("low" lost 2 %), and little is spent."""
_POLL_S: Final = 2.0
_MAX_CHANNELS: Final = 8
_PULSE: Final = "pulse"
_LOOPBACKS: Final = ("stereo mix", "loopback", "blackhole", "cable output", "what u hear", "monitor of")
"""How devices are called that give back what the computer plays, where the system does not say so."""


class SystemAudio:
    """`AudioSystem` by PortAudio. May be used from any thread; PortAudio is loaded at the first use."""

    def devices(self) -> list[Device]:
        """List what can be recorded now."""
        if (pulse := _pulse()) is not None and (found := pulse.sources()):
            return list(found)
        with _port_audio().in_use() as sounddevice:
            return _portaudio_devices(sounddevice)

    def open(self, device: Device, on_block: OnBlock) -> Stream:
        """Begin to capture `device`, mono, at its own rate. Raises OSError."""
        pulse = _pulse()
        is_source = pulse is not None and any(source.id == device.id for source in pulse.sources())
        stream = _PulseStream(pulse) if is_source else _PlainStream()
        stream.open(device, on_block)
        return stream

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Tell changes: by PulseAudio's events, else by looking every two seconds."""
        pulse = _pulse()
        if pulse is not None and pulse.is_there():
            return pulse.watch(on_change)  # type: ignore[no-any-return]
        poller = _Poller(self.devices, on_change)
        poller.start()
        return poller.stop


class _PortAudio:
    """The library: one for the whole process, not thread-safe, and it lists devices only when it starts.

    PULSE_SOURCE belongs to the whole process, too, and is covered by the same lock.
    """

    def __init__(self) -> None:
        _silence_alsa()
        import sounddevice

        self._sounddevice: Any = sounddevice
        self._lock = threading.Lock()
        self._num_open = 0

    @contextmanager
    def in_use(self) -> Iterator[Any]:
        """Have the library for oneself, with a list of devices as new as open streams allow."""
        with self._lock:
            if self._num_open == 0:
                self._sounddevice._terminate()
                self._sounddevice._initialize()
            yield self._sounddevice

    @contextmanager
    def opening(self) -> Iterator[Any]:
        """Open one stream. Raises OSError."""
        with self.in_use() as sounddevice:
            try:
                yield sounddevice
            except (sounddevice.PortAudioError, ValueError) as error:
                raise OSError(str(error)) from error
            self._num_open += 1

    @contextmanager
    def closing(self) -> Iterator[None]:
        """Close one stream."""
        with self._lock:
            yield
            self._num_open -= 1


class _PlainStream:
    """A PortAudio stream that gives mono blocks."""

    def __init__(self) -> None:
        self._stream: Any = None
        self.num_overflows = 0

    @property
    def is_active(self) -> bool:
        return bool(self._stream.active)

    def is_elsewhere(self) -> bool:
        return False

    def open(self, device: Device, on_block: OnBlock) -> None:
        num_channels = min(device.num_channels, _MAX_CHANNELS)
        with _port_audio().opening() as sounddevice:
            indexes = {name: index for index, name in reversed(_inputs(sounddevice))}
            if device.id not in indexes:
                raise ValueError(f"{device.name} is not there")
            self._start(sounddevice, indexes[device.id], device.rate_hz, num_channels, on_block)

    def close(self) -> None:
        stream, self._stream = self._stream, _Closed()
        if not isinstance(stream, _Closed):
            with _port_audio().closing():
                # `stop` waits for the device, for ever if that has stalled.
                stream.abort(ignore_errors=True)
                stream.close(ignore_errors=True)

    def _start(
        self, sounddevice: Any, device: str | int, rate_hz: int, num_channels: int, on_block: OnBlock
    ) -> None:
        def on_audio(frames: Samples, _num: int, _time: object, status: Any) -> None:
            if status.input_overflow:
                self.num_overflows += 1
            on_block(frames[:, 0] if num_channels == 1 else frames.mean(axis=1, dtype="float32"))

        stream = sounddevice.InputStream(
            device=device,
            samplerate=rate_hz,
            channels=num_channels,
            dtype="float32",
            latency=_LATENCY_S,
            blocksize=round(_BLOCK_S * rate_hz),
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

    def __init__(self, pulse: Any) -> None:
        super().__init__()
        self._pulse = pulse
        self._source = ""
        self._number: int | None = None

    def is_elsewhere(self) -> bool:
        if self._number is None:
            return False
        place = self._pulse.streams_of_ours().get(self._number)
        return place is not None and place != self._source

    def open(self, device: Device, on_block: OnBlock) -> None:
        with _port_audio().opening() as sounddevice:
            before = self._pulse.streams_of_ours()
            with _environment("PULSE_SOURCE", device.id):
                # One channel: the server mixes down by itself, and leaves a microphone's samples alone.
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
def _port_audio() -> _PortAudio:
    """Load PortAudio. Raises OSError where its library is missing."""
    return _PortAudio()


@functools.cache
def _pulse() -> Any:
    """Return `app.capture.pulse` where it can be used: PortAudio must have a way to the server, too."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        from app.capture import pulse

        with _port_audio().in_use() as sounddevice:
            names = [listed["name"] for listed in sounddevice.query_devices()]
    except (ImportError, OSError) as error:
        log.info("devices are listed without PulseAudio: %s", error)
        return None
    # No names at all: there is no server yet, which says nothing about the way to it.
    return pulse if _PULSE in names or not names else None


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
