from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from engine.rendezvous import NOTE_NAME, EngineNote, FileLock, Rendezvous, disown_engine

NOTE = EngineNote(pid=os.getpid(), address="ipc:///x", owner="gui-1")


def test_a_lock_is_held_by_one_alone(tmp_path: Path) -> None:
    first, second = FileLock(tmp_path / "lock"), FileLock(tmp_path / "lock")
    assert first.try_take()
    assert not second.try_take()
    assert not second.take_within(0.05)
    first.release()
    assert second.take_within(0.05)
    second.release()


def test_a_lock_is_free_when_its_holder_was_killed(tmp_path: Path) -> None:
    holder = "import sys; from pathlib import Path; from engine.rendezvous import FileLock\n"
    holder += "assert FileLock(Path(sys.argv[1])).try_take(); print('taken', flush=True); sys.stdin.read()"
    process = subprocess.Popen(
        [sys.executable, "-c", holder, str(tmp_path / "lock")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline() == b"taken\n"
    lock = FileLock(tmp_path / "lock")
    assert not lock.try_take()
    process.kill()
    process.wait()
    assert lock.take_within(5.0)
    lock.release()
    process.stdin.close()
    process.stdout.close()


def test_an_engine_lives_as_long_as_its_lock_is_held(tmp_path: Path) -> None:
    engine, client = Rendezvous(tmp_path), Rendezvous(tmp_path)
    assert not client.is_engine_alive()
    assert engine.living.try_take()
    assert client.is_engine_alive()
    engine.living.release()
    assert not client.is_engine_alive()


def test_a_note_is_for_the_user_alone_and_can_be_taken_away(tmp_path: Path) -> None:
    meeting = Rendezvous(tmp_path)
    assert meeting.read() is None
    meeting.publish(NOTE)
    assert meeting.read() == NOTE
    assert stat.S_IMODE((tmp_path / NOTE_NAME).stat().st_mode) == 0o600
    meeting.withdraw()
    meeting.withdraw()
    assert meeting.read() is None


@pytest.mark.parametrize("junk", [b"", b"{", b'{"pid": "x"}', b"\xff\xfe", b"[]"])
def test_a_broken_note_is_no_note(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / NOTE_NAME).write_bytes(junk)
    assert Rendezvous(tmp_path).read() is None


def test_an_engine_disowns_itself_and_nobody_else(tmp_path: Path) -> None:
    meeting = Rendezvous(tmp_path)
    meeting.publish(NOTE)
    disown_engine(str(tmp_path))
    mine = meeting.read()
    assert mine is not None
    assert mine.owner is None
    another = EngineNote(pid=os.getpid() + 1, address="ipc:///y", owner="gui-2")
    meeting.publish(another)
    disown_engine(str(tmp_path))
    assert meeting.read() == another
