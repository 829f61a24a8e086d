"""Keeps a network's idle threads off the processor; no torch here, because it has to come before torch."""

from __future__ import annotations

import os
from typing import Final

_SPINS: Final = "2000"
"""Of GNU's library, a tenth of a millisecond: the gaps within an encoder layer are shorter, those within
a step longer. A thread that has slept often wakes on the core of the one that woke it, and both share it
for a while: layers of two threads then took as long as those of one."""


def let_idle_threads_sleep() -> None:
    """Make OpenMP's threads sleep while they wait long for one another; call before torch is imported.

    By default they spin, and as soon as another process wants the core each wait costs a whole
    scheduler quantum (8 ms seen where the work takes 0.05): the window stutters, and a step takes five
    times as long. The libraries read these once, when they are loaded: GNU's and LLVM's the first,
    Intel's also the second, GNU's also the third. What the user has set stays.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("KMP_BLOCKTIME", "0")
    os.environ.setdefault("GOMP_SPINCOUNT", _SPINS)
