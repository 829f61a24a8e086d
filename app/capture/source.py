"""Keeps one thing being recorded: opens its device, notices what goes wrong, and finds the next best."""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable
from typing import Final

from app.capture.devices import AudioSystem, Device, Stream, Wish, choose
from app.capture.notices import Notice, NoticeKind
from app.capture.ring import Ring, Samples
from app.capture.watchdog import (
    LONG_WINDOW_S,
    LOSS_WINDOW_S,
    STALL_S,
    Verdict,
    Vitals,
    judge,
    num_missing,
)

log = logging.getLogger(__name__)

RING_S: Final = 60
RETRY_S: Final = 0.5
AVOID_S: Final = 10.0
"""How long a device that failed is taken only if there is no other; twice as long after each failure."""
MAX_AVOID_S: Final = 640.0
SLEEP_S: Final = 5.0
"""Who was kept from looking for so long was asleep, or as good as that."""


class Intake:
    """What one open stream delivers, from the audio thread to the writer."""

    def __init__(self, device: Device, clock: Callable[[], float]) -> None:
        self.device = device
        self.ring = Ring(RING_S * device.rate_hz)
        self.opened_s = clock()
        self.first_block_s: float | None = None
        """When the first sample was heard."""
        self.last_block_s: float | None = None
        """When the last sample was heard."""
        self.num_samples = 0
        self.num_missing = 0
        """Samples known to be missing at the end; set before `is_over`."""
        self.is_over = False
        """Nothing more will come."""
        self._clock = clock

    def on_block(self, samples: Samples) -> None:
        """Take in what the device heard; the audio thread, so no more than this."""
        now_s = self._clock()
        if self.first_block_s is None:
            self.first_block_s = now_s - len(samples) / self.device.rate_hz
        self.ring.write(samples)
        self.num_samples += len(samples)
        self.last_block_s = now_s


class Source:
    """One wish come true, as far as the devices allow. All methods belong to one thread.

    The writer takes samples from `intakes`, oldest first, and drops those that are over and empty.
    """

    def __init__(
        self, wish: Wish, audio: AudioSystem, *, clock: Callable[[], float], tell: Callable[[Notice], None]
    ) -> None:
        self.intakes: deque[Intake] = deque()
        self._wish = wish
        self._audio = audio
        self._clock = clock
        self._tell = tell
        self._stream: Stream | None = None
        self._intake: Intake | None = None
        self._last: Device | None = None
        self._avoid: dict[str, float] = {}
        self._num_failures: Counter[str] = Counter()
        self._retry_s = float("-inf")
        self._check = self._long_check = (0.0, 0)
        self._num_overflows = 0
        """Of the stream when it was checked last."""
        self._tended_s = clock()
        self._is_announced = False
        self._is_silent = False

    @property
    def device(self) -> Device | None:
        """What is being recorded now."""
        return self._intake.device if self._intake else None

    def tend(self, devices: list[Device] | None = None) -> None:
        """Look after the stream: a few times a second, and with the new list when devices have changed."""
        now_s = self._clock()
        # Who was kept from looking (a busy or sleeping computer) must not blame the device.
        late_s = now_s - self._tended_s
        self._tended_s = now_s
        if devices is not None:
            self._forgive(devices)
        if late_s > STALL_S / 2 and self._intake is not None:
            if self._intake.last_block_s is not None:
                self._check = (now_s, self._intake.num_samples)
                self._long_check = self._check if late_s > SLEEP_S else self._long_check
        elif self._stream is not None:
            self._examine(self._stream, now_s, asks_place=devices is not None)
        if self._stream is not None and devices is not None:
            self._prefer(devices, now_s)
        if self._stream is None and now_s >= self._retry_s:
            self._open(devices if devices is not None else self._audio.devices(), now_s)

    def close(self) -> None:
        """Let go of the device; `tend` would open it again."""
        if self._stream is not None and self._intake is not None:
            self._stream.close()
            self._intake.is_over = True
        self._stream = self._intake = None

    def _examine(self, stream: Stream, now_s: float, *, asks_place: bool) -> None:
        assert self._intake is not None
        intake = self._intake
        vitals = self._vitals(stream, intake, asks_place=asks_place)
        verdict = judge(vitals, now_s)
        if verdict is Verdict.FINE:
            if intake.last_block_s is not None:
                if now_s - vitals.check_s >= LOSS_WINDOW_S:
                    self._check = (intake.last_block_s, intake.num_samples)
                    self._num_overflows = stream.num_overflows
                    if now_s - vitals.long_check_s >= LONG_WINDOW_S:
                        self._long_check = self._check
                self._announce(intake.device)
            return
        log.info("the capture stream is %s", verdict)
        intake.num_missing = num_missing(vitals, now_s)
        self.close()
        if verdict is Verdict.LOSING:
            self._tell(Notice(kind=NoticeKind.LOSING, device=intake.device.name))
        elif verdict is Verdict.STALLED:
            self._blame(intake.device, now_s)
        self._retry_s = now_s

    def _vitals(self, stream: Stream, intake: Intake, *, asks_place: bool) -> Vitals:
        if intake.first_block_s is not None:
            begin = (intake.first_block_s, 0)
            self._check = self._check if self._check[0] else begin
            self._long_check = self._long_check if self._long_check[0] else begin
        return Vitals(
            opened_s=intake.opened_s,
            first_block_s=intake.first_block_s,
            last_block_s=intake.last_block_s,
            num_since_check=intake.num_samples - self._check[1],
            check_s=self._check[0] or intake.opened_s,
            num_since_long_check=intake.num_samples - self._long_check[1],
            long_check_s=self._long_check[0] or intake.opened_s,
            rate_hz=intake.device.rate_hz,
            has_overflowed=stream.num_overflows > self._num_overflows,
            is_active=stream.is_active,
            # The server is asked only when something has changed there.
            is_elsewhere=asks_place and stream.is_elsewhere(),
        )

    def _prefer(self, devices: list[Device], now_s: float) -> None:
        """Change to the device that is meant now, if it came back or the default changed."""
        assert self._intake is not None
        wanted = choose(self._wish, devices, avoid=self._avoided(now_s))
        if wanted is not None and wanted.id != self._intake.device.id:
            self.close()
            self._retry_s = now_s

    def _open(self, devices: list[Device], now_s: float) -> None:
        avoided = self._avoided(now_s)
        device = choose(self._wish, devices, avoid=avoided)
        if device is None or device.id in avoided:
            self._say_silent()
        self._retry_s = now_s + RETRY_S
        if device is None:
            return
        intake = Intake(device, self._clock)
        try:
            self._stream = self._audio.open(device, intake.on_block)
        except OSError as error:
            log.info("a device cannot be opened: %s", error)
            self._blame(device, now_s)
            return
        self._intake = intake
        self.intakes.append(intake)
        if self._last is None and self._wish.device_id in (None, device.id):
            self._last = device
        self._check = self._long_check = (0.0, 0)
        self._num_overflows = 0
        self._is_announced = False

    def _announce(self, device: Device) -> None:
        """Say what is recorded now, if that is news. Only once its first samples are there."""
        if self._is_announced:
            return
        self._is_announced = True
        is_wanted = self._wish.device_id in (None, device.id)
        kind = None
        if self._last is None:
            kind = None if is_wanted else NoticeKind.REPLACED
        elif device.id != self._last.id:
            is_meant = is_wanted and (device.is_default or self._wish.device_id is not None)
            kind = NoticeKind.RETURNED if is_meant else NoticeKind.REPLACED
        if kind is None and self._is_silent:
            kind = NoticeKind.RESUMED
        self._last = device
        self._is_silent = False
        if kind is not None:
            self._tell(Notice(kind=kind, device=device.name))

    def _say_silent(self) -> None:
        if not self._is_silent:
            self._is_silent = True
            self._tell(Notice(kind=NoticeKind.NO_DEVICE, device=self._last.name if self._last else ""))

    def _blame(self, device: Device, now_s: float) -> None:
        self._avoid[device.id] = now_s + min(AVOID_S * 2 ** self._num_failures[device.id], MAX_AVOID_S)
        self._num_failures[device.id] += 1

    def _forgive(self, devices: list[Device]) -> None:
        """Who was unplugged and comes back is as good as new."""
        there = {device.id for device in devices}
        for device in [device for device in self._num_failures if device not in there]:
            del self._num_failures[device]
            self._avoid.pop(device, None)

    def _avoided(self, now_s: float) -> set[str]:
        self._avoid = {device: until for device, until in self._avoid.items() if until > now_s}
        return set(self._avoid)
