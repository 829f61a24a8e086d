"""Sentences that need no answer."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.ui.notices import MAX_SHOWN, Choice, NoticeBar


@pytest.fixture
def bar(qtbot: QtBot) -> NoticeBar:
    made = NoticeBar()
    qtbot.addWidget(made)
    return made


def test_a_bar_without_notices_takes_no_room(bar: NoticeBar) -> None:
    assert not bar.isVisible()
    bar.tell("hello")
    assert bar.isVisible()
    bar.withdraw("hello")
    assert not bar.isVisible()


def test_a_choice_acts_once_and_closes_its_notice(bar: NoticeBar) -> None:
    pressed: list[str] = []
    bar.tell("Removed.", Choice("Undo", lambda: pressed.append("undo")), key="removed")
    button = bar.findChild(QPushButton, "notice_choice_0")
    assert button is not None
    button.click()
    assert pressed == ["undo"]
    assert bar.texts() == []


def test_the_same_thing_told_again_replaces_what_was_told(bar: NoticeBar) -> None:
    bar.tell("one file was left out", key="refused")
    bar.tell("two files were left out", key="refused")
    assert bar.texts() == ["two files were left out"]


def test_the_oldest_makes_room(bar: NoticeBar) -> None:
    for number in range(MAX_SHOWN + 1):
        bar.tell(f"notice {number}")
    assert bar.texts() == [f"notice {number}" for number in range(1, MAX_SHOWN + 1)]


def test_a_passing_notice_goes_by_itself(bar: NoticeBar, qtbot: QtBot) -> None:
    bar.tell("copied", lasts_s=0.01)
    qtbot.waitUntil(lambda: bar.texts() == [])


def test_a_notice_is_dismissed_by_its_cross(bar: NoticeBar) -> None:
    bar.tell("hello")
    cross = bar.findChild(QToolButton, "notice_dismiss")
    assert cross is not None
    cross.click()
    assert bar.texts() == []
