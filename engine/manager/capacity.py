"""How much memory this machine has and a model would take; nothing is loaded to find out."""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Final

_PROGRAM_BYTES: Final = 700_000_000
"""The engine's processes with torch in one of them, and room for the running rows of a short text."""
_BYTES_PER_PARAMETER: Final = 2
"""As the larger checkpoints are stored; eight-bit numbers take less once they are made."""


def needed_bytes(num_parameters: int, *, is_companion: bool = False) -> int | None:
    """Return about how much memory it takes to run a model; None where its size is not known.

    A companion adds to what the model takes that it helps.
    """
    if not num_parameters:
        return None
    return (0 if is_companion else _PROGRAM_BYTES) + _BYTES_PER_PARAMETER * num_parameters


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
