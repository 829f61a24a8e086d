"""`jamak serve` as a child of the window: the settings start and end it, and it goes with the app."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment, Signal

from app.settings import Settings
from app.ui.settings_keeper import SettingsKeeper
from engine.protocol.elsewhere import is_elsewhere
from engine.subprocesses import environment

_END_MS: Final = 8_000
"""What answers that are being sent may take when the app ends; then the server is killed."""


class ServerPhase(StrEnum):
    """The life of the child."""

    OFF = "off"
    STARTING = "starting"
    ON = "on"
    FAILED = "failed"


class ServerSwitch(QObject):
    """Follows `Settings.serves` and `Settings.server_port`.

    Signals: `shifted()` when `phase`, `url` or `trouble` have changed.
    """

    shifted = Signal()

    def __init__(
        self, keeper: SettingsKeeper, parent: QObject | None = None, *, program: Sequence[str] = ()
    ) -> None:
        """`program` stands for `jamak`, in tests."""
        super().__init__(parent)
        self._keeper = keeper
        self._program = tuple(program) or own_program()
        self._process: QProcess | None = None
        self._is_closed = False
        self.phase = ServerPhase.OFF
        self.url = ""
        """Where it is reached, `/v1` included; empty while it is not."""
        self.trouble = ""
        """What it said when it ended unasked."""
        keeper.changed.connect(self._on_settings)

    @property
    def pid(self) -> int | None:
        """Of the server, while there is one."""
        return self._process.processId() if self._process is not None else None

    def open(self) -> None:
        """Start the server, if the settings say so."""
        if self._keeper.now.serves and self._process is None and not self._is_closed:
            self._start()

    def leave(self) -> None:
        """Have the server end, and do not wait for it."""
        self._is_closed = True
        if self._process is not None:
            self._process.closeWriteChannel()

    def close(self) -> None:
        """End the server and wait until it is gone."""
        self.leave()
        self._end()

    def _on_settings(self, before: Settings, now: Settings) -> None:
        if (before.serves, before.server_port) == (now.serves, now.server_port):
            return
        self._end()
        self._shift(ServerPhase.OFF)
        self.open()

    def _start(self) -> None:
        now = self._keeper.now
        words = ["serve", "--port", str(now.server_port), "--require-key", "--until-stdin-ends"]
        if not is_elsewhere(now.model):
            words += ["--model", now.model]
        process = self._process = QProcess(self)
        variables = QProcessEnvironment()
        for name, value in environment().items():
            variables.insert(name, value)
        process.setProcessEnvironment(variables)
        process.readyReadStandardOutput.connect(self._on_told)
        process.finished.connect(self._on_ended)
        process.errorOccurred.connect(self._on_error)
        self._shift(ServerPhase.STARTING)
        process.start(self._program[0], [*self._program[1:], *words])

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.blockSignals(True)
        process.closeWriteChannel()
        if not process.waitForFinished(_END_MS):
            process.kill()
            process.waitForFinished(_END_MS)
        process.deleteLater()

    def _on_told(self) -> None:
        """Its first line is its address; there is no other."""
        if self._process is not None and self._process.canReadLine():
            line = bytes(self._process.readLine().data()).decode(errors="replace")
            self._shift(ServerPhase.ON, url=line.strip())

    def _on_ended(self) -> None:
        if self._process is None:
            return
        said = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        self._process.deleteLater()
        self._process = None
        self._shift(ServerPhase.FAILED, trouble=said.splitlines()[-1].removeprefix("jamak: ") if said else "")

    def _on_error(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart and self._process is not None:
            why = self._process.errorString()
            self._process.deleteLater()
            self._process = None
            self._shift(ServerPhase.FAILED, trouble=why)

    def _shift(self, phase: ServerPhase, *, url: str = "", trouble: str = "") -> None:
        self.phase, self.url, self.trouble = phase, url, trouble
        self.shifted.emit()


def own_program() -> tuple[str, ...]:
    """Return how this very program is started anew, installed or frozen."""
    if getattr(sys, "frozen", False):
        return (sys.executable,)
    # -P: a folder named `app` where the user happens to stand must not be taken for ours.
    return (sys.executable, "-P", "-m", "app")
