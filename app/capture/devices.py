"""What can be recorded, what was asked for, and which device that means now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    # The settings name devices, and are read before anything is recorded.
    from app.capture.ring import Samples


class DeviceKind(StrEnum):
    """Where a device's sound comes from."""

    MICROPHONE = "microphone"
    COMPUTER = "computer sound"
    """What the computer plays (a monitor or loopback source)."""


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """A source of sound as the system lists it."""

    id: str
    """The system's own name, stable while the device is plugged in and usually beyond."""
    name: str
    """For people."""
    kind: DeviceKind = DeviceKind.MICROPHONE
    rate_hz: int = 48_000
    """In which it delivers without being resampled."""
    num_channels: int = 1
    is_default: bool = False
    """The system's choice of its kind."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """One thing to record: a device, or whatever the system's default of that kind is."""

    kind: DeviceKind = DeviceKind.MICROPHONE
    device_id: str | None = None


class Stream(Protocol):
    """An open device that calls back with its samples."""

    @property
    def is_active(self) -> bool:
        """False once the system has ended it."""
        ...

    @property
    def num_overflows(self) -> int:
        """How often the system said that it lost samples; not every system says so."""
        ...

    def is_elsewhere(self) -> bool:
        """Whether the system made it capture from another device than the one it was opened on."""
        ...

    def close(self) -> None:
        """End it at once, without waiting for the device."""
        ...


OnBlock = Callable[["Samples"], None]
"""Takes mono samples; called on the system's own audio thread and must not wait."""


class AudioSystem(Protocol):
    """The computer's sound: real (`app.capture.system`), or a fake in tests."""

    def devices(self) -> list[Device]:
        """List what is there now; empty where there is no sound at all."""
        ...

    def open(self, device: Device, on_block: OnBlock) -> Stream:
        """Begin to capture `device` at its own rate. Raises OSError."""
        ...

    def watch(self, on_change: Callable[[], None]) -> Callable[[], None]:
        """Call `on_change`, on any thread, when devices come or go or a default changes.

        The result ends that.
        """
        ...


def choose(wish: Wish, devices: Sequence[Device], *, avoid: Collection[str] = ()) -> Device | None:
    """Return the device that `wish` means now, or the best there is instead of it.

    What is in `avoid` is taken only if there is nothing else. What the computer plays is never
    replaced by a microphone, nor the other way round.
    """
    fitting = [device for device in devices if device.kind is wish.kind]
    return min(
        fitting,
        key=lambda device: (device.id in avoid, device.id != wish.device_id, not device.is_default),
        default=None,
    )
