"""“Show in folder” marks the file where the desktop has a file manager that can."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.ui.reveal import mark_in_file_manager

PROGRAM = """
import subprocess, sys
from pathlib import Path
from PySide6.QtCore import QCoreApplication
from PySide6.QtDBus import QDBusConnection
from app.ui.reveal import mark_in_file_manager

app = QCoreApplication([])
path = Path(sys.argv[1])
print("before", mark_in_file_manager(path), flush=True)
monitor = subprocess.Popen(["dbus-monitor", "member=ShowItems"], stdout=subprocess.PIPE, text=True)
while "NameLost" not in monitor.stdout.readline():  # from then on it listens
    pass
manager = QDBusConnection.connectToBus(QDBusConnection.BusType.SessionBus, "manager")
assert manager.registerService("org.freedesktop.FileManager1")
print("after", mark_in_file_manager(path), flush=True)
while 'string ""' not in (line := monitor.stdout.readline()):
    print(line.strip())
monitor.kill()
"""


@pytest.mark.skipif(shutil.which("dbus-monitor") is None, reason="needs dbus's programs")
def test_the_file_manager_is_asked_to_show_the_file(tmp_path: Path) -> None:
    path = tmp_path / "회의 녹음.txt"
    path.touch()
    command = ["dbus-run-session", "--", sys.executable, "-c", PROGRAM, str(path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    lines = ended.stdout.splitlines()
    assert lines[:2] == ["before False", "after True"]
    assert any("array [" in line for line in lines)
    assert any("string" in line and "%ED%9A%8C%EC%9D%98%20%EB%85%B9%EC%9D%8C.txt" in line for line in lines)


def test_what_is_not_there_is_not_shown(tmp_path: Path) -> None:
    assert not mark_in_file_manager(tmp_path / "gone.txt")
