"""Work off the window's thread: its results come back, and its failures are told."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import FrameType

import pytest
from pytestqt.qtbot import QtBot

from app.ui.background import Background
from engine.protocol.failures import FailureError, FailureKind, failure


@pytest.fixture
def background(qtbot: QtBot) -> Background:
    return Background()


def test_results_come_back_in_order(background: Background, qtbot: QtBot) -> None:
    told: list[int] = []
    for number in range(3):
        background.run(lambda number=number: number * 2, told.append)
    qtbot.wait_until(lambda: told == [0, 2, 4])
    background.close()


def test_a_failure_is_told_and_the_next_piece_is_done(background: Background, qtbot: QtBot) -> None:
    reason = failure(FailureKind.LIBRARY_DAMAGED, "library.db")
    told: list[str] = []

    def fail() -> str:
        raise FailureError(reason)

    with qtbot.wait_signal(background.failed) as caught:
        background.run(fail, told.append)
    assert caught.args == [reason]
    background.run(lambda: "after", told.append)
    qtbot.wait_until(lambda: told == ["after"])
    background.close()


def test_what_nobody_expected_is_not_swallowed(background: Background, qtbot: QtBot) -> None:
    with qtbot.captureExceptions() as raised:
        background.run(lambda: 1 / 0, lambda _: None)
        background.close()
    assert [error for error, *_ in raised] == [ZeroDivisionError]


def test_after_the_end_nothing_is_done_or_delivered(background: Background, qtbot: QtBot) -> None:
    told: list[int] = []
    background.run(lambda: 1, told.append)
    background.close()
    background.run(lambda: 2, told.append)
    qtbot.wait(1)
    assert told == []


@pytest.fixture
def slow_to_let_go() -> Iterator[None]:
    """Threads that begin now keep what they know for a while when a piece of work is done."""

    def linger(frame: FrameType, event: str, arg: object) -> None:
        if event == "return" and frame.f_code is Background._work.__code__:
            time.sleep(0.02)

    threading.setprofile(linger)
    yield
    threading.setprofile(None)


def test_what_work_knows_ends_on_the_windows_thread(
    slow_to_let_go: None, background: Background, qtbot: QtBot
) -> None:
    """A dialog that the helper thread was the last to know was destroyed by it, and Qt fell over later."""
    ended_on: list[threading.Thread] = []

    class Widget:
        def __del__(self) -> None:
            ended_on.append(threading.current_thread())

        def show(self, result: int) -> None:
            pass

    def want() -> None:
        widget = Widget()
        background.run(lambda: len(vars(widget)), widget.show)

    for _ in range(5):
        want()
    qtbot.wait_until(lambda: len(ended_on) == 5)
    assert set(ended_on) == {threading.main_thread()}
    background.close()
