"""Whether a window can be shown is known before Qt ends the program over it."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest

from app.display import can_show_windows

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sockets of X and Wayland")


def test_other_platforms_always_have_a_display() -> None:
    assert can_show_windows({}, "win32")
    assert can_show_windows({}, "darwin")


def test_a_chosen_qt_platform_is_believed() -> None:
    assert can_show_windows({"QT_QPA_PLATFORM": "offscreen"}, "linux")


@pytest.mark.parametrize("display", ["", ":", "nonsense", ":99871", "unix:99871.0", "127.0.0.1:59000"])
def test_a_display_that_does_not_answer_is_none(display: str) -> None:
    assert not can_show_windows({"DISPLAY": display}, "linux")


def test_a_display_on_another_host_is_asked_over_the_network() -> None:
    with socket.socket() as server:
        # X servers listen at 6000 + number.
        server.bind(("127.0.0.1", 0))
        server.listen()
        number = server.getsockname()[1] - 6000
        assert can_show_windows({"DISPLAY": f"127.0.0.1:{number}.0"}, "linux")


def test_wayland_is_asked_at_its_socket(tmp_path: Path) -> None:
    environment = {"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert not can_show_windows(environment, "linux")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-7"))
        server.listen()
        assert can_show_windows(environment, "linux")
