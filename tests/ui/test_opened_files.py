"""A file that the system wants opened is told to whoever takes files."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QFileOpenEvent
from pytestqt.qtbot import QtBot

from app.ui.opened_files import OpenedFiles


def test_a_file_opened_from_the_desktop_arrives(qtbot: QtBot) -> None:
    app = QCoreApplication.instance()
    assert app is not None
    opened = OpenedFiles(app)
    event = QFileOpenEvent(QUrl.fromLocalFile("/music/회의 녹음.m4a"))
    with qtbot.waitSignal(opened.files_received) as received:
        assert QCoreApplication.sendEvent(app, event)
    assert received.args == [["/music/회의 녹음.m4a"]]
    app.removeEventFilter(opened)


def test_an_address_is_no_file(qtbot: QtBot) -> None:
    app = QCoreApplication.instance()
    assert app is not None
    opened = OpenedFiles(app)
    with qtbot.assertNotEmitted(opened.files_received):
        QCoreApplication.sendEvent(app, QFileOpenEvent(QUrl("https://example.org/a.mp3")))
    app.removeEventFilter(opened)
