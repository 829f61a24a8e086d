"""Inboxes, outboxes and their addresses: the only file that knows sockets.

Every process binds exactly one inbox (a PULL socket) and reads it on its loop's thread; everybody
else, its own helper threads included, connects an outbox (a PUSH socket; within a process the
messages do not leave its memory). Between the loops nothing is bounded here (the manager's window in
bytes bounds them), so a send never waits: it is taken at once, or refused where `max_messages` was
given and that many are on their way.

An address is a socket file in the private runtime folder. Where such sockets are not to be had it
is a port on the loopback with a key (CURVE), written `tcp://127.0.0.1:PORT#PUBLIC.SECRET`: whoever
binds needs both halves, whoever connects the first. The public half is told to our own processes
only, and without it nobody can begin to speak to the port.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import socket
import threading
import time
import uuid
import weakref
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
import zmq
from zmq.utils import z85

from engine.private_folder import make_private_folder, short_private_folder

log = logging.getLogger(__name__)

M = TypeVar("M")

MAX_DRAINED: Final = 1000
"""How many messages one `drain` takes at most, so that a flood cannot keep a loop from its turn."""
LINGER_S: Final = 2.0
"""How long an orderly ending waits for its last messages to be taken; 0 loses the last nearly always."""
LONGEST_SOCKET_PATH_BYTES: Final = 100
"""A socket's path must fit 104 bytes on macOS, 108 on Linux, its end included."""
NEW_FILE_S: Final = 10.0

# Sockets that are open in this process: a context can be ended safely only after the last of them.
_open_sockets: weakref.WeakSet[zmq.Socket[bytes]] = weakref.WeakSet()
# Places of the inboxes bound in this process: a helper thread's outbox takes the short way to them.
_bound_here: set[str] = set()


def new_address(runtime_folder: Path, name: str, generation: int) -> str:
    """Return an address that was never used before and never will be, even after a crash.

    Creates `runtime_folder` (mode 0700) where it is missing. Raises OSError where it belongs to
    somebody else.
    """
    unique = f"{name}-{generation}-{uuid.uuid4().hex[:8]}"
    if not has_socket_files():
        return _new_port_address()
    path = make_private_folder(runtime_folder) / f"{unique}.sock"
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH_BYTES:
        path = short_private_folder(runtime_folder) / path.name
    return f"ipc://{path}"


def has_socket_files() -> bool:
    """Say whether inboxes are socket files here; `JAMAK_FORCE_TCP` turns that off."""
    return zmq.has("ipc") and hasattr(socket, "AF_UNIX") and not os.environ.get("JAMAK_FORCE_TCP")


def public_address(address: str) -> str:
    """Return `address` without its secret half: what others may connect to."""
    place, _, keys = address.partition("#")
    return f"{place}#{keys.partition('.')[0]}" if keys else place


class Inbox(Generic[M]):
    """A process's one bound end. Used by one thread only, from its making to its closing."""

    def __init__(self, address: str, union: Any, *, max_messages: int | None = None) -> None:
        """Bind `address` and read what belongs to `union`. Raises OSError where it cannot be bound.

        With `max_messages`, senders that were bounded too feel a reader that does not read.
        """
        self.address = public_address(address)
        self._decoder: msgspec.msgpack.Decoder[M] = msgspec.msgpack.Decoder(union)
        place, _, keys = address.partition("#")
        self._socket = _open_socket(zmq.PULL)
        self._socket.rcvhwm = max_messages or 0
        if keys:
            self._socket.curve_server = True
            self._socket.curve_secretkey = z85.encode(bytes.fromhex(keys.partition(".")[2]))
        try:
            self._socket.bind(place)
            self._socket.bind(_short_way(place))
        except zmq.ZMQError as error:
            _close_socket(self._socket, linger_s=0.0)
            raise OSError(error.errno, f"cannot bind an inbox: {error}") from error
        self._place = place
        _bound_here.add(place)

    def drain(self, timeout_s: float | None) -> list[M]:
        """Wait for the first message, then take all there are, `MAX_DRAINED` at most.

        Waits `timeout_s` at most (None: for ever, 0: not at all). Empty where nothing came in time,
        or only what could not be read: that is logged and skipped.
        """
        messages: list[M] = []
        if not self._socket.poll(None if timeout_s is None else int(timeout_s * 1000 + 0.999)):
            return messages
        for _ in range(MAX_DRAINED):
            try:
                data = self._socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                break
            try:
                messages.append(self._decoder.decode(data))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                log.warning("skipped a message of %d bytes that cannot be read", len(data))
                log.debug("it says: %s", error)
        return messages

    def close(self) -> None:
        """Unbind; what was not drained is dropped. Closing twice is harmless."""
        _bound_here.discard(self._place)
        _close_socket(self._socket, linger_s=0.0)
        # libzmq leaves the file.
        remove_file_of(self._place)


class Outbox:
    """A connected end that never waits. One per thread and destination, or guarded by a lock."""

    def __init__(self, address: str, *, max_messages: int | None = None) -> None:
        """Connect to `address`; nobody need listen there yet. Raises OSError where it is none."""
        self._encoder = msgspec.msgpack.Encoder()
        place, _, keys = address.partition("#")
        self._socket = _open_socket(zmq.PUSH)
        self._socket.sndhwm = max_messages or 0
        try:
            if place in _bound_here:
                self._socket.connect(_short_way(place))
            else:
                self._connect(place, keys.partition(".")[0])
        except (zmq.ZMQError, ValueError) as error:
            self.close(linger_s=0)
            raise OSError(f"cannot connect an outbox: {error}") from error

    def put(self, message: msgspec.Struct) -> bool:
        """Send without waiting. False: the pipe is full, or the process is ending; nothing was sent."""
        try:
            self._socket.send(self._encoder.encode(message), zmq.NOBLOCK)
        except (zmq.Again, zmq.ContextTerminated):
            return False
        return True

    def close(self, linger_s: float = LINGER_S) -> None:
        """Close at once; what was put is still delivered in the background for `linger_s`."""
        _close_socket(self._socket, linger_s)

    def _connect(self, place: str, key: str) -> None:
        self._socket.reconnect_ivl = 20
        self._socket.reconnect_ivl_max = 1000
        if key:
            public, secret = zmq.curve_keypair()
            self._socket.curve_publickey, self._socket.curve_secretkey = public, secret
            self._socket.curve_serverkey = z85.encode(bytes.fromhex(key))
        self._socket.connect(place)


def flush(timeout_s: float = LINGER_S + 0.5) -> None:
    """Wait until closed outboxes have delivered or lingered; nothing can be sent afterwards.

    For a process that is about to end. Bounded, because a helper thread that is stuck somewhere
    may keep a socket open for ever.
    """
    ending = threading.Thread(target=zmq.Context.instance().term, daemon=True, name="ipc-flush")
    ending.start()
    ending.join(timeout_s)


def remove_file_of(address: str) -> None:
    """Remove the socket file of a process that is gone: nobody will ever bind its address again."""
    if address.startswith("ipc://"):
        with contextlib.suppress(OSError):
            Path(address.removeprefix("ipc://")).unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove the socket files in `folder` that nobody listens at any more."""
    for place in (folder, short_private_folder(folder, make=False)):
        for path in place.glob("*.sock"):
            with contextlib.suppress(OSError):
                # One that is just being bound has a file already, and no listener yet.
                is_new = time.time() - path.stat().st_mtime < NEW_FILE_S
                if not is_new and _is_deserted(path):
                    path.unlink()


def _is_deserted(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.2)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return True
        except OSError:
            return False
    return False


def _new_port_address() -> str:
    # The port is free now; should somebody take it before it is bound, the process ends and the
    # next one gets another. Nobody without the key can pass for it.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    public, secret = (z85.decode(key).hex() for key in zmq.curve_keypair())
    return f"tcp://127.0.0.1:{port}#{public}.{secret}"


def _short_way(place: str) -> str:
    return f"inproc://{place}"


def _open_socket(kind: int) -> zmq.Socket[bytes]:
    opened: zmq.Socket[bytes] = zmq.Context.instance().socket(kind)
    _open_sockets.add(opened)
    return opened


def _close_socket(closing: zmq.Socket[bytes], linger_s: float) -> None:
    _open_sockets.discard(closing)
    closing.close(linger=int(linger_s * 1000))


def _flush_at_exit() -> None:
    # A client's last word (Goodbye) must leave a process that returns from its main function. With
    # a socket still open the ending would wait for it, so then the last words are not waited for.
    if not _open_sockets:
        zmq.Context.instance().term()


atexit.register(_flush_at_exit)
