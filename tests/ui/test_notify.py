"""One message when long work is over and nobody looks."""

from __future__ import annotations

import pytest

from app.ui.notify import LONG_S, EndNotice
from engine.protocol.failures import FailureKind
from tests.helpers.window_rig import WindowRig


class Watch:
    """A clock that stands still until it is moved, and a place for what was sent."""

    def __init__(self, rig: WindowRig, *, is_wanted: bool = True) -> None:
        self.now_s = 0.0
        self.sent: list[str] = []
        notice = EndNotice(
            rig.desk,
            lambda title, text: self.sent.append(text),
            is_wanted=lambda: is_wanted,
            clock=lambda: self.now_s,
        )
        rig.desk.observe(notice.apply)


@pytest.fixture
def watch(rig: WindowRig) -> Watch:
    return Watch(rig)


def test_long_work_ends_with_one_message(rig: WindowRig, watch: Watch) -> None:
    rig.add("one.wav", "two.wav")
    rig.begin(rig.job_of("one.wav"))
    rig.finish(rig.job_of("one.wav"))
    assert watch.sent == []
    watch.now_s = LONG_S
    rig.fail(rig.job_of("two.wav"), FailureKind.NO_AUDIO, "two.wav")
    assert watch.sent == ["1 recording(s) transcribed. 1 could not be transcribed."]


def test_short_work_ends_quietly(rig: WindowRig, watch: Watch) -> None:
    rig.add("one.wav")
    watch.now_s = LONG_S - 1
    rig.finish(rig.job_of("one.wav"))
    assert watch.sent == []


def test_nobody_is_told_who_does_not_want_to_be(rig: WindowRig) -> None:
    watch = Watch(rig, is_wanted=False)
    rig.add("one.wav")
    watch.now_s = LONG_S
    rig.finish(rig.job_of("one.wav"))
    assert watch.sent == []


def test_cancelled_work_is_no_news(rig: WindowRig, watch: Watch) -> None:
    ids = rig.add("one.wav")
    watch.now_s = LONG_S
    rig.desk.cancel(ids)
    assert watch.sent == []
