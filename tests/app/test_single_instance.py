"""A second start hands its files to the first; a killed one leaves nothing in the way."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtNetwork import QLocalSocket
from pytestqt.qtbot import QtBot

from app.single_instance import SingleInstance
from engine.protocol.failures import FailureError

SECOND_START = """
import sys
from pathlib import Path
from app.single_instance import SingleInstance
folder = Path(sys.argv[1])
instance = SingleInstance(str(folder / "window.sock"), lock_path=folder / "window.lock")
print(instance.hand_over(sys.argv[2:]), flush=True)
sys.stdin.read()
"""


def start_another(folder: Path, *files: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SECOND_START, str(folder), *files],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def instance(folder: Path) -> SingleInstance:
    return SingleInstance(str(folder / "window.sock"), lock_path=folder / "window.lock")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # Socket paths may have about 100 characters; pytest's folders may be longer.
    short = Path("/tmp") / f"jamak-{os.getpid()}-{abs(hash(tmp_path)) % 10**6}"
    return short if sys.platform != "win32" else tmp_path


def test_a_second_start_hands_over_its_files(folder: Path, qtbot: QtBot) -> None:
    first = instance(folder)
    assert not first.hand_over(["ignored.wav"])
    with qtbot.wait_signal(first.files_received, timeout=20_000) as received:
        second = start_another(folder, "/media/회의 1.wav", "relative.mp3", "/media/\udcff.wav")
    wanted = ["/media/회의 1.wav", str(Path("relative.mp3").absolute()), "/media/\udcff.wav"]
    assert received.args == [wanted]
    assert second.communicate(timeout=20)[0] == "True\n"
    first.close()


def test_a_second_start_without_files_only_shows_the_window(folder: Path, qtbot: QtBot) -> None:
    first = instance(folder)
    first.hand_over([])
    with qtbot.wait_signal(first.files_received, timeout=20_000) as received:
        second = start_another(folder)
    assert received.args == [[]]
    second.communicate(timeout=20)
    first.close()


def test_only_the_user_may_call(folder: Path, qtbot: QtBot) -> None:
    first = instance(folder)
    first.hand_over([])
    assert stat.S_IMODE((folder / "window.sock").stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    first.close()


def test_after_a_kill_the_next_start_is_the_first(folder: Path, qtbot: QtBot) -> None:
    killed = start_another(folder)
    assert killed.stdout is not None
    assert killed.stdout.readline() == "False\n"
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert (folder / "window.sock").exists()
    next_start = instance(folder)
    assert not next_start.hand_over([])
    with qtbot.wait_signal(next_start.files_received, timeout=20_000):
        start_another(folder, "a.wav").communicate(timeout=20)
    next_start.close()


def test_after_closing_the_next_start_is_the_first(folder: Path, qtbot: QtBot) -> None:
    first = instance(folder)
    first.hand_over([])
    first.close()
    second = instance(folder)
    assert not second.hand_over([])
    second.close()


def test_an_instance_that_does_not_answer_is_said(folder: Path, qtbot: QtBot) -> None:
    """It lives and holds the lock, but its event loop stands still."""
    hanging = start_another(folder)
    assert hanging.stdout is not None
    hanging.stdout.readline()
    with pytest.raises(FailureError):
        instance(folder).hand_over(["a.wav"], patience_s=0.0)
    hanging.communicate(timeout=20)


def test_nonsense_from_a_caller_is_dropped(folder: Path, qtbot: QtBot) -> None:
    first = instance(folder)
    first.hand_over([])
    received: list[list[str]] = []
    first.files_received.connect(received.append)
    for nonsense in (b"not json\n", b'{"a": 1}\n', b"\xff\n", b"x" * 2_000_000):
        caller = QLocalSocket()
        caller.connectToServer(str(folder / "window.sock"))
        caller.write(nonsense)
        qtbot.wait_until(lambda c=caller: c.state() is QLocalSocket.LocalSocketState.UnconnectedState)  # type: ignore[misc]
    assert received == []
    first.close()
