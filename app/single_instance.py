"""One window at a time: a second start hands its files over to the first, and ends."""

from __future__ import annotations

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

    files_received = Signal(list)

    def __init__(self, address: str, parent: QObject | None = None, *, lock_path: Path | None = None) -> None:
        super().__init__(parent)
        self._address = address
        self._lock_path = lock_path or instance_lock_path()
        self._lock = QLockFile(str(self._lock_path))
        # Held until we end; whether the holder still lives is told by its process id.
        self._lock.setStaleLockTime(0)
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
            _Caller(socket, self)


class _Caller(QObject):
    """One connection of another start: one line of JSON, answered when it was understood."""

    def __init__(self, socket: QLocalSocket, instance: SingleInstance) -> None:
        super().__init__(socket)
        self._socket = socket
        self._instance = instance
        self._line = b""
        socket.readyRead.connect(self._read)
        socket.disconnected.connect(socket.deleteLater)
        self._read()

    def _read(self) -> None:
        self._line += bytes(self._socket.readAll().data())
        if len(self._line) > _MAX_BYTES:
            self._socket.abort()
        elif self._line.endswith(b"\n"):
            line, self._line = self._line, b""
            try:
                files = msgspec.json.decode(line, type=list[str])
            except (msgspec.DecodeError, UnicodeDecodeError):
                self._socket.abort()
                return
            self._socket.write(_TAKEN)
            self._socket.disconnectFromServer()
            self._instance.files_received.emit(files)


def _hand_over(address: str, paths: list[str]) -> bool:
    socket = QLocalSocket()
    socket.connectToServer(address)
    if not socket.waitForConnected(500):
        return False
    socket.write(msgspec.json.encode(paths) + b"\n")
    socket.flush()
    return socket.waitForReadyRead(2000) and bytes(socket.readAll().data()) == _TAKEN
