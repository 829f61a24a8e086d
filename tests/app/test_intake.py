"""Which dropped paths become rows, and what is said of the others."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.intake import MEDIA_SUFFIXES, take_in
from engine.protocol.failures import FailureKind


def make(folder: Path, *names: str, content: bytes = b"\0sound") -> list[str]:
    paths = []
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        paths.append(str(path))
    return paths


def test_files_are_taken_in_the_order_given_each_once(tmp_path: Path) -> None:
    b, a = make(tmp_path, "b.mp3", "a.wav")
    assert take_in([b, a, b]).files == (b, a)


@pytest.mark.parametrize(
    "name", ["UPPER.OPUS", "no_extension", "회의 (최종).m4a", ".hidden.opus", "a.strange"]
)
def test_a_file_named_by_hand_is_tried_unless_it_surely_is_something_else(tmp_path: Path, name: str) -> None:
    paths = make(tmp_path, name)
    assert take_in(paths).files == tuple(paths)


@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a.PNG", "a.docx", "a.srt", "a.zip", "a.html"])
def test_what_is_not_media_is_refused_by_name(tmp_path: Path, name: str) -> None:
    (refusal,) = take_in(make(tmp_path, name)).refused
    assert refusal.failure.kind is FailureKind.BAD_MEDIA
    assert name in refusal.failure.message


@pytest.mark.parametrize("name", ["list.m3u8", "list.pls", "live.mpd"])
def test_playlists_are_refused_as_such(tmp_path: Path, name: str) -> None:
    (refusal,) = take_in(make(tmp_path, name)).refused
    assert refusal.failure.kind is FailureKind.REFUSED_MEDIA


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    (refusal,) = take_in([str(tmp_path / "gone.wav")]).refused
    assert refusal.failure.kind is FailureKind.NOT_FOUND


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_what_is_no_file_at_all_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.wav")
    (refusal,) = take_in([str(tmp_path / "pipe.wav")]).refused
    assert refusal.failure.kind is FailureKind.BAD_MEDIA


def test_a_folder_gives_its_media_by_name_and_passes_over_the_rest(tmp_path: Path) -> None:
    make(tmp_path, "b.wav", "a.mp4", "sub/c.opus", "sub/memo", ".trash/d.wav", "._a.mp4", "notes.pdf")
    make(tmp_path, "README", "code.ts", content=b"plain text")
    make(tmp_path, "stream.ts")
    found = [Path(path).relative_to(tmp_path).as_posix() for path in take_in([str(tmp_path)]).files]
    assert found == [
        "a.mp4",
        "b.wav",
        "stream.ts",
        "sub/c.opus",
        "sub/memo",
    ]


def test_a_folder_without_media_is_refused_with_a_sentence(tmp_path: Path) -> None:
    folder = tmp_path / "Papers"
    folder.mkdir()
    make(folder, "a.pdf")
    (refusal,) = take_in([str(folder)]).refused
    assert "Papers" in refusal.failure.message


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_a_link_back_into_the_folder_does_not_go_round_for_ever(tmp_path: Path) -> None:
    make(tmp_path, "a.wav")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert len(take_in([str(tmp_path)]).files) == 1


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_a_broken_link_in_a_folder_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "memo").symlink_to(tmp_path / "gone")
    make(tmp_path, "a.wav")
    assert len(take_in([str(tmp_path)]).files) == 1


def test_relative_paths_become_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "a.wav")
    monkeypatch.chdir(tmp_path)
    assert take_in(["a.wav"]).files == (str(tmp_path / "a.wav"),)


def test_the_suffixes_are_written_as_the_file_dialog_needs_them() -> None:
    assert all(suffix == suffix.lower() and suffix.startswith(".") for suffix in MEDIA_SUFFIXES)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is text")
def test_a_name_that_is_no_text_is_said_and_the_others_are_taken(tmp_path: Path) -> None:
    (good,) = make(tmp_path, "a.wav")
    odd = os.fsencode(tmp_path) + b"/caf\xe9.wav"
    Path(os.fsdecode(odd)).write_bytes(b"\0sound")
    for paths in ([good, os.fsdecode(odd)], [str(tmp_path)]):
        intake = take_in(paths)
        assert intake.files == (good,)
        (refusal,) = intake.refused
        assert refusal.failure.message == "The name of “caf\ufffd.wav” is in no encoding that Jamak knows."
