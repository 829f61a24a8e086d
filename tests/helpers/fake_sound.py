"""Sound without a sound card: devices that a test plugs, breaks and speaks into, and a clock it moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.capture.devices import Device, DeviceKind, OnBlock
from app.capture.ring import Samples

MIC = Device(id="mic", name="Built-in Microphone", rate_hz=16_000, is_default=True)
HEADSET = Device(id="headset", name="Headset", rate_hz=48_000)
SPEAKERS = Device(
    id="speakers.monitor", name="Speakers", kind=DeviceKind.COMPUTER, rate_hz=16_000, is_default=True
)


class FakeClock:
    """Seconds that pass when the test says so."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


class FakeStream:
    """An open device. `speak` is the audio thread's callback."""

    def __init__(self, device: Device, on_block: OnBlock) -> None:
        self.device = device
        self.speak = on_block
        self.is_active = True
        self.is_moved = False
        self.is_closed = False
        self.num_overflows = 0

    def is_elsewhere(self) -> bool:
        return self.is_moved

    def close(self) -> None:
        self.is_closed = True


class FakeAudio:
    """An `AudioSystem`: what is in `there` can be opened, unless it is in `broken`."""

    def __init__(self, *devices: Device) -> None:
        self.there = list(devices)
        self.broken: set[str] = set()
        self.streams: list[FakeStream] = []
        self._watchers: list[Callable[[], None]] = []

    def devices(self) -> list[Device]:
        return list(self.there)

    def open(self, device: Device, on_block: OnBlock) -> FakeStream:
        if device.id in self.broken or device not in self.there:
            raise OSError(f"{device.id} cannot be opened")
        self.streams.append(FakeStream(device, on_block))
        return self.streams[-1]

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        self._watchers.append(on_change)
        return lambda: self._watchers.remove(on_change)

    def plug(self, *devices: Device) -> None:
        """Have exactly these devices from now on, and tell it."""
        self.there = list(devices)
        for on_change in tuple(self._watchers):
            on_change()

    @property
    def open_streams(self) -> list[FakeStream]:
        return [stream for stream in self.streams if not stream.is_closed]

    @property
    def stream(self) -> FakeStream:
        """The one stream that is open."""
        (stream,) = self.open_streams
        return stream


def numbered(num: int, first: int = 1) -> Samples:
    """Return samples that can be told apart, exact in 16 bit: first, first + 1, … 32768ths."""
    return (np.arange(first, first + num) / 32_768.0).astype(np.float32)
