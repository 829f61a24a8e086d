"""The engine's process as a client sees it: start one or find the one that runs, and say how it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from engine.config import EngineConfig, ManagerSettings
from engine.ipc import new_address, public_address
from engine.rendezvous import EXIT_NOT_ALONE, EngineNote, Rendezvous
from engine.subprocesses import Child

START_S: Final = 30.0
"""How long an engine may take until it says where it is (a cold disk, a virus scanner)."""
END_S: Final = 5.0
"""How long it may take to end when we are gone."""
LOOK_S: Final = 0.02


class EngineUnreachable(Exception):
    """No engine could be started or found; the text is for a bug report."""


class OwnEngine:
    """An engine that we started; it ends when we let go of it, unless it serves others."""

    def __init__(self, child: Child, note: EngineNote, meeting: Rendezvous) -> None:
        self._child = child
        self._meeting = meeting
        self.pid = note.pid
        self.address = note.address

    def has_ended(self) -> bool:
        return self._child.has_ended

    def has_ended_in_order(self) -> bool:
        """An engine of ours has no business to end while we are here."""
        return False

    def tell_end(self, tell: Callable[[], None]) -> None:
        """Call `tell` on a thread of its own when the process has ended."""

        def watch() -> None:
            self._child.wait()
            tell()

        threading.Thread(target=watch, daemon=True, name="watch-engine").start()

    def last_words(self) -> str:
        """Return how it ended and what it said last."""
        return f"exit code {self._child.wait(0)}\n{self._child.last_words()}".strip()

    def leave(self) -> None:
        """Let go of it and wait for its end, at most `END_S`; then it is killed.

        One that stays for other clients says so in its note and is left to them.
        """
        self._child.let_go()
        end_s = time.monotonic() + END_S
        while self._child.wait(LOOK_S) is None:
            note = self._meeting.read()
            if note is not None and note.pid == self.pid and note.owner is None:
                return
            if time.monotonic() > end_s:
                self.kill()
                return

    def kill(self) -> None:
        """End it at once."""
        self._child.kill()


class FoundEngine:
    """An engine that somebody else started; its end is seen by its lock."""

    def __init__(self, note: EngineNote, meeting: Rendezvous) -> None:
        self._meeting = meeting
        self.pid = note.pid
        self.address = note.address

    def has_ended(self) -> bool:
        return not self._meeting.is_engine_alive()

    def has_ended_in_order(self) -> bool:
        """Say whether it took its note away before it ended, or another has followed it already."""
        note = self._meeting.read()
        return note is None or note.pid != self.pid

    def tell_end(self, tell: Callable[[], None]) -> None:
        """Nobody tells the end of a process that is not our child: ask `has_ended` now and then."""

    def last_words(self) -> str:
        return "the engine was started by another program"

    def leave(self) -> None:
        """Nothing to do: it belongs to another client."""

    def kill(self) -> None:
        """Nothing to do: it belongs to another client."""


Engine = OwnEngine | FoundEngine


def meet_engine(config: EngineConfig, client: str, is_wanted: Callable[[], bool]) -> Engine | None:
    """Find the engine that runs in `config.runtime_folder`, or start one that belongs to `client`.

    Waits; None when `is_wanted` says no before there is one. Raises EngineUnreachable, OSError.
    """
    meeting = Rendezvous(Path(config.runtime_folder))
    end_s = time.monotonic() + START_S
    while is_wanted():
        if meeting.starting.try_take():
            try:
                if meeting.is_engine_alive():
                    # Without a note it is just ending, or it was started by somebody who is gone.
                    if (note := meeting.read()) is not None:
                        return FoundEngine(note, meeting)
                elif (engine := _start_engine(config, client, meeting)) is not None:
                    return engine
            finally:
                meeting.starting.release()
        if time.monotonic() > end_s:
            raise EngineUnreachable("an engine runs but does not say where")
        time.sleep(LOOK_S)
    return None


def _start_engine(config: EngineConfig, client: str, meeting: Rendezvous) -> OwnEngine | None:
    """Start one and wait for its note; None where it found another one alive."""
    meeting.withdraw()
    address = new_address(Path(config.runtime_folder), "manager", 1)
    child = Child("manager", ManagerSettings(config=config, address=address, owner=client))
    end_s = time.monotonic() + START_S
    while True:
        note = meeting.read()
        # By its address, not its pid: on Windows a virtual environment starts Python through another process.
        if note is not None and note.address == public_address(address):
            return OwnEngine(child, note, meeting)
        exit_code = child.wait(LOOK_S)
        if exit_code == EXIT_NOT_ALONE:
            return None
        if exit_code is not None:
            raise EngineUnreachable(f"exit code {exit_code}\n{child.last_words()}")
        if time.monotonic() > end_s:
            child.kill()
            raise EngineUnreachable("the engine did not start in time")
