"""Whether windows can be seen through here. Where they cannot, what should be clear is black."""

from __future__ import annotations

import ctypes
import ctypes.util
import logging

from PySide6.QtGui import QGuiApplication

log = logging.getLogger(__name__)


def is_x11() -> bool:
    """Whether the windows are X11 windows."""
    return QGuiApplication.platformName() == "xcb"


def can_stay_above(platform_name: str | None = None) -> bool:
    """Whether a window may keep itself above all others and choose its place: Wayland knows neither."""
    name = QGuiApplication.platformName() if platform_name is None else platform_name
    return not name.startswith("wayland")


def has_compositor() -> bool:
    """Whether a window may be translucent. Everywhere but on X11 it always may."""
    if not is_x11():
        return True
    try:
        return _x11_has_owner(b"_NET_WM_CM_S0")
    except (OSError, AttributeError) as error:
        log.info("X11 cannot be asked for a compositor: %s", error)
        return False


def _x11_has_owner(selection: bytes) -> bool:
    """A compositing manager owns this selection (https://specifications.freedesktop.org/wm-spec)."""
    x11 = ctypes.CDLL(ctypes.util.find_library("X11") or "libX11.so.6")
    x11.XOpenDisplay.restype = ctypes.c_void_p
    x11.XInternAtom.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int)
    x11.XInternAtom.restype = ctypes.c_ulong
    x11.XGetSelectionOwner.argtypes = (ctypes.c_void_p, ctypes.c_ulong)
    x11.XGetSelectionOwner.restype = ctypes.c_ulong
    x11.XCloseDisplay.argtypes = (ctypes.c_void_p,)
    display = x11.XOpenDisplay(None)
    if not display:
        return False
    try:
        return bool(x11.XGetSelectionOwner(display, x11.XInternAtom(display, selection, 0)))
    finally:
        x11.XCloseDisplay(display)
