"""A child's side of its stdin: settings come in as the first line, and its end is the word to end."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Final

from engine.config import ManagerSettings
from engine.ipc import Outbox, public_address
from engine.protocol.requests import Goodbye

LONGEST_LINE_BYTES: Final = 1 << 20
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_STDIN: Final = 0


def take_settings_line() -> bytes:
    """Return the first line of stdin. Raises OSError where there is none."""
    line = bytearray()
    # Byte by byte: what follows belongs to nobody, but a buffer would hold the file open for itself.
    while not line.endswith(b"\n"):
        byte = os.read(_STDIN, 1)
        if not byte or len(line) > LONGEST_LINE_BYTES:
            raise OSError("no settings on stdin")
        line += byte
    return bytes(line)


def die_with_parent() -> None:
    """End this process at once when its parent is gone, whatever the loop is doing."""
    _watch_stdin(lambda: os._exit(0))
    if sys.platform == "linux":
        # Quicker than stdin's end, and works while a library holds the interpreter's lock.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


def tell_goodbye_at_end(settings: ManagerSettings) -> threading.Event:
    """Put the owner's `Goodbye` into our own inbox when the owner is gone, however it went.

    Returns what the caller sets when nobody reads that inbox any more.
    """
    is_over = threading.Event()

    def tell() -> None:
        outbox = Outbox(public_address(settings.address))
        outbox.put(Goodbye(client=settings.owner))
        # Kept until the loop has ended: it may not have bound its inbox yet, or have closed it already.
        is_over.wait()
        outbox.close(linger_s=0)

    _watch_stdin(tell)
    return is_over


def _watch_stdin(at_end: Callable[[], None]) -> None:
    # Moved away from file 0, so that neither a library nor a grandchild takes it for its input;
    # on Windows a pending read would even block everybody who asks what file 0 is.
    pipe = os.dup(_STDIN)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)

    def watch() -> None:
        try:
            while os.read(pipe, 4096):
                pass
        except OSError:
            pass
        at_end()

    threading.Thread(target=watch, daemon=True, name="lifeline").start()
