"""What the library promises: nothing stored is lost, nothing unstorable is silent, everything is found."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from app.library import Library, RowState, connect
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Options, Task, Word
from tests.helpers.engine_stories import segment
from tests.helpers.full_disk import FullDisk


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "library.db"


@pytest.fixture
def library(path: Path) -> Iterator[Library]:
    library = Library(path)
    yield library
    library.close()


def test_a_new_row_is_queued_behind_all_others(library: Library) -> None:
    first = library.add("/media/a.wav", Options())
    second = library.add("/media/b.wav", Options(task=Task.TRANSLATE, language="ko"))
    assert [row.id for row in library.recordings()] == [first.id, second.id]
    assert second.state is RowState.QUEUED
    assert second.name == "b.wav"
    assert library.recording(second.id) == second
    assert second.options == Options(task=Task.TRANSLATE, language="ko")


def test_everything_of_a_row_survives_closing(path: Path) -> None:
    library = Library(path)
    row = library.add("/media/a.wav", Options())
    changed = msgspec.structs.replace(
        row,
        state=RowState.FAILED,
        model="whisper-base",
        language="ko",
        language_probability=0.75,
        duration=12.5,
        ended_at=1.0,
        failure=failure(FailureKind.BAD_MEDIA, "a.wav", "detail"),
        file_size=123,
        file_mtime_ns=2**62,
        deaths=2,
        starts_over=True,
    )
    library.update(changed)
    library.close()
    reopened = Library(path)
    assert reopened.recordings() == [changed]
    assert reopened.opened.set_aside is None
    reopened.close()


def test_two_processes_may_open_a_new_library_at_once(path: Path) -> None:
    libraries: list[Library] = []
    threads = [threading.Thread(target=lambda: libraries.append(Library(path))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [library.opened.set_aside for library in libraries] == [None] * 4
    for library in libraries:
        library.close()


def test_set_state_keeps_the_rest_of_the_row(library: Library) -> None:
    row = library.add("/media/a.wav", Options())
    reason = failure(FailureKind.NO_AUDIO, "a.wav")
    assert library.set_state(row.id, RowState.FAILED, reason).failure == reason
    assert library.recording(row.id) == msgspec.structs.replace(row, state=RowState.FAILED, failure=reason)
    with pytest.raises(KeyError):
        library.set_state(99, RowState.DONE)


def test_segments_come_back_in_order_with_their_words(library: Library) -> None:
    row = library.add("/media/a.wav", Options())
    word = Word(text=" one", start=0.0, end=0.5, probability=0.9)
    first = library.add_segment(row.id, msgspec.structs.replace(segment(" one", 0, 0.5), words=(word,)))
    second = library.add_segment(row.id, segment(" two", 0.5, 1.25))
    assert library.segments(row.id) == [first, second]
    assert first.words == (word,)
    assert [first.index, second.index] == [0, 1]
    stored = library.recording(row.id)
    assert stored is not None
    assert stored.stored_until == 1.25
    assert stored.resume_at_sample == 20_000


def test_a_stored_segment_survives_kill_9(path: Path) -> None:
    """The row of a killed app resumes behind its last segment: that segment must really be there."""
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    child = context.Process(target=_store_and_hang, args=(str(path), ready))
    child.start()
    assert ready.wait(60)
    assert child.pid is not None
    os.kill(child.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
    child.join()
    library = Library(path)
    (row,) = library.recordings()
    assert [s.text for s in library.segments(row.id)] == [f" number {n}" for n in range(100)]
    assert library.add_segment(row.id, segment(" more", 100, 101)).index == 100
    assert library.search("number 99")[0].start == 99
    library.close()


def _store_and_hang(path: str, ready: threading.Event) -> None:
    library = Library(Path(path))
    row = library.add("/media/a.wav", Options())
    for number in range(100):
        library.add_segment(row.id, segment(f" number {number}", number, number + 1))
    library.flush()
    ready.set()
    threading.Event().wait()


def test_an_edit_keeps_what_was_recognised(library: Library) -> None:
    row = library.add("/media/a.wav", Options())
    stored = library.add_segment(row.id, segment(" Jammock", 0, 1))
    edited = library.edit_segment(stored.id, " Jamak")
    assert edited.text == " Jamak"
    assert edited.is_edited
    assert library.segments(row.id) == [edited]
    assert library.recognised_text(stored.id) == " Jammock"
    assert library.transcript(row.id).segments[0].text == " Jamak"
    assert not library.edit_segment(stored.id, " Jammock").is_edited
    with pytest.raises(KeyError):
        library.edit_segment(99, "x")
    with pytest.raises(KeyError):
        library.recognised_text(99)


def test_a_transcript_says_where_it_comes_from(library: Library) -> None:
    row = library.add("/media/talk.mp4", Options(task=Task.TRANSLATE))
    library.update(msgspec.structs.replace(row, language="ko", language_probability=0.5, duration=3.0))
    library.add_segment(row.id, segment(" hi", 0, 1))
    transcript = library.transcript(row.id)
    assert (transcript.source, transcript.language, transcript.task) == ("talk.mp4", "ko", Task.TRANSLATE)
    assert transcript.model == "whisper-base"
    with pytest.raises(KeyError):
        library.transcript(99)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        (" 오늘 회의를 시작하겠습니다.", "회의"),
        (" 오늘 회의를 시작하겠습니다.", "시작하겠"),
        (" 今日の会議を始めます。", "会議"),
        (" 我们开始今天的会议。", "会"),
        (" The Exhibition of arts", "exhibit"),
        (" The Exhibition of arts", "arts THE"),
        (" Straße", "strasse"),
        (" ＦＵＬＬ ｗｉｄｔｈ", "full width"),
        (' say "quote" and 100% * (really)', '"quote" 100%'),
        (" cafe\u0301", "café"),
        (" 한국어", "한국어"),
    ],
)
def test_search_finds_words_in_any_script(library: Library, text: str, query: str) -> None:
    row = library.add("/media/a.wav", Options())
    library.add_segment(row.id, segment(" nothing to see", 0, 1))
    stored = library.add_segment(row.id, segment(text, 1, 2))
    (hit,) = library.search(query)
    assert (hit.segment_id, hit.recording_id, hit.start, hit.name) == (stored.id, row.id, 1, "a.wav")
    assert hit.matches
    assert all(hit.snippet[begin:end] for begin, end in hit.matches)


def test_search_follows_edits_and_leaves_removed_rows_out(library: Library) -> None:
    row = library.add("/media/a.wav", Options())
    stored = library.add_segment(row.id, segment(" wrong word", 0, 1))
    library.edit_segment(stored.id, " right word")
    assert library.search("wrong") == []
    assert len(library.search("right")) == 1
    library.remove([row.id])
    assert library.search("right") == []
    library.restore([row.id])
    assert len(library.search("right")) == 1
    library.clear_segments(row.id)
    assert library.search("right") == []
    assert library.search("  ") == []


def test_rows_keep_the_order_they_are_given(library: Library) -> None:
    ids = [library.add(f"/media/{name}.wav", Options()).id for name in "abcd"]
    library.reorder([ids[2], ids[0], ids[1]])
    assert [row.id for row in library.recordings()] == [ids[2], ids[0], ids[1], ids[3]]


def test_a_removed_row_can_come_back(library: Library) -> None:
    row = library.add("/media/a.wav", Options())
    library.add_segment(row.id, segment(" kept", 0, 1))
    library.remove([row.id])
    assert library.recordings() == []
    assert library.find_same("/media/a.wav") is None
    library.restore([row.id])
    assert [r.id for r in library.recordings()] == [row.id]
    assert [s.text for s in library.segments(row.id)] == [" kept"]


def test_a_row_removed_long_ago_is_purged_with_its_transcript(path: Path) -> None:
    library = Library(path)
    row = library.add("/media/a.wav", Options())
    library.add_segment(row.id, segment(" secret", 0, 1))
    library.remove([row.id])
    library.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE recordings SET removed_at = removed_at - 8 * 24 * 3600")
    connection.close()
    reopened = Library(path)
    assert reopened.recording(row.id) is None
    assert reopened.segments(row.id) == []
    reopened.close()


def test_the_same_file_is_known_by_any_of_its_paths(library: Library, tmp_path: Path) -> None:
    real = tmp_path / "a.wav"
    real.write_bytes(b"x")
    row = library.add(str(real), Options())
    assert library.find_same(str(tmp_path / "." / "b" / ".." / "a.wav")) == row
    link = tmp_path / "link.wav"
    link.symlink_to(real)
    assert library.find_same(str(link)) == row
    assert library.find_same(str(tmp_path / "other.wav")) is None


@pytest.mark.parametrize("damage", ["garbage", "head", "rows", "middle", "cut"])
def test_a_damaged_database_is_set_aside_and_said(path: Path, damage: str) -> None:
    library = Library(path)
    row = library.add("/media/a.wav", Options())
    for number in range(500):
        library.add_segment(row.id, segment(f" text number {number} of many", number, number + 1))
    library.close()
    content = path.read_bytes()
    half = len(content) // 8192 * 4096
    damaged = {
        "garbage": b"this is not a database" * 1000,
        "head": b"\xff" * 100 + content[100:],
        "rows": content[:4096] + b"\xff" * 4096 + content[8192:],
        "middle": content[:half] + b"\xff" * 4096 + content[half + 4096 :],
        "cut": content[:half],
    }[damage]
    path.write_bytes(damaged)
    fresh = Library(path)
    assert fresh.opened.set_aside is not None
    assert fresh.opened.set_aside.read_bytes() == damaged
    names = [recording.name for recording in fresh.recordings()]
    texts = [stored.text for stored in fresh.segments(row.id)]
    wanted_name, min_texts = {
        "garbage": ([], 0),
        "head": ([], 0),
        "rows": ([f"recovered-{row.id}"], 500),
        "middle": (["a.wav"], 400),
        "cut": (["a.wav"], 100),
    }[damage]
    assert names == wanted_name
    assert fresh.opened.num_rescued == len(names)
    assert len(texts) >= min_texts
    assert set(texts) <= {f" text number {number} of many" for number in range(500)}
    assert len(fresh.search("number 7")) == sum("7" in text for text in texts)
    assert fresh.add("/media/b.wav", Options()).name == "b.wav"
    fresh.close()


def test_damage_met_while_in_use_is_said_and_repaired_at_the_next_start(path: Path) -> None:
    """A large library is not checked whole at every start: what a reader meets has it checked."""
    library = Library(path)
    row = library.add("/media/a.wav", Options())
    for number in range(500):
        library.add_segment(row.id, segment(f" text number {number} of many", number, number + 1))
    library.close()
    library = Library(path)
    library.flush()  # its writer is connected, and makes no new file of one that is being damaged
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 8192 * 4096)
        file.write(b"\xff" * 4096)
    with pytest.raises(FailureError) as caught:
        library.segments(row.id)
    assert caught.value.failure.kind is FailureKind.LIBRARY_DAMAGED
    library.close()
    note = path.with_name("library.db.check")
    assert note.exists(), "the next start checks it whole, whatever its size"
    repaired = Library(path)
    assert repaired.opened.num_rescued == 1
    assert len(repaired.segments(row.id)) > 400
    repaired.close()
    assert not note.exists()


def test_a_database_of_a_newer_version_is_left_whole(path: Path) -> None:
    Library(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    library = Library(path)
    assert library.opened.set_aside is not None
    assert library.opened.is_from_newer
    assert library.recordings() == []
    library.close()


def test_a_full_disk_is_said_and_nothing_is_lost(path: Path) -> None:
    disk = FullDisk()
    library = Library(path, connect=disk)
    row = library.add("/media/a.wav", Options())
    disk.is_full = True
    long_text = " words" * 20_000
    for number in range(3):
        library.add_segment(row.id, segment(long_text, number, number + 1))
    with pytest.raises(FailureError) as caught:
        library.flush()
    assert caught.value.failure.kind is FailureKind.DISK_FULL
    assert library.trouble is not None
    with pytest.raises(FailureError):
        library.set_state(row.id, RowState.DONE)
    disk.is_full = False
    library.flush()
    assert library.trouble is None
    assert len(library.segments(row.id)) == 3
    stored = library.recording(row.id)
    assert stored is not None
    assert stored.state is RowState.QUEUED
    library.close()


def test_a_read_only_database_is_said(path: Path) -> None:
    Library(path).close()

    def read_only(path: Path) -> sqlite3.Connection:
        connection = connect(path)
        connection.execute("PRAGMA query_only = ON")
        return connection

    with pytest.raises(FailureError) as caught:
        Library(path, connect=read_only)
    assert caught.value.failure.kind is FailureKind.NOT_READABLE


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(FailureError) as caught:
        Library(tmp_path / "file" / "library.db")
    assert caught.value.failure.kind is FailureKind.NOT_READABLE


def test_a_folder_in_place_of_the_database_is_said(path: Path) -> None:
    path.mkdir()
    with pytest.raises(FailureError):
        Library(path)


def test_reads_from_other_threads_see_what_was_written(library: Library) -> None:
    row = library.add("/media/a.wav", Options())
    counts: list[int] = []

    def read() -> None:
        for _ in range(20):
            counts.append(len(library.segments(row.id)))

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(200):
        library.add_segment(row.id, segment(" x", number, number + 1))
    for thread in threads:
        thread.join()
    assert len(library.segments(row.id)) == 200
    assert max(counts) <= 200


def test_closing_twice_is_harmless_and_writing_after_it_is_said(path: Path) -> None:
    library = Library(path)
    library.add("/media/a.wav", Options())
    library.close()
    library.close()
    with pytest.raises(FailureError):
        library.add("/media/b.wav", Options())
    assert len(library.recordings()) == 1
