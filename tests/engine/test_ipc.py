from __future__ import annotations

import os
import shutil
import socket
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
import zmq

from engine import ipc
from engine.ipc import Inbox, Outbox, new_address, public_address
from engine.messages import Abort, FreezeGC, SchedulerMessage


@pytest.fixture(params=["file", "port"], autouse=True)
def wire(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every test runs over socket files and over ports with keys."""
    if request.param == "port":
        monkeypatch.setenv("JAMAK_FORCE_TCP", "1")
    return str(request.param)


def _outside(address: str) -> str:
    """Return the address as another process would reach it: by another name, so never the short way."""
    return address.replace("ipc:///", "ipc:////").replace("127.0.0.1", "localhost")


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox[SchedulerMessage]]:
    opened: Inbox[SchedulerMessage] = Inbox(new_address(tmp_path, "test", 1), SchedulerMessage)
    yield opened
    opened.close()


def _drain(inbox: Inbox[SchedulerMessage], num: int) -> list[SchedulerMessage]:
    messages: list[SchedulerMessage] = []
    end_s = time.monotonic() + 30.0
    while len(messages) < num:
        # What cannot be read wakes it too, and is nothing.
        messages += inbox.drain(1.0)
        assert time.monotonic() < end_s, f"only {len(messages)} of {num} arrived"
    return messages


def test_messages_arrive_in_order(inbox: Inbox[SchedulerMessage]) -> None:
    for address in (inbox.address, _outside(inbox.address)):
        outbox = Outbox(address)
        for index in range(5000):
            assert outbox.put(Abort(job=str(index)))
        assert _drain(inbox, 5000) == [Abort(job=str(index)) for index in range(5000)]
        outbox.close()


def test_an_outbox_may_be_connected_before_anybody_listens(tmp_path: Path) -> None:
    address = new_address(tmp_path, "late", 1)
    outbox = Outbox(public_address(address))
    outbox.put(FreezeGC())
    inbox: Inbox[SchedulerMessage] = Inbox(address, SchedulerMessage)
    assert _drain(inbox, 1) == [FreezeGC()]
    inbox.close()
    outbox.close()


def test_a_drain_takes_no_more_than_its_limit(inbox: Inbox[SchedulerMessage]) -> None:
    outbox = Outbox(inbox.address)
    for _ in range(ipc.MAX_DRAINED + 50):
        outbox.put(FreezeGC())
    outbox.close()
    taken: list[int] = []
    while sum(taken) < ipc.MAX_DRAINED + 50:
        taken.append(len(inbox.drain(10.0)))
    assert max(taken) <= ipc.MAX_DRAINED


def test_nothing_to_drain_is_no_message(inbox: Inbox[SchedulerMessage]) -> None:
    assert inbox.drain(0) == []
    assert inbox.drain(0.01) == []


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"\xc1",
        b"not msgpack at all",
        msgspec.msgpack.encode({"type": "Abort"}),
        msgspec.msgpack.encode({"type": "Abort", "job": 5}),
        msgspec.msgpack.encode({"type": "RunThis", "code": "import os"}),
        msgspec.msgpack.encode({"type": "Abort", "job": "x" * 1000})[:-5],
        b"\x82\xa4type\xa5Abort\xa3job\xa2\xff\xfe",
    ],
)
def test_what_cannot_be_read_is_skipped(
    inbox: Inbox[SchedulerMessage], junk: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    outbox = Outbox(_outside(inbox.address))
    outbox._socket.send(junk)
    outbox.put(Abort(job="after"))
    assert _drain(inbox, 1) == [Abort(job="after")]
    assert "cannot be read" in caplog.text
    assert "job" not in caplog.text
    outbox.close()


def test_a_full_pipe_refuses_and_takes_again_when_it_is_read(tmp_path: Path) -> None:
    inbox: Inbox[SchedulerMessage] = Inbox(
        new_address(tmp_path, "slow", 1), SchedulerMessage, max_messages=10
    )
    outbox = Outbox(_outside(inbox.address), max_messages=10)
    large = Abort(job="x" * 100_000)
    num_taken = 0
    while outbox.put(large):
        num_taken += 1
        assert num_taken < 10_000, "the pipe never fills"
    assert len(_drain(inbox, num_taken)) == num_taken
    while not outbox.put(FreezeGC()):
        pass
    assert _drain(inbox, 1) == [FreezeGC()]
    outbox.close()
    inbox.close()


def test_without_a_bound_a_pipe_takes_everything(tmp_path: Path) -> None:
    outbox = Outbox(public_address(new_address(tmp_path, "nobody", 1)))
    assert all(outbox.put(FreezeGC()) for _ in range(20_000))
    outbox.close(linger_s=0)


def test_a_closed_inbox_leaves_no_file(tmp_path: Path) -> None:
    inbox: Inbox[SchedulerMessage] = Inbox(new_address(tmp_path, "x", 1), SchedulerMessage)
    inbox.close()
    inbox.close()
    assert list(tmp_path.iterdir()) == []


def test_an_address_is_never_given_twice(tmp_path: Path) -> None:
    addresses = {new_address(tmp_path, "scheduler", 1) for _ in range(100)}
    assert len(addresses) == 100


def test_the_runtime_folder_is_closed_to_others(tmp_path: Path, wire: str) -> None:
    folder = tmp_path / "run"
    folder.mkdir(mode=0o755)
    new_address(folder, "x", 1)
    if wire == "file":
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_is_too_deep_for_a_socket_has_a_stand_in(tmp_path: Path, wire: str) -> None:
    address = new_address(tmp_path / ("deep " * 30), "manager", 1)
    inbox: Inbox[SchedulerMessage] = Inbox(address, SchedulerMessage)
    outbox = Outbox(inbox.address)
    outbox.put(FreezeGC())
    assert _drain(inbox, 1) == [FreezeGC()]
    outbox.close()
    inbox.close()
    if wire == "file":
        shutil.rmtree(Path(address.removeprefix("ipc://")).parent)


def test_the_secret_half_of_an_address_is_for_its_binder_alone(
    inbox: Inbox[SchedulerMessage], wire: str
) -> None:
    address = new_address(Path("unused") if wire == "port" else Path(inbox.address[6:]).parent, "x", 1)
    public = public_address(address)
    assert address.startswith(public)
    assert ("." in address.partition("#")[2]) == (wire == "port")
    assert "." not in public.partition("#")[2]


def test_a_stranger_without_the_key_is_not_heard(inbox: Inbox[SchedulerMessage], wire: str) -> None:
    if wire == "file":
        pytest.skip("a socket file needs no key: the folder is closed")
    place = _outside(inbox.address).partition("#")[0]
    without_key: zmq.Socket[bytes] = zmq.Context.instance().socket(zmq.PUSH)
    without_key.connect(place)
    without_key.send(msgspec.msgpack.encode(Abort(job="stranger")))
    another_key = new_address(Path("unused"), "x", 1).partition("#")[2]
    wrong_key = Outbox(f"{place}#{another_key}")
    wrong_key.put(Abort(job="stranger"))
    friend = Outbox(_outside(inbox.address))
    friend.put(Abort(job="friend"))
    assert _drain(inbox, 1) == [Abort(job="friend")]
    assert inbox.drain(0.3) == []
    wrong_key.close(linger_s=0)
    friend.close()
    without_key.close(linger=0)


@pytest.mark.parametrize(
    "address", ["", "nonsense", "tcp://127.0.0.1:x#y", "http://a.b", "tcp://127.0.0.1:1#ab"]
)
def test_an_address_that_is_none_is_an_error_of_the_system(address: str) -> None:
    with pytest.raises(OSError, match="cannot connect"):
        Outbox(address)


def test_helper_threads_reach_their_own_loop(inbox: Inbox[SchedulerMessage]) -> None:
    def speak(name: str) -> None:
        outbox = Outbox(inbox.address)
        for _ in range(100):
            outbox.put(Abort(job=name))
        outbox.close()

    threads = [threading.Thread(target=speak, args=(str(index),)) for index in range(8)]
    for thread in threads:
        thread.start()
    heard = [message.job for message in _drain(inbox, 800) if isinstance(message, Abort)]
    assert sorted(set(heard)) == [str(index) for index in range(8)]
    for thread in threads:
        thread.join()


def test_deserted_socket_files_are_swept_and_living_ones_stay(tmp_path: Path, wire: str) -> None:
    if wire == "port":
        pytest.skip("ports leave no files")
    dead = tmp_path / "manager-1-dead.sock"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(dead))
    os.utime(dead, (0, 0))
    address = new_address(tmp_path, "client", 1)
    inbox: Inbox[SchedulerMessage] = Inbox(address, SchedulerMessage)
    living = Path(address.removeprefix("ipc://"))
    os.utime(living, (0, 0))
    ipc.sweep(tmp_path)
    assert not dead.exists()
    assert living.exists()
    outbox = Outbox(inbox.address)
    outbox.put(FreezeGC())
    assert _drain(inbox, 1) == [FreezeGC()]
    outbox.close()
    inbox.close()
