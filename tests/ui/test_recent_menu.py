"""What was opened last can be opened again."""

from __future__ import annotations

from pathlib import Path

from app.ui.recent_menu import MAX_RECENT, labels, with_opened
from tests.helpers.window_rig import WindowRig


def entries(rig: WindowRig) -> list[str]:
    rig.window.recent.fill()
    return [entry.text() for entry in rig.window.recent.actions() if not entry.isSeparator()]


def choose(rig: WindowRig, text: str) -> None:
    rig.window.recent.fill()
    next(entry for entry in rig.window.recent.actions() if text in entry.text()).trigger()


def test_the_newest_comes_first_each_once_and_few_are_kept() -> None:
    assert with_opened(["a", "b"], ["c", "b"]) == ("b", "c", "a")
    assert len(with_opened([], map(str, range(30)))) == MAX_RECENT


def test_two_of_one_name_are_told_apart_by_their_folders() -> None:
    assert labels(["/x/a.wav", "/y/a.wav", "/y/b.wav"]) == ["a.wav – x", "a.wav – y", "b.wav"]


def test_opened_files_are_listed_and_kept_for_the_next_start(rig: WindowRig) -> None:
    assert not rig.window.recent.isEnabled()
    rig.window.drop_in.take([rig.make_file("one.wav"), rig.make_file("회의 & 녹음.wav")])
    assert entries(rig) == ["&1  회의 && 녹음.wav", "&2  one.wav", "&Clear the list"]
    assert [Path(path).name for path in rig.keeper.now.recent_files] == ["회의 & 녹음.wav", "one.wav"]


def test_what_is_in_the_library_is_shown_and_not_added_again(rig: WindowRig) -> None:
    rig.window.drop_in.take([rig.make_file("one.wav"), rig.make_file("two.wav")])
    first, second = [row.recording.id for row in rig.desk.rows()]
    assert rig.window.side.list.current_id == first
    choose(rig, "two.wav")
    assert rig.window.side.list.current_id == second
    assert len(rig.desk.rows()) == 2


def test_what_was_removed_is_added_again(rig: WindowRig) -> None:
    rig.window.drop_in.take([rig.make_file("one.wav")])
    rig.desk.remove([row.recording.id for row in rig.desk.rows()])
    choose(rig, "one.wav")
    assert [row.recording.name for row in rig.desk.rows()] == ["one.wav"]


def test_a_file_that_is_gone_is_said_and_forgotten(rig: WindowRig) -> None:
    path = rig.make_file("one.wav")
    rig.window.drop_in.take([path])
    Path(path).unlink()
    choose(rig, "one.wav")
    assert any("“one.wav”" in text for text in rig.window.notices.texts())
    assert not rig.window.recent.isEnabled()


def test_the_list_can_be_cleared(rig: WindowRig) -> None:
    rig.window.drop_in.take([rig.make_file("one.wav")])
    choose(rig, "Clear")
    assert rig.keeper.now.recent_files == ()


def test_a_long_name_does_not_widen_the_menu(rig: WindowRig) -> None:
    name = f"{'a very long name ' * 12}.wav"
    path = rig.make_file(name)
    rig.window.drop_in.take([path])
    shown = entries(rig)[0]
    assert shown.startswith("&1  a very")
    assert shown.endswith(".wav")
    assert len(shown) < len(name)
    assert rig.window.recent.actions()[0].toolTip() == path
    assert rig.window.recent.toolTipsVisible()
