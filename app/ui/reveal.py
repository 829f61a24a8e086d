"""Shows a file in the system's file manager."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices


def reveal(path: Path) -> bool:
    """Open the folder of `path`, with the file marked where the system can; False where it cannot."""
    if sys.platform == "win32":
        return bool(QProcess.startDetached("explorer", ["/select,", str(path)])[0])
    if sys.platform == "darwin":
        return bool(QProcess.startDetached("open", ["-R", str(path)])[0])
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))
