"""Whether a window can be shown here; asked before Qt is, which ends the program where it cannot."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

_PATIENCE_S: Final = 2.0


def can_show_windows(environment: Mapping[str, str] = os.environ, platform: str = sys.platform) -> bool:
    """Return whether there is a display. Platforms other than Linux and BSD always have one."""
    if environment.get("QT_QPA_PLATFORM") or platform in ("win32", "darwin"):
        return True
    return _has_wayland(environment) or _has_x(environment.get("DISPLAY", ""))


def _has_wayland(environment: Mapping[str, str]) -> bool:
    name = environment.get("WAYLAND_DISPLAY")
    return bool(name) and _answers(str(Path(environment.get("XDG_RUNTIME_DIR", "/"), name or "")))


def _has_x(display: str) -> bool:
    """`DISPLAY` is `host:number.screen`; without a host it is a local socket."""
    host, separator, number = display.rpartition(":")
    number = number.partition(".")[0]
    if not separator or not number.isdecimal():
        return False
    if host in ("", "unix"):
        path = f"/tmp/.X11-unix/X{number}"
        return _answers("\0" + path) or _answers(path)
    try:
        with socket.create_connection((host, 6000 + int(number)), _PATIENCE_S):
            return True
    except OSError:
        return False


def _answers(address: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(_PATIENCE_S)
        try:
            probe.connect(address)
        except OSError:
            return False
    return True
