"""How much memory this machine has."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any


def machine_bytes() -> int | None:
    """Return this machine's memory; None where the system does not tell."""
    if sys.platform == "win32":
        return _windows_bytes()
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of the Windows API."""

    _fields_ = (
        ("length", ctypes.c_ulong),
        ("load", ctypes.c_ulong),
        *((name, ctypes.c_ulonglong) for name in ("total", "free", "a", "b", "c", "d", "e")),
    )


def _windows_bytes() -> int | None:
    status = _MemoryStatus()
    status.length = ctypes.sizeof(status)
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 - elsewhere there is none
    return int(status.total) if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None
