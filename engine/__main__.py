"""A process of the engine: `python -m engine --role NAME`, its settings as one line on stdin.

Loops are named by strings, so that none imports another and each process holds only what it needs.
A frozen program calls `run_role` for its own `--role NAME`.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import importlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from engine import lifeline
from engine.config import (
    DetokenizerSettings,
    ManagerSettings,
    RemoteSettings,
    SchedulerSettings,
    Settings,
)
from engine.heap import keep_heap_small
from engine.ipc import flush, public_address, sweep
from engine.logs import start_logging
from engine.rendezvous import EXIT_NOT_ALONE, EngineNote, Rendezvous

log = logging.getLogger(__name__)

ROLES: Final[dict[str, tuple[str, type[Settings]]]] = {
    "manager": ("engine.manager.manager:run", ManagerSettings),
    "scheduler": ("engine.scheduler.scheduler:run", SchedulerSettings),
    "detokenizer": ("engine.detokenizer.manager:run", DetokenizerSettings),
    "remote": ("engine.remote.remote:run", RemoteSettings),
}

EXIT_CRASHED: Final = 1
EXIT_MISUSED: Final = 2


def main() -> None:
    """Be the process that the command line and stdin ask for."""
    leave(run_role(sys.argv[1:]))


def run_role(argv: Sequence[str]) -> int:
    """Run the loop of `--role NAME` until it ends; return the process's exit code."""
    parser = argparse.ArgumentParser(prog="engine", description=__doc__)
    parser.add_argument("--role", required=True, choices=list(ROLES))
    role = parser.parse_args(argv).role
    loop_name, settings_type = ROLES[role]
    try:
        settings = msgspec.json.decode(lifeline.take_settings_line(), type=settings_type)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        print(f"the engine is started by Jamak, not by hand: {error}", file=sys.stderr)  # noqa: T201
        return EXIT_MISUSED
    # Ctrl-C is for the program in the terminal; we end when it lets go of us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.stderr is not None:  # as in a program without a console, on Windows
        faulthandler.enable()
    config = settings.config
    start_logging(settings.worker, Path(config.log_folder), config.log_level)
    loop_name = config.loops.get(role, loop_name)
    keep_heap_small()
    try:
        if isinstance(settings, ManagerSettings):
            return _run_manager(loop_name, settings)
        lifeline.die_with_parent()
        _load(loop_name)(settings)
    except Exception as error:
        # The trace may name the user's files: it goes to our parent alone, as our last words.
        log.error("the loop ended by %s", type(error).__name__)
        log.debug("it says", exc_info=True)
        traceback.print_exc()
        return EXIT_CRASHED
    return 0


def leave(exit_code: int) -> None:
    """End the process without waiting for threads, which may be stuck in a codec or a driver."""
    flush()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(exit_code)


def _run_manager(loop_name: str, settings: ManagerSettings) -> int:
    folder = Path(settings.config.runtime_folder)
    meeting = Rendezvous(folder)
    # Somebody who looks whether an engine lives holds the lock for a moment.
    if not meeting.living.take_within(2.0):
        return EXIT_NOT_ALONE
    sweep(folder)
    address = public_address(settings.address)
    meeting.publish(EngineNote(pid=os.getpid(), address=address, owner=settings.owner))
    is_over = lifeline.tell_goodbye_at_end(settings)
    try:
        _load(loop_name)(settings)
    finally:
        is_over.set()
    # Not after a crash: a note without a living engine tells other clients that it did not end in order.
    meeting.withdraw()
    return 0


def _load(name: str) -> Callable[[Settings], None]:
    module, _, function = name.partition(":")
    loop: Any = getattr(importlib.import_module(module), function)
    return loop  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()
