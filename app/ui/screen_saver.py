"""Asks the desktop to stay awake: what the inhibitors of `app.keep_awake` cannot without Qt's D-Bus."""

from __future__ import annotations

import os
import sys
from typing import Final

from app.keep_awake import Release

_CONNECTION: Final = "jamak-keep-awake"
_PATIENCE_MS: Final = 1000


def ask_screen_saver(reason: str) -> Release | None:
    """https://specifications.freedesktop.org/idle-inhibit-spec: lasts as long as our connection does."""
    # Loaded by those who work long, not by everyone who opens a window.
    from PySide6.QtDBus import QDBus, QDBusConnection, QDBusMessage

    if sys.platform in ("win32", "darwin") or not os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
        return None
    bus = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, _CONNECTION)
    message = QDBusMessage.createMethodCall(
        "org.freedesktop.ScreenSaver",
        "/org/freedesktop/ScreenSaver",
        "org.freedesktop.ScreenSaver",
        "Inhibit",
    )
    message.setArguments(["Jamak", reason or "Transcribing"])
    answer = bus.call(message, QDBus.CallMode.Block, _PATIENCE_MS) if bus.isConnected() else None
    if answer is None or answer.type() is not QDBusMessage.MessageType.ReplyMessage:
        QDBusConnection.disconnectFromBus(_CONNECTION)
        return None
    return lambda: QDBusConnection.disconnectFromBus(_CONNECTION)
