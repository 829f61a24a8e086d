"""Opens the door and keeps it open until a signal, or whoever holds our stdin, says that it is enough."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import uvicorn

from engine.client.client import EngineClient
from engine.config import EngineConfig
from engine.rendezvous import FileLock
from engine.server.app import make_app
from engine.server.bridge import Bridge, ClientMaker
from engine.server.config import ServerConfig, is_loopback
from engine.server.door import Door
from engine.server.places import Places

LOCK_NAME: Final = "lock"
_STDIN: Final = 0
_ABANDONED_S: Final = 24 * 3600.0
_GRACE_S: Final = 5
"""What answers that are being sent may take once the server is asked to end."""


def run_server(
    config: ServerConfig,
    engine: EngineConfig,
    listener: socket.socket,
    *,
    ends_with_stdin: bool = False,
    make_client: ClientMaker = EngineClient,
) -> None:
    """Serve on `listener` until SIGINT, SIGTERM or, with `ends_with_stdin`, the end of stdin.

    Nothing of it is left then: no engine that nobody else uses, no upload. Raises OSError where uploads
    cannot be kept.
    """
    assert config.api_key is not None or is_loopback(config.host), "others need a key"
    with folder_below(Path(config.uploads_folder)) as uploads:
        door = Door(
            config=config,
            bridge=Bridge(engine, make_client),
            places=Places(config.max_jobs),
            uploads=uploads,
        )
        _Server(door, ends_with_stdin=ends_with_stdin).run(sockets=[listener])


def listen_on(host: str, port: int) -> socket.socket:
    """Return a listening socket on this one address. Raises OSError."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            # On Windows it would let another program take the port away.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def url_of(listener: socket.socket) -> str:
    """Return where a listening socket is reached."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


@contextlib.contextmanager
def folder_below(root: Path) -> Iterator[Path]:
    """Make a folder for one run; those of runs that were killed long ago go with it."""
    root.mkdir(parents=True, exist_ok=True, mode=0o700)
    for old in root.iterdir():
        _remove_if_abandoned(old)
    folder = Path(tempfile.mkdtemp(dir=root))
    # An idle server's folder looks as old as one that was left behind.
    lock = FileLock(folder / LOCK_NAME)
    lock.try_take()
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_if_abandoned(folder: Path) -> None:
    with contextlib.suppress(OSError):
        lock = FileLock(folder / LOCK_NAME)
        if time.time() - folder.stat().st_mtime > _ABANDONED_S and lock.try_take():
            lock.release()
            shutil.rmtree(folder, ignore_errors=True)


class _Server(uvicorn.Server):
    """Uvicorn, but that it ends with code 0 when asked to, and open jobs are answered before."""

    def __init__(self, door: Door, *, ends_with_stdin: bool) -> None:
        super().__init__(
            uvicorn.Config(
                make_app(door),
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=_GRACE_S,
                ws_max_size=1 << 22,
            )
        )
        self._door = door
        self._ends_with_stdin = ends_with_stdin

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals for as long as the server runs; the process then goes on to its own end."""
        loop = asyncio.get_running_loop()
        asked = (signal.SIGINT, signal.SIGTERM)
        before = {one: signal.signal(one, lambda *_: loop.call_soon_threadsafe(self._end)) for one in asked}
        if self._ends_with_stdin:
            threading.Thread(target=self._await_stdin, args=(loop,), daemon=True, name="lifeline").start()
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _await_stdin(self, loop: asyncio.AbstractEventLoop) -> None:
        with contextlib.suppress(OSError):
            while os.read(_STDIN, 4096):
                pass
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(self._end)

    def _end(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._door.bridge.end_all()
