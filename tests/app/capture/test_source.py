"""A source keeps recording: it reopens, falls back, comes back, and says so in the right words."""

from __future__ import annotations

import msgspec
import pytest

from app.capture.devices import Device, DeviceKind, Wish, choose
from app.capture.notices import MarkKind, Notice, NoticeKind
from app.capture.source import AVOID_S, Source
from app.capture.track import Track
from tests.helpers.fake_sound import HEADSET, MIC, SPEAKERS, FakeAudio, FakeClock, FakeStream, numbered

BLOCK = 1_600


class Rig:
    """A source over fake devices, tended four times a second."""

    def __init__(self, *devices: Device, wish: Wish | None = None) -> None:
        self.clock = FakeClock()
        self.audio = FakeAudio(*devices)
        self.told: list[tuple[NoticeKind, str]] = []
        self.source = Source(wish or Wish(), self.audio, clock=self.clock, tell=self._note)
        self.has_changed = True
        self.audio.watch(self._on_change)

    def run(self, seconds: float, *, speaking: bool = True, share: float = 1.0) -> None:
        """Let time pass; open devices speak `share` of the time, unless they have ended."""
        for _ in range(round(seconds / 0.1)):
            self.clock.advance(0.1)
            for stream in self.audio.open_streams:
                if speaking and stream.is_active:
                    stream.speak(numbered(int(stream.device.rate_hz * 0.1 * share)))
            self.source.tend(self.audio.devices() if self.has_changed else None)
            self.has_changed = False

    @property
    def stream(self) -> FakeStream:
        return self.audio.stream

    def _note(self, notice: Notice) -> None:
        self.told.append((notice.kind, notice.device))

    def _on_change(self) -> None:
        self.has_changed = True


def test_a_healthy_device_is_opened_once_and_nothing_is_told() -> None:
    rig = Rig(MIC, HEADSET)
    rig.run(60.0)
    assert len(rig.audio.streams) == 1
    assert rig.source.device == MIC
    assert rig.told == []


def test_an_unplugged_device_is_replaced_and_taken_again_when_it_is_back() -> None:
    rig = Rig(MIC, HEADSET, wish=Wish(device_id="headset"))
    rig.run(2.0)
    assert rig.source.device == HEADSET
    rig.stream.is_moved = True
    rig.audio.plug(MIC)
    rig.run(1.0)
    assert rig.source.device == MIC
    rig.audio.plug(MIC, HEADSET)
    rig.run(1.0)
    assert rig.source.device == HEADSET
    assert rig.told == [
        (NoticeKind.REPLACED, MIC.name),
        (NoticeKind.RETURNED, HEADSET.name),
    ]
    assert len(rig.source.intakes) == 3
    assert [intake.is_over for intake in rig.source.intakes] == [True, True, False]


def test_the_systems_new_default_is_followed() -> None:
    rig = Rig(MIC, HEADSET)
    rig.run(1.0)
    others = msgspec.structs.replace(MIC, is_default=False), msgspec.structs.replace(HEADSET, is_default=True)
    rig.audio.plug(*others)
    rig.run(1.0)
    assert rig.source.device == others[1]
    assert rig.told == [(NoticeKind.RETURNED, HEADSET.name)]


def test_a_chosen_device_does_not_follow_the_default() -> None:
    rig = Rig(MIC, HEADSET, wish=Wish(device_id="mic"))
    rig.run(1.0)
    rig.audio.plug(
        msgspec.structs.replace(MIC, is_default=False), msgspec.structs.replace(HEADSET, is_default=True)
    )
    rig.run(1.0)
    assert len(rig.audio.streams) == 1


def test_a_stalled_device_is_left_for_another_and_tried_again_later() -> None:
    rig = Rig(MIC, HEADSET)
    rig.run(1.0)
    rig.run(1.5, speaking=False)
    rig.run(1.0)
    assert rig.source.device == HEADSET
    assert rig.told == [(NoticeKind.REPLACED, HEADSET.name)]
    rig.run(AVOID_S + 1.0)
    assert rig.source.device == HEADSET, "a device that works is not left without need"
    rig.has_changed = True
    rig.run(1.0)
    assert rig.source.device == MIC


def test_a_device_that_stalls_again_and_again_is_tried_ever_more_rarely() -> None:
    rig = Rig(MIC, HEADSET)
    num_stalls = 0
    for _ in range(4):
        rig.has_changed = True
        rig.run(0.5)
        while rig.source.device != MIC:
            rig.has_changed = True
            rig.run(1.0)
            num_stalls += 1
        rig.run(1.2, speaking=False)
        rig.run(0.5)
    assert num_stalls > 2 * AVOID_S + 2 * AVOID_S


def test_the_only_device_is_opened_anew_when_it_stalls() -> None:
    rig = Rig(MIC)
    rig.run(1.0)
    rig.run(1.5, speaking=False)
    rig.run(1.0)
    assert len(rig.audio.streams) == 2
    assert rig.told == [(NoticeKind.NO_DEVICE, MIC.name), (NoticeKind.RESUMED, MIC.name)]


def test_without_any_device_it_waits_for_one() -> None:
    rig = Rig(MIC)
    rig.run(1.0)
    rig.stream.is_active = False
    rig.audio.plug()
    rig.run(5.0)
    assert not rig.audio.open_streams
    rig.audio.plug(MIC)
    rig.run(1.0)
    assert rig.source.device == MIC
    assert rig.told == [(NoticeKind.NO_DEVICE, MIC.name), (NoticeKind.RESUMED, MIC.name)]


def test_a_device_that_cannot_be_opened_is_passed_over() -> None:
    rig = Rig(MIC, HEADSET)
    rig.audio.broken.add("mic")
    rig.run(2.0)
    assert rig.source.device == HEADSET


def test_a_device_that_loses_samples_is_opened_anew_and_the_loss_is_known() -> None:
    rig = Rig(MIC)
    rig.run(11.0)
    rig.run(13.0, share=0.9)
    assert (NoticeKind.LOSING, MIC.name) in rig.told
    assert rig.source.intakes[0].num_missing > 8_000
    assert not rig.source.intakes[0].ring.num_lost


def test_a_loss_that_the_system_tells_of_is_known_however_small() -> None:
    """A tenth of a second in ten went unsaid: the recording was behind the clock from there on."""
    rig = Rig(MIC)
    rig.run(5.0)
    rig.stream.num_overflows = 1
    rig.run(0.1, speaking=False)
    rig.run(6.0)
    assert rig.told == [(NoticeKind.LOSING, MIC.name)]
    assert rig.source.intakes[0].num_missing == BLOCK
    rig.run(30.0)
    assert len(rig.told) == 1


def test_what_is_lost_little_by_little_is_known_once() -> None:
    """One sample in a hundred went unsaid for hours: PulseAudio tells of no overflow."""
    rig = Rig(MIC)
    track = Track(rig.source.intakes, MIC.rate_hz, rig.clock())
    lost: list[int] = []

    def record(seconds: float, share: float) -> None:
        for _ in range(round(seconds / 0.1)):
            rig.run(0.1, share=share)
            lost.extend(hole.num for hole in track.collect(rig.clock()).holes if hole.kind is MarkKind.LOST)

    record(5.0, share=1.0)
    record(125.0, share=0.99)
    assert rig.told == [(NoticeKind.LOSING, MIC.name)]
    assert lost == [pytest.approx(0.01 * 115 * MIC.rate_hz, abs=BLOCK // 10)]
    record(300.0, share=1.0)
    assert len(rig.told) == len(lost) == 1
    assert track.num_lost == lost[0]


def test_a_busy_computer_does_not_hide_what_is_lost_little_by_little() -> None:
    """Sound is lost where a computer is busy, and there nobody looks after the stream in time."""
    rig = Rig(MIC)
    for _ in range(13):
        rig.run(9.3, share=0.99)
        rig.clock.advance(0.7)
        rig.stream.speak(numbered(int(0.7 * 0.99 * MIC.rate_hz)))
    assert rig.told == [(NoticeKind.LOSING, MIC.name)]
    assert rig.source.intakes[0].num_missing == pytest.approx(0.01 * 120 * MIC.rate_hz, rel=0.05)


def test_the_time_until_the_first_sample_is_no_loss_however_busy_it_is_then() -> None:
    rig = Rig(MIC)
    rig.run(0.5, speaking=False)
    rig.clock.advance(0.8)
    rig.run(1.0, speaking=False)
    rig.run(150.0)
    assert rig.told == []
    assert len(rig.audio.streams) == 1


def test_a_clock_that_drifts_loses_nothing() -> None:
    rig = Rig(MIC)
    rig.run(600.0, share=0.999)
    assert len(rig.audio.streams) == 1
    assert rig.told == []


@pytest.mark.parametrize(
    ("wish", "avoid", "chosen"),
    [
        (Wish(), (), MIC),
        (Wish(device_id="headset"), (), HEADSET),
        (Wish(device_id="gone"), (), MIC),
        (Wish(device_id="headset"), ("headset",), MIC),
        (Wish(kind=DeviceKind.COMPUTER), (), SPEAKERS),
        (Wish(kind=DeviceKind.COMPUTER), ("speakers.monitor",), SPEAKERS),
        (Wish(kind=DeviceKind.COMPUTER, device_id="mic"), (), SPEAKERS),
    ],
)
def test_the_best_device_is_chosen(wish: Wish, avoid: tuple[str, ...], chosen: Device) -> None:
    assert choose(wish, [HEADSET, MIC, SPEAKERS], avoid=avoid) == chosen


def test_a_microphone_never_stands_in_for_what_the_computer_plays() -> None:
    assert choose(Wish(kind=DeviceKind.COMPUTER), [MIC, HEADSET]) is None
    assert choose(Wish(), [SPEAKERS]) is None


def test_a_computer_that_slept_does_not_blame_its_microphone() -> None:
    rig = Rig(MIC, HEADSET)
    rig.run(1.0)
    rig.clock.advance(3_600.0)
    rig.source.tend()
    rig.run(5.0)
    assert len(rig.audio.streams) == 1
    assert rig.told == []
