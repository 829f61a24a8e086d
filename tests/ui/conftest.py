"""What the window's tests share: a whole window over a silent engine."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from tests.helpers.window_rig import WindowRig


@pytest.fixture
def rig(qtbot: QtBot, tmp_path: Path) -> Iterator[WindowRig]:
    """A shown window with one installed model and an empty library."""
    made = WindowRig(tmp_path)
    made.window.show()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def windows_outlive_their_test() -> Iterator[None]:
    """Keep a window that only a test's variable knew until it was closed and its last events are over.

    The garbage collector would delete it at any moment, in the middle of being painted too.
    """
    gc.disable()
    yield
    gc.enable()
