"""The switch in the settings: a server that really runs, reached by what is copied from there."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx2
import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QLabel, QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from app.ui.server_box import ServerBox
from app.ui.server_switch import ServerPhase, ServerSwitch
from tests.helpers.processes import is_running
from tests.helpers.window_rig import WindowRig

START_MS = 30_000


@pytest.fixture
def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def switch(rig: WindowRig, free_port: int) -> Iterator[ServerSwitch]:
    rig.keeper.change(server_port=free_port)
    yield rig.server
    rig.server.close()


@pytest.fixture
def box(rig: WindowRig, switch: ServerSwitch, qtbot: QtBot) -> ServerBox:
    box = ServerBox(rig.keeper, switch)
    qtbot.addWidget(box)
    box.show()
    return box


def copied(box: ServerBox, name: str) -> str:
    button = box.findChild(QPushButton, f"settings_server_{name}_copy")
    assert button is not None
    button.click()
    return QGuiApplication.clipboard().text()


def turn(box: ServerBox, *, on: bool) -> None:
    check = box.findChild(QCheckBox, "settings_serves")
    assert check is not None
    check.setChecked(on)


def test_the_switch_opens_the_door_and_shuts_it(
    rig: WindowRig, box: ServerBox, switch: ServerSwitch, qtbot: QtBot, free_port: int
) -> None:
    assert not switch.url
    turn(box, on=True)
    assert rig.keeper.now.serves
    qtbot.wait_until(lambda: switch.phase is ServerPhase.ON, timeout=START_MS)
    address = box.findChild(QLineEdit, "settings_server_address")
    assert address is not None and address.text() == f"http://127.0.0.1:{free_port}/v1"
    url, key = copied(box, "address"), copied(box, "key")
    assert url == address.text()
    assert httpx2.get(f"{url}/models", timeout=30.0).status_code == 401
    answer = httpx2.get(f"{url}/models", headers={"authorization": f"Bearer {key}"}, timeout=30.0)
    assert answer.status_code == 200
    assert switch.pid is not None
    pid = switch.pid
    turn(box, on=False)
    assert switch.phase is ServerPhase.OFF
    assert not address.text()
    assert not is_running(pid)


def test_a_port_that_is_taken_is_told_in_the_settings(
    rig: WindowRig, box: ServerBox, switch: ServerSwitch, qtbot: QtBot, free_port: int
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", free_port))
        other.listen()
        turn(box, on=True)
        qtbot.wait_until(lambda: switch.phase is ServerPhase.FAILED, timeout=START_MS)
    remark = box.findChild(QLabel, "settings_server_remark")
    assert remark is not None and remark.isVisible()
    assert str(free_port) in remark.text()


def test_the_server_of_the_last_time_opens_with_the_window_and_ends_with_it(
    rig: WindowRig, switch: ServerSwitch, qtbot: QtBot
) -> None:
    switch.close()
    rig.keeper.change(serves=True)
    assert switch.phase is ServerPhase.OFF, "what is closed stays closed"
    another = ServerSwitch(rig.keeper)
    another.open()
    qtbot.wait_until(lambda: another.phase is ServerPhase.ON, timeout=START_MS)
    pid = another.pid
    assert pid is not None and is_running(pid)
    another.close()
    assert not is_running(pid)
    assert another.pid is None
