"""PulseAudio's own view of the devices (PipeWire speaks it too): names, monitors, events; Linux only.

PortAudio on Linux shows one device called "pulse"; which source it means is said by PULSE_SOURCE.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import pulsectl
from pulsectl import PulseError

from app.capture.devices import Device, DeviceKind

log = logging.getLogger(__name__)

_DEFAULT_RATE_HZ: Final = 48_000
_RECONNECT_S: Final = 1.0
_LOOK_UP_S: Final = 0.5


class _Connection(pulsectl.Pulse):  # type: ignore[misc] # the package has no types
    """Keeps the rate and channels of sources, which pulsectl points to only while its callback runs."""

    def _pulse_info_cb(self, kind: Any, found: Any, *rest: Any) -> None:
        super()._pulse_info_cb(kind, found, *rest)
        _done, _context, info, is_end, _data = rest
        if not is_end and found and hasattr(info[0], "sample_spec"):
            found[-1].rate_hz = info[0].sample_spec.rate
            found[-1].num_channels = info[0].sample_spec.channels


def is_there() -> bool:
    """Whether a server answers."""
    try:
        with _connected():
            return True
    except PulseError:
        return False


def sources() -> list[Device]:
    """List all sources; empty where no server answers."""
    try:
        with _connected() as pulse:
            server = pulse.server_info()
            monitored = f"{server.default_sink_name}.monitor"
            return [
                _device(source, {server.default_source_name}, monitored) for source in pulse.source_list()
            ]
    except PulseError as error:
        log.debug("no sources: %s", error)
        return []


def streams_of_ours() -> dict[int, str]:
    """Return this process's capture streams: their number, and the source each captures from now.

    Empty where no server answers.
    """
    try:
        with _connected() as pulse:
            names = {source.index: source.name for source in pulse.source_list()}
            return {
                stream.index: names.get(stream.source, "")
                for stream in pulse.source_output_list()
                if stream.proplist.get("application.process.id") == str(os.getpid())
            }
    except PulseError:
        return {}


def watch(on_change: Callable[[], None]) -> Callable[[], None]:
    """Call `on_change` on a thread of its own after every event about sources, streams or the defaults."""
    watcher = _Watcher(on_change)
    watcher.start()
    return watcher.stop


class _Watcher(threading.Thread):
    """Listens to the server; when that goes away, waits for the next one."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        super().__init__(name="pulse-events", daemon=True)
        self._on_change = on_change
        self._is_over = threading.Event()

    def stop(self) -> None:
        self._is_over.set()

    def run(self) -> None:
        while not self._is_over.is_set():
            try:
                with _connected() as pulse:
                    self._on_change()
                    self._listen(pulse)
            except PulseError as error:
                log.debug("the sound server is gone: %s", error)
            self._on_change()
            self._is_over.wait(_RECONNECT_S)

    def _listen(self, pulse: pulsectl.Pulse) -> None:
        num_events = 0

        def note(_event: object) -> None:
            nonlocal num_events
            num_events += 1
            raise pulsectl.PulseLoopStop

        pulse.event_mask_set("source", "source_output", "server", "sink")
        pulse.event_callback_set(note)
        while not self._is_over.is_set():
            # Nothing may be asked of this connection while it listens, so the caller is told outside.
            pulse.event_listen(timeout=_LOOK_UP_S)
            if num_events:
                num_events = 0
                self._on_change()


@contextmanager
def _connected() -> Iterator[_Connection]:
    """Connect for a moment; a connection is cheap, and may not be shared by threads. Raises PulseError."""
    pulse = _Connection("jamak", connect=False)
    try:
        pulse.connect()
        yield pulse
    finally:
        pulse.close()


def _device(source: Any, default_names: set[str], monitored: str) -> Device:
    is_monitor = bool(source.monitor_of_sink_name)
    return Device(
        id=source.name,
        name=source.description or source.name,
        kind=DeviceKind.COMPUTER if is_monitor else DeviceKind.MICROPHONE,
        rate_hz=getattr(source, "rate_hz", _DEFAULT_RATE_HZ),
        num_channels=getattr(source, "num_channels", 1),
        is_default=source.name == monitored if is_monitor else source.name in default_names,
    )
