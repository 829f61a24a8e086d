"""What the window's tests share: a whole window over a silent engine."""

from __future__ import annotations

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
