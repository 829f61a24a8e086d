"""A wish to end reaches Qt's loop."""

from __future__ import annotations

import os
import signal

import pytest
from pytestqt.qtbot import QtBot

from app.ui.termination import Termination


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_heard_while_the_loop_waits(qtbot: QtBot, number: signal.Signals) -> None:
    before = signal.getsignal(number)
    termination = Termination()
    with qtbot.waitSignal(termination.asked):
        os.kill(os.getpid(), number)
    termination.close()
    assert signal.getsignal(number) is before
