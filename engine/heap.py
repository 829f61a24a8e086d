"""Gives memory back to the system that the C library keeps for later.

Tensors and audio of ever other sizes leave holes in its heap, which it never gives back by itself: over
an hour of live captions a process grew by some megabytes in which nothing was. (glibc; others do
without)
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Final

EVERY_S: Final = 60.0
"""A few milliseconds of work, after which what is needed again has to be zeroed again."""


def keep_heap_small() -> None:
    """Give back what is free once a minute, as long as the process lives."""
    if _trimmer() is not None:
        threading.Thread(target=_keep_giving, daemon=True, name="heap").start()


def give_back() -> bool:
    """Give back all whole pages of the heap that are free; False where there is no way to."""
    trim = _trimmer()
    if trim is None:
        return False
    trim(0)
    return True


def _keep_giving() -> None:
    never = threading.Event()
    while not never.wait(EVERY_S):
        give_back()


@cache
def _trimmer() -> Callable[[int], int] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        trim: Callable[[int], int] = ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):  # musl
        return None
    return trim
