"""One window at a time: a second start hands its files over to the first, and ends."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from PySide6.QtCore import QLockFile, QObject, Signal
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from app.paths import instance_lock_path
from app.texts import tr
from engine.protocol.failures import Failure, FailureError, FailureKind

_PATIENCE_S: Final = 5.0
"""How long the first instance may take to answer (it may still be starting)."""
_MAX_BYTES: Final = 1024 * 1024
_TAKEN: Final = b"ok"


class SingleInstance(QObject):
    """The claim to be the only window at `address` (a socket's path; on Windows a pipe's name).

    Signals:
        files_received(list[str]): another start handed over these paths; none = show the window.
    """

    # Not a list of Qt's: that would turn every name into text, and some are not.
    files_received = Signal(object)

    def __init__(self, address: str, parent: QObject | None = None, *, lock_path: Path | None = None) -> None:
        super().__init__(parent)
        self._address = address
        self._lock_path = lock_path or instance_lock_path()
        self._lock = QLockFile(str(self._lock_path))
        # Held until we end; whether the holder still lives is told by its process id.
        self._lock.setStaleLockTime(0)
        self._lines: dict[QLocalSocket, bytes] = {}
        """What each caller has said so far."""
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._on_connection)

    def hand_over(self, files: Sequence[str], *, patience_s: float = _PATIENCE_S) -> bool:
        """Give `files` to the window that runs: True. Without one, be the first from now on: False.

        Waits `patience_s` at most; raises FailureError where another instance lives but does not answer.
        """
        self._lock_path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        deadline = time.monotonic() + patience_s
        paths = [str(Path(file).absolute()) for file in files]
        while not self._lock.tryLock(0):
            if _hand_over(self._address, paths):
                return True
            if time.monotonic() >= deadline:
                message, hint = tr("no_answer"), tr("no_answer_hint")
                raise FailureError(Failure(kind=FailureKind.INTERNAL, message=message, hint=hint))
            time.sleep(0.1)
        # What a killed instance left behind.
        QLocalServer.removeServer(self._address)
        self._server.listen(self._address)
        return False

    def close(self) -> None:
        """Let another start be the first."""
        self._server.close()
        self._lock.unlock()

    def _on_connection(self) -> None:
        while (socket := self._server.nextPendingConnection()) is not None:
            self._lines[socket] = b""
            socket.readyRead.connect(self._read)
            socket.disconnected.connect(self._forget)

    def _read(self) -> None:
        """One line of JSON from another start, answered when it was understood."""
        for socket in [socket for socket in self._lines if socket.bytesAvailable()]:
            self._lines[socket] += bytes(socket.readAll().data())
            line = self._lines[socket]
            if line.endswith(b"\n") or len(line) > _MAX_BYTES:
                self._answer(socket, line)

    def _answer(self, socket: QLocalSocket, line: bytes) -> None:
        try:
            files = [os.fsdecode(name) for name in msgspec.json.decode(line[:_MAX_BYTES], type=list[bytes])]
        except (msgspec.DecodeError, UnicodeDecodeError):
            socket.abort()
            return
        socket.write(_TAKEN)
        socket.flush()
        socket.disconnectFromServer()
        self.files_received.emit(files)

    def _forget(self) -> None:
        for socket in [s for s in self._lines if s.state() is QLocalSocket.LocalSocketState.UnconnectedState]:
            del self._lines[socket]
            socket.deleteLater()


def _hand_over(address: str, paths: list[str]) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(500):
        return False
    # As bytes: a name need not be text.
    socket.write(msgspec.json.encode([os.fsencode(path) for path in paths]) + b"\n")
    socket.flush()
    return socket.waitForReadyRead(2000) and bytes(socket.readAll().data()) == _TAKEN
