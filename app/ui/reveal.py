"""Shows a file in the system's file manager."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices

if TYPE_CHECKING:
    from PySide6.QtDBus import QDBusConnection

_FILE_MANAGER: Final = "org.freedesktop.FileManager1"


def reveal(path: Path) -> bool:
    """Open the folder of `path`, with the file marked where the system can; False where it cannot."""
    if sys.platform == "win32":
        return bool(QProcess.startDetached("explorer", ["/select,", str(path)])[0])
    if sys.platform == "darwin":
        return bool(QProcess.startDetached("open", ["-R", str(path)])[0])
    return mark_in_file_manager(path) or QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))


def mark_in_file_manager(path: Path) -> bool:
    """Ask the desktop's file manager to show `path`; False where none is known.

    See https://www.freedesktop.org/wiki/Specifications/file-manager-interface/.
    """
    # Not on every system, and only wanted here.
    from PySide6.QtDBus import QDBusConnection, QDBusMessage

    bus = QDBusConnection.sessionBus()
    if not bus.isConnected() or not path.exists() or not _is_known(bus):
        return False
    call = QDBusMessage.createMethodCall(
        _FILE_MANAGER, "/org/freedesktop/FileManager1", _FILE_MANAGER, "ShowItems"
    )
    call.setArguments(
        [[QUrl.fromLocalFile(str(path)).toString(QUrl.ComponentFormattingOption.FullyEncoded)], ""]
    )
    # Its answer is not waited for: a file manager that must be started first takes seconds.
    return bool(bus.send(call))


def _is_known(bus: QDBusConnection) -> bool:
    """Whether a file manager runs, or can be started by being called."""
    interface = bus.interface()
    names = [*interface.registeredServiceNames().value(), *interface.activatableServiceNames().value()]
    return _FILE_MANAGER in names
