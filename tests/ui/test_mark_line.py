"""Whoever reads a transcript sees where nothing could be heard, and where nobody listened."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.capture.notices import Mark, MarkKind
from app.ui.mark_line import MarkLine
from tests.helpers.window_rig import WindowRig


def line(rig: WindowRig) -> QLabel:
    found = rig.window.page.findChild(QLabel, "recording_marks")
    assert isinstance(found, QLabel)
    return found


def test_gaps_losses_and_pauses_are_told_with_their_times(qtbot: QtBot) -> None:
    marks = MarkLine()
    qtbot.addWidget(marks)
    marks.show_marks(
        [
            Mark(kind=MarkKind.GAP, start=12.0, end=20.5),
            Mark(kind=MarkKind.PAUSE, start=61.0, end=61.0),
            Mark(kind=MarkKind.LOST, start=70.1, end=70.4),
            Mark(kind=MarkKind.GAP, start=3700.0, end=3705.0),
        ]
    )
    told = ["No sound came: 0:12–0:20, 1:01:40–1:01:45", "Sound was lost: 1:10", "Paused: 1:01"]
    assert marks.text() == " · ".join(told)
    assert marks.toolTip() == "\n".join(told)


def test_the_marked_places_of_a_recording_are_on_its_page(rig: WindowRig, qtbot: QtBot) -> None:
    """They were stored, and shown nowhere: a gap looked like a person who was silent."""
    session = rig.record()
    assert not line(rig).isVisible()
    assert session.state.recording_id is not None
    rig.library.live.add_marks(session.state.recording_id, [Mark(kind=MarkKind.GAP, start=12.0, end=20.0)])
    session.end()
    qtbot.waitUntil(lambda: line(rig).isVisible())
    assert line(rig).text() == "No sound came: 0:12–0:20"
    (other,) = rig.add("other.wav")
    rig.window.side.list.choose(other)
    assert not line(rig).isVisible()
    rig.window.side.list.choose(session.state.recording_id)
    qtbot.waitUntil(lambda: line(rig).isVisible())
