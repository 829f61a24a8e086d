"""The queue: order, storing, resuming, and what happens when something dies or is full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.changes import ChangeKind, DeskChange
from app.desk import Desk
from app.library import Library, Recording, RowState
from engine.protocol.events import (
    EngineLost,
    Event,
    JobCancelled,
    JobDone,
    LanguageDetected,
    ModelState,
    Progress,
    Refused,
    SegmentDone,
    Tail,
    Warned,
    Welcome,
    WorkerPhase,
)
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Options
from tests.helpers.engine_stories import FakeEngine, failed, said, segment, started, whole_story
from tests.helpers.full_disk import FullDisk

DIED = failure(FailureKind.ENGINE_DIED, "")
WELCOME = Welcome(engine_pid=1, protocol_version=1)


class Rig:
    """A desk with a fake engine, a real library and every change that was told."""

    def __init__(self, folder: Path, library: Library, *, is_paused: bool = False) -> None:
        self.folder = folder
        self.library = library
        self.engine = FakeEngine()
        self.desk = Desk(library, self.engine, is_paused=is_paused)
        self.changes: list[DeskChange] = []
        self.desk.observe(self.changes.append)

    def file(self, name: str, content: bytes = b"sound") -> str:
        path = self.folder / name
        path.write_bytes(content)
        return str(path)

    def add(self, *names: str, options: Options | None = None) -> list[int]:
        added = self.desk.add([self.file(name) for name in names], options or Options())
        return list(added.recording_ids)

    def tell(self, *events: Event) -> None:
        self.desk.on_events(events)

    def die(self, *jobs: str) -> None:
        self.tell(*(failed(job, FailureKind.ENGINE_DIED) for job in jobs), EngineLost(failure=DIED))

    def recording(self, recording_id: int) -> Recording:
        row = self.desk.row(recording_id)
        assert row is not None
        return row.recording

    def state(self, recording_id: int) -> RowState:
        stored = self.library.recording(recording_id)
        assert stored is not None
        assert stored.state is self.recording(recording_id).state
        return stored.state

    def texts(self, recording_id: int) -> list[str]:
        return [s.text for s in self.library.segments(recording_id)]

    def kinds(self) -> list[ChangeKind]:
        return [change.kind for change in self.changes]


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    library = Library(tmp_path / "data" / "library.db")
    yield library
    library.close()


@pytest.fixture
def rig(tmp_path: Path, library: Library) -> Rig:
    return Rig(tmp_path, library)


def test_a_dropped_file_runs_and_is_stored_as_it_is_told(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    assert rig.state(row) is RowState.RUNNING
    assert rig.engine.last.path == str(rig.folder / "a.wav")
    assert rig.engine.last.resume_at_sample is None
    for event in whole_story("job-1")[:-1]:
        rig.tell(event)
    assert rig.texts(row) == [" Hello there.", " Good bye."]
    running = rig.desk.row(row)
    assert running is not None
    assert running.fraction == 0.99
    rig.tell(JobDone(job="job-1", duration=60.0))
    assert rig.state(row) is RowState.DONE
    done = rig.desk.row(row)
    assert done is not None
    assert done.fraction == 1.0
    assert (done.recording.language, done.recording.duration) == ("en", 60.0)
    assert rig.desk.num_running == rig.desk.num_open == 0


def test_a_batch_of_events_tells_tail_and_progress_once(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.changes.clear()
    rig.tell(started("job-1"), *said("job-1", " one", 0, 1), *said("job-1", " two", 1, 2))
    rig.tell(Tail(job="job-1", text=" th"), Tail(job="job-1", text=" three"))
    assert rig.kinds() == [
        ChangeKind.ROW,
        ChangeKind.SEGMENT,
        ChangeKind.SEGMENT,
        ChangeKind.TAIL,
        ChangeKind.PROGRESS,
        ChangeKind.TAIL,
    ]
    assert [c.segment.text for c in rig.changes if c.segment] == [" one", " two"]
    assert rig.changes[-1] == DeskChange(kind=ChangeKind.TAIL, recording_id=row, text=" three")
    current = rig.desk.row(row)
    assert current is not None
    assert (current.tail, current.remaining_s) == (" three", 58.0)


def test_two_rows_run_at_once_in_the_order_of_the_queue(rig: Rig) -> None:
    a, b, c, d = rig.add("a.wav", "b.wav", "c.wav", "d.wav")
    assert [Path(asked.path).name for asked in rig.engine.asked] == ["a.wav", "b.wav"]
    assert rig.desk.num_running == 2
    assert rig.desk.num_open == 4
    rig.desk.move([d], 2)
    assert [row.recording.id for row in rig.desk.rows()] == [a, b, d, c]
    rig.tell(JobDone(job="job-1"))
    assert Path(rig.engine.last.path).name == "d.wav"
    rig.tell(JobDone(job="job-2"))
    assert Path(rig.engine.last.path).name == "c.wav"


def test_the_order_of_the_queue_survives_quitting(rig: Rig, library: Library) -> None:
    a, b, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.desk.move([c, a], 0)
    rig.desk.move([c], 0)
    assert [row.recording.id for row in Desk(library, FakeEngine()).rows()] == [c, a, b]


def test_a_paused_queue_begins_nothing_and_lets_running_rows_go_on(rig: Rig) -> None:
    rig.add("a.wav")
    rig.desk.pause()
    assert rig.desk.is_paused
    (second,) = rig.add("b.wav")
    assert rig.state(second) is RowState.QUEUED
    rig.tell(*whole_story("job-1"))
    assert len(rig.engine.asked) == 1
    rig.desk.resume()
    assert len(rig.engine.asked) == 2


def test_a_queue_may_start_paused(tmp_path: Path, library: Library) -> None:
    rig = Rig(tmp_path, library, is_paused=True)
    rig.add("a.wav")
    rig.desk.start()
    assert rig.engine.asked == []


def test_cancel_frees_the_place_when_the_engine_has_answered(rig: Rig) -> None:
    a, b, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.tell(*said("job-1", " kept", 0, 1))
    rig.desk.cancel([a])
    assert rig.engine.cancelled == ["job-1"]
    assert rig.state(a) is RowState.CANCELLED
    assert rig.state(c) is RowState.QUEUED
    rig.tell(Tail(job="job-1", text="late"), *said("job-1", " late", 1, 2), JobCancelled(job="job-1"))
    assert rig.texts(a) == [" kept"]
    assert rig.state(a) is RowState.CANCELLED
    assert rig.state(c) is RowState.RUNNING
    rig.desk.cancel([a, b, 99])
    assert rig.engine.cancelled == ["job-1", "job-2"]


def test_a_waiting_row_is_cancelled_at_once(rig: Rig) -> None:
    *_, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.desk.cancel([c])
    assert rig.state(c) is RowState.CANCELLED
    assert rig.engine.cancelled == []


def test_a_cancelled_row_goes_on_behind_its_last_segment(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(started("job-1"), LanguageDetected(job="job-1", language="ko", probability=0.7))
    rig.tell(*said("job-1", " kept", 0, 1.5))
    rig.desk.cancel([row])
    rig.desk.retry(row)
    asked = rig.engine.last
    assert asked.resume_at_sample == 24_000
    assert asked.options.language == "ko"
    rig.tell(JobCancelled(job="job-1"), *said("job-2", " more", 1.5, 3), JobDone(job="job-2"))
    assert rig.texts(row) == [" kept", " more"]
    assert rig.state(row) is RowState.DONE


def test_a_failed_row_says_why_and_others_go_on(rig: Rig) -> None:
    a, b = rig.add("a.wav", "b.wav")
    rig.tell(failed("job-1", FailureKind.BAD_MEDIA, "a.wav"), *whole_story("job-2"))
    assert rig.state(a) is RowState.FAILED
    reason = rig.recording(a).failure
    assert reason is not None
    assert reason.kind is FailureKind.BAD_MEDIA
    assert rig.state(b) is RowState.DONE


def test_another_model_replaces_the_transcript_only_when_it_has_something(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(*whole_story("job-1"))
    better = Options(model="whisper-small")
    rig.desk.retry(row, better)
    assert rig.engine.last.options == better
    assert rig.engine.last.resume_at_sample is None
    rig.tell(failed("job-2", FailureKind.MODEL_MISSING, "whisper-small"))
    assert rig.texts(row) == [" Hello there.", " Good bye."]
    rig.desk.retry(row, Options(model="whisper-tiny"))
    rig.changes.clear()
    rig.tell(*said("job-3", " Better.", 0, 1))
    assert rig.texts(row) == [" Better."]
    assert rig.kinds()[:2] == [ChangeKind.ROW, ChangeKind.CLEARED]


def test_a_transcript_made_anew_may_turn_out_empty(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(*whole_story("job-1"))
    rig.desk.retry(row)
    rig.tell(JobDone(job="job-2", duration=60.0))
    assert rig.texts(row) == []
    assert rig.state(row) is RowState.DONE


def test_a_row_at_work_is_not_retried(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.desk.retry(row)
    assert len(rig.engine.asked) == 1


def test_after_an_engine_death_the_row_goes_on_without_loss_or_doubling(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(started("job-1"), *said("job-1", " one", 0, 2))
    rig.die("job-1")
    assert rig.state(row) is RowState.QUEUED
    assert len(rig.engine.asked) == 1, "nothing is asked of an engine that is not there"
    rig.tell(WELCOME)
    assert rig.engine.last.resume_at_sample == 32_000
    rig.tell(*said("job-2", " two", 2, 4), JobDone(job="job-2"))
    assert rig.texts(row) == [" one", " two"]


def test_three_deaths_without_a_new_segment_fail_the_row(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    for number in (1, 2):
        rig.die(f"job-{number}")
        rig.tell(WELCOME)
    rig.tell(*said("job-3", " progress", 0, 1))
    for number in (3, 4, 5):
        assert rig.state(row) is RowState.RUNNING
        rig.die(f"job-{number}")
        rig.tell(WELCOME)
    assert rig.state(row) is RowState.FAILED
    reason = rig.recording(row).failure
    assert reason is not None
    assert reason.kind is FailureKind.ENGINE_DIED


def test_a_job_cancelled_by_the_engine_alone_is_taken_up_again(rig: Rig) -> None:
    """After the computer slept the engine may have taken us for dead."""
    (row,) = rig.add("a.wav")
    rig.tell(JobCancelled(job="job-1"))
    assert rig.state(row) is RowState.RUNNING
    assert rig.engine.last.job == "job-2"
    rig.tell(JobCancelled(job="job-2"), JobCancelled(job="job-3"))
    rig.tell(JobCancelled(job="job-3"))
    assert rig.state(row) is RowState.FAILED


def test_when_the_engine_is_given_up_interrupted_rows_fail_and_a_retry_starts_it(rig: Rig) -> None:
    a, b, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.die("job-1", "job-2")
    rig.desk.on_engine_given_up(DIED)
    assert [rig.state(row) for row in (a, b, c)] == [RowState.FAILED, RowState.FAILED, RowState.QUEUED]
    assert rig.kinds()[-1] is ChangeKind.TROUBLE
    reason = rig.recording(a).failure
    assert reason is not None
    assert "a.wav" in reason.message
    rig.desk.retry(a)
    assert rig.engine.num_restarts == 1
    rig.tell(WELCOME)
    assert rig.desk.num_running == 2


def test_an_engine_of_another_version_is_trouble(rig: Rig) -> None:
    rig.add("a.wav")
    mismatch = failure(FailureKind.PROTOCOL_MISMATCH, "")
    rig.tell(failed("job-1", FailureKind.ENGINE_DIED), Refused(failure=mismatch))
    assert [c.failure for c in rig.changes if c.kind is ChangeKind.TROUBLE] == [mismatch]
    rig.add("b.wav")
    assert rig.engine.num_restarts == 1


def test_after_a_kill_of_the_app_the_next_start_goes_on(rig: Rig, library: Library) -> None:
    a, b, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.tell(started("job-1"), *said("job-1", " one", 0, 1))
    next_time = Rig(rig.folder, library)
    assert next_time.engine.asked == []
    next_time.desk.start()
    assert [asked.resume_at_sample for asked in next_time.engine.asked] == [16_000, None]
    assert [next_time.state(row) for row in (a, b, c)] == [
        RowState.RUNNING,
        RowState.RUNNING,
        RowState.QUEUED,
    ]
    next_time.tell(*said("job-1", " two", 1, 2), JobDone(job="job-1"))
    assert next_time.texts(a) == [" one", " two"]


def test_a_file_that_changed_meanwhile_is_transcribed_from_its_start(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(*said("job-1", " old", 0, 1))
    rig.file("a.wav", b"quite another recording")
    rig.die("job-1")
    rig.tell(WELCOME)
    assert rig.engine.last.resume_at_sample is None
    rig.tell(*said("job-2", " new", 0, 1), JobDone(job="job-2"))
    assert rig.texts(row) == [" new"]


def test_a_moved_source_is_asked_for_and_goes_on_where_it_was(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(*said("job-1", " one", 0, 1))
    moved = Path(rig.folder / "a.wav").rename(rig.folder / "moved.wav")
    rig.die("job-1")
    rig.tell(WELCOME)
    rig.tell(failed("job-2", FailureKind.NOT_FOUND, "a.wav"))
    assert rig.state(row) is RowState.FAILED
    with pytest.raises(FailureError):
        rig.desk.relocate(row, str(rig.folder / "nowhere.wav"))
    rig.desk.relocate(row, str(moved))
    assert rig.recording(row).name == "moved.wav"
    assert rig.engine.last.path == str(moved)
    assert rig.engine.last.resume_at_sample == 16_000


def test_a_different_file_given_for_a_moved_one_is_transcribed_from_its_start(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(*said("job-1", " one", 0, 1), failed("job-1", FailureKind.NOT_FOUND))
    rig.desk.relocate(row, rig.file("other.wav", b"another length"))
    assert rig.engine.last.resume_at_sample is None


def test_the_same_file_twice_is_asked_about(rig: Rig) -> None:
    rig.add("a.wav")
    again = rig.desk.add([str(rig.folder / "a.wav")], Options())
    assert again.recording_ids == ()
    assert again.repeated == (str(rig.folder / "a.wav"),)
    allowed = rig.desk.add(again.repeated, Options(), allow_repeats=True)
    assert len(allowed.recording_ids) == 1


def test_what_cannot_be_media_is_refused_with_a_sentence(rig: Rig) -> None:
    added = rig.desk.add([rig.file("notes.pdf"), str(rig.folder / "gone.wav")], Options())
    assert added.recording_ids == ()
    assert [r.failure.kind for r in added.refused] == [FailureKind.BAD_MEDIA, FailureKind.NOT_FOUND]
    assert rig.changes == []


def test_a_removed_row_is_cancelled_and_can_come_back(rig: Rig) -> None:
    a, b, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.tell(*said("job-1", " one", 0, 1))
    rig.desk.remove([a, c])
    assert rig.engine.cancelled == ["job-1"]
    assert rig.desk.row(a) is None
    rig.tell(*said("job-1", " late", 1, 2), JobCancelled(job="job-1"))
    rig.desk.restore([a, c, 99])
    assert rig.state(a) is RowState.CANCELLED
    assert rig.state(c) is RowState.RUNNING
    assert rig.texts(a) == [" one"]
    assert Path(rig.folder / "a.wav").exists()
    assert [row.recording.id for row in rig.desk.rows()] == [a, b, c]


def test_a_correction_is_stored_and_told(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(*said("job-1", " wrong", 0, 1))
    stored = rig.library.segments(row)[0]
    edited = rig.desk.edit_segment(stored.id, " right")
    assert rig.changes[-1] == DeskChange(kind=ChangeKind.EDITED, recording_id=row, segment=edited)
    assert rig.texts(row) == [" right"]


def test_warnings_are_told_and_the_row_goes_on(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    damaged = failure(FailureKind.DAMAGED_MEDIA, "a.wav")
    rig.tell(Warned(job="job-1", failure=damaged))
    assert rig.changes[-1] == DeskChange(kind=ChangeKind.WARNING, recording_id=row, failure=damaged)
    assert rig.state(row) is RowState.RUNNING


def test_model_news_and_stories_of_unknown_jobs_change_nothing(rig: Rig) -> None:
    rig.add("a.wav")
    rig.changes.clear()
    rig.tell(ModelState(model="m", phase=WorkerPhase.LOADING), Tail(job="other", text="x"))
    assert rig.changes == []


def test_a_stopped_desk_takes_nothing_in_so_that_rows_stay_to_be_resumed(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.desk.stop()
    rig.tell(JobCancelled(job="job-1"))
    rig.desk.on_engine_given_up(DIED)
    assert rig.state(row) is RowState.RUNNING


def test_an_observer_can_leave(rig: Rig) -> None:
    seen: list[DeskChange] = []
    leave = rig.desk.observe(seen.append)
    leave()
    rig.add("a.wav")
    assert seen == []


def test_progress_of_a_resumed_row_does_not_fall_below_what_is_stored(rig: Rig) -> None:
    (row,) = rig.add("a.wav")
    rig.tell(started("job-1", 10.0), SegmentDone(job="job-1", segment=segment(" x", 0, 5)))
    rig.die("job-1")
    rig.tell(WELCOME)
    rig.tell(started("job-2", 10.0), Progress(job="job-2", done=1.0, total=10.0))
    current = rig.desk.row(row)
    assert current is not None
    assert current.fraction == 0.5


def test_a_full_disk_stops_the_queue_and_loses_nothing(tmp_path: Path) -> None:
    disk = FullDisk()
    library = Library(tmp_path / "data" / "library.db", connect=disk)
    rig = Rig(tmp_path, library)
    a, b, c = rig.add("a.wav", "b.wav", "c.wav")
    rig.tell(*said("job-1", " one", 0, 1))
    library.flush()
    disk.is_full = True
    rig.tell(*said("job-1", " two" + " words" * 20_000, 1, 2), JobDone(job="job-1"))
    assert rig.recording(a).state is RowState.FAILED, "done is only what is stored"
    assert rig.recording(b).state is RowState.FAILED
    assert rig.recording(c).state is RowState.QUEUED
    reason = rig.recording(a).failure
    assert reason is not None
    assert reason.kind is FailureKind.DISK_FULL
    assert "a.wav" in reason.message
    assert rig.desk.is_paused
    assert rig.kinds().count(ChangeKind.TROUBLE) == 1
    with pytest.raises(FailureError):
        rig.desk.retry(a)
    with pytest.raises(FailureError):
        rig.desk.resume()
    disk.is_full = False
    rig.desk.resume()
    assert rig.state(b) is RowState.FAILED
    rig.desk.retry(a)
    rig.tell(JobCancelled(job="job-2"))
    assert rig.engine.last.path.endswith("a.wav")
    assert rig.engine.last.resume_at_sample == 32_000
    assert len(rig.texts(a)) == 2
    library.close()


def test_a_library_that_cannot_be_written_refuses_new_files_with_a_reason(tmp_path: Path) -> None:
    library = Library(tmp_path / "data" / "library.db")
    rig = Rig(tmp_path, library)
    library.close()
    added = rig.desk.add([rig.file("a.wav")], Options())
    assert [r.failure.kind for r in added.refused] == [FailureKind.INTERNAL]


def test_another_version_stands_right_behind_the_first(rig: Rig) -> None:
    first, other = rig.add("a.wav", "b.wav")
    rig.tell(*whole_story("job-1"))
    second = rig.desk.add_version(first, Options(model="whisper-small"))
    assert [row.recording.id for row in rig.desk.rows()] == [first, second, other]
    assert [row.recording.id for row in rig.desk.versions(second)] == [first, second]
    assert rig.recording(second).duration == rig.recording(first).duration
    assert [row.recording.id for row in rig.desk.versions(other)] == [other]
    assert rig.desk.versions(999) == []


def test_a_file_that_moved_has_moved_for_all_its_versions(rig: Rig) -> None:
    (first,) = rig.add("a.wav")
    rig.tell(*whole_story("job-1"))
    second = rig.desk.add_version(first, Options(model="whisper-small"))
    moved = rig.folder / "moved.wav"
    (rig.folder / "a.wav").rename(moved)
    rig.tell(failed("job-2", FailureKind.NOT_FOUND))
    rig.desk.relocate(second, str(moved))
    assert {rig.recording(row).path for row in (first, second)} == {str(moved)}
    assert rig.state(first) is RowState.DONE
    assert rig.state(second) is RowState.RUNNING
