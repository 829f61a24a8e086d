"""Wakefulness is asked for once, given back once, and no error where it is not to be had."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from app.keep_awake import KeepAwake, Release


class Inhibitor:
    """Answers every asking, unless it is unavailable; counts."""

    def __init__(self, is_available: bool = True) -> None:
        self.is_available = is_available
        self.reasons: list[str] = []
        self.num_released = 0

    def __call__(self, reason: str) -> Release | None:
        self.reasons.append(reason)
        return self._release if self.is_available else None

    def _release(self) -> None:
        self.num_released += 1


def test_it_is_asked_once_and_given_back_once() -> None:
    inhibitor = Inhibitor()
    awake = KeepAwake((inhibitor,))
    awake.hold("work")
    awake.hold("work")
    assert awake.is_held
    assert inhibitor.reasons == ["work"]
    awake.release()
    awake.release()
    assert not awake.is_held
    assert inhibitor.num_released == 1


def test_the_next_way_is_tried_where_one_is_not_to_be_had() -> None:
    missing, there, last = Inhibitor(is_available=False), Inhibitor(), Inhibitor()
    awake = KeepAwake((missing, there, last))
    awake.hold()
    assert len(missing.reasons) == len(there.reasons) == 1
    assert last.reasons == []


def test_no_way_at_all_is_no_error() -> None:
    awake = KeepAwake((Inhibitor(is_available=False),))
    awake.hold()
    assert not awake.is_held
    awake.release()


def test_this_computer_can_be_asked_without_an_error() -> None:
    awake = KeepAwake()
    awake.hold("test")
    awake.release()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="systemd's way")
def test_the_lock_of_systemd_is_held_by_a_child_that_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "systemd-inhibit"
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/asked\nexec cat\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)
    awake = KeepAwake()
    awake.hold("a long film")
    assert awake.is_held
    awake.release()
    assert not awake.is_held
