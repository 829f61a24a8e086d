"""A live session from first sample to last word, over fake devices, a fake engine and a real library."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app.capture.notices import MarkKind, NoticeKind
from app.capture.recording_file import RecordingReader
from app.changes import ChangeKind, DeskChange
from app.desk import Desk
from app.library import Library, Recording, RowKind, RowState
from app.live_changes import CaptionPhase, LiveChange, LiveChangeKind, LivePhase
from app.live_session import LiveSession, LiveWish
from engine.protocol.events import (
    Confirmed,
    Event,
    JobDone,
    JobFailed,
    LanguageDetected,
    SegmentDone,
    Tail,
    Warned,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import Options
from engine.recording import header
from tests.helpers.engine_stories import FakeEngine, segment, started
from tests.helpers.fake_sound import MIC, FakeAudio, FakeClock, numbered

DIED = failure(FailureKind.ENGINE_DIED, "base")


BLOCK = 1_600


class Rig:
    """One session; the test is its thread, and ticks it while it waits.

    For the recorder time passes only with sound: a machine that stands still leaves no gap.
    """

    def __init__(self, folder: Path, *, spare_path: Path | None = None) -> None:
        self.folder = folder
        self.library = Library(folder / "library.db")
        self.engine = FakeEngine()
        self.desk = Desk(self.library, self.engine)
        self.desk_changes: list[DeskChange] = []
        self.desk.observe(self.desk_changes.append)
        self.audio = FakeAudio(MIC)
        self.clock = FakeClock()
        self.path = folder / "r.wav"
        wish = LiveWish(path=self.path, spare_path=spare_path, options=Options(language="en"))
        self.live = LiveSession(wish, self.audio, self.engine, self.desk.live, clock=self.clock)
        self.changes: list[LiveChange] = []
        self.live.observe(self.changes.append)

    def start(self) -> None:
        self.live.start()
        self.wait(lambda: self.live.state.phase is LivePhase.RECORDING)

    def wait(self, is_so: Callable[[], bool], timeout_s: float = 10.0) -> None:
        end_s = time.monotonic() + timeout_s
        while not is_so():
            assert time.monotonic() < end_s, f"it never happened: {self.live.state}"
            self.live.tick()
            time.sleep(0.005)

    def speak(self, num: int = 16_000) -> None:
        """Say numbered samples, and wait until the engine has heard them."""
        heard = len(self.engine.heard(self.job))
        for first in range(0, num, BLOCK):
            self.clock.advance(BLOCK / MIC.rate_hz)
            self.audio.stream.speak(numbered(min(BLOCK, num - first), first + 1))
        self.wait(lambda: len(self.engine.heard(self.job)) == heard + num)

    def tell(self, *events: Event) -> None:
        self.live.on_events(events)

    def say(self, text: str, start: float, end: float) -> None:
        self.tell(
            Confirmed(job=self.job, delta=text, end=end),
            SegmentDone(job=self.job, segment=segment(text, start, end)),
        )

    @property
    def job(self) -> str:
        return self.engine.listened[-1].job

    @property
    def row(self) -> Recording:
        (row,) = self.library.recordings()
        return row

    def texts(self) -> list[str]:
        return [s.text for s in self.library.segments(self.row.id)]

    def told(self, kind: LiveChangeKind) -> list[LiveChange]:
        return [change for change in self.changes if change.kind is kind]

    def close(self) -> None:
        self.live.leave()
        self.desk.stop()
        self.library.close()


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    rig.close()


def test_the_recording_has_a_row_and_a_listener_from_its_first_moment(rig: Rig) -> None:
    rig.start()
    assert (rig.row.state, rig.row.kind) == (RowState.RECORDING, RowKind.LIVE)
    assert rig.row.path == str(rig.path)
    assert rig.engine.listened[0].start_sample == 0
    rig.speak()
    assert rig.live.state.recording_id == rig.row.id
    assert rig.live.state.devices == (MIC.name,)


def test_row_and_captions_follow_the_recording_to_the_spare_place(tmp_path: Path) -> None:
    (tmp_path / "r.wav").write_bytes(b"somebody else's")
    rig = Rig(tmp_path, spare_path=tmp_path / "spare" / "s.wav")
    rig.start()
    rig.speak()
    assert rig.row.path == rig.live.state.path == str(tmp_path / "spare" / "s.wav")
    notices = [change.notice for change in rig.told(LiveChangeKind.NOTICE) if change.notice is not None]
    assert [notice.kind for notice in notices] == [NoticeKind.FOLDER_REFUSED]
    rig.close()
    assert (tmp_path / "r.wav").read_bytes() == b"somebody else's"


def test_text_is_shown_and_stored_as_it_is_confirmed(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.tell(started(rig.job, None), LanguageDetected(job=rig.job, language="en", probability=0.8))
    rig.tell(Tail(job=rig.job, text=" Hel"), Confirmed(job=rig.job, delta=" Hello", end=0.5))
    unfinished = rig.library.live.unfinished(rig.row.id)
    assert unfinished is not None
    assert unfinished.text == " Hello"
    assert rig.texts() == []
    rig.tell(SegmentDone(job=rig.job, segment=segment(" Hello", 0.1, 0.5)))
    assert rig.texts() == [" Hello"]
    assert rig.library.live.unfinished(rig.row.id) is None
    assert rig.row.model == "whisper-base"
    assert [c.text for c in rig.told(LiveChangeKind.CONFIRMED)] == [" Hello"]
    assert [c.text for c in rig.told(LiveChangeKind.TAIL)] == [" Hel"]
    assert [c.text for c in rig.desk_changes if c.kind is ChangeKind.TAIL][-2:] == [" Hello", ""]


def test_stopping_writes_everything_down_before_it_is_done(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.audio.stream.speak(numbered(1_000))
    rig.live.stop()
    rig.wait(lambda: ("close", rig.job) in rig.engine.said)
    assert len(rig.engine.heard(rig.job)) == 17_000
    assert rig.live.state.phase is LivePhase.FINISHING
    assert rig.row.state is RowState.RECORDING
    rig.say(" All of it.", 0.0, 1.0)
    rig.tell(JobDone(job=rig.job, duration=1.0))
    assert rig.live.state.phase is LivePhase.ENDED
    assert rig.live.state.captions is CaptionPhase.DONE
    assert rig.row.state is RowState.DONE
    assert rig.row.duration == pytest.approx(17_000 / 16_000)
    assert rig.row.file_size == rig.path.stat().st_size
    assert np.array_equal(RecordingReader(rig.path).read(0, 16_000), np.arange(1, 16_001).astype(np.int16))


def test_a_pause_is_flushed_and_marked(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.live.pause()
    rig.wait(lambda: rig.engine.said == [("flush", rig.job)])
    assert rig.live.state.phase is LivePhase.PAUSED
    rig.live.resume()
    rig.wait(lambda: rig.live.state.phase is LivePhase.RECORDING and bool(rig.audio.open_streams))
    rig.speak()
    rig.live.stop()
    rig.wait(lambda: rig.live.state.phase is LivePhase.FINISHING)
    (mark,) = rig.library.live.marks(rig.row.id)
    assert (mark.kind, mark.start) == (MarkKind.PAUSE, 1.0)


def test_the_recorder_never_notices_that_the_engine_dies(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.say(" One.", 0.0, 0.5)
    rig.tell(JobFailed(job=rig.job, failure=DIED))
    assert rig.engine.listened[-1].start_sample == 8_000
    rig.wait(lambda: len(rig.engine.heard(rig.job)) == 8_000)
    rig.speak()
    rig.say(" Two.", 0.6, 1.5)
    rig.live.stop()
    rig.wait(lambda: ("close", rig.job) in rig.engine.said)
    rig.tell(JobDone(job=rig.job))
    assert rig.texts() == [" One.", " Two."]
    assert rig.row.state is RowState.DONE


def test_a_recording_whose_captions_are_lost_is_left_to_the_queue(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.say(" One.", 0.0, 0.5)
    rig.live.on_engine_given_up(DIED)
    assert rig.live.state.captions is CaptionPhase.LOST
    rig.audio.stream.speak(numbered(16_000))
    rig.live.stop()
    rig.wait(lambda: rig.live.state.phase is LivePhase.ENDED)
    assert rig.row.duration == pytest.approx(2.0)
    assert rig.row.state is RowState.RUNNING
    assert rig.engine.listened[-1].start_sample == 8_000, "the queue has it heard from where the text ends"
    wait_for(lambda: len(rig.engine.heard(rig.job)) == 24_000)
    rig.desk.on_events(
        [
            started(rig.job, None),
            SegmentDone(job=rig.job, segment=segment(" Two.", 0.6, 1.8)),
            JobDone(job=rig.job, duration=1.5),
        ]
    )
    assert rig.texts() == [" One.", " Two."]
    assert rig.row.state is RowState.DONE
    assert rig.row.duration == pytest.approx(2.0)
    kinds = [change.notice.kind for change in rig.told(LiveChangeKind.NOTICE) if change.notice]
    assert kinds == [NoticeKind.CAPTIONS_LOST]


def test_sound_that_could_not_be_heard_is_told_with_the_name_of_the_recording(rig: Rig) -> None:
    """It was passed over in silence: nobody knew why some words were missing."""
    rig.start()
    rig.speak()
    rig.tell(Warned(job=rig.job, failure=failure(FailureKind.POISON, "whisper-base")))
    (change,) = rig.told(LiveChangeKind.WARNING)
    assert change.failure == failure(FailureKind.POISON, "r.wav")
    assert rig.live.state.captions is CaptionPhase.WAITING


def test_a_language_that_was_refused_is_not_shown_as_the_one_in_use(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.live.set_language("ko")
    refusal = failure(FailureKind.LANGUAGE_UNKNOWN, "whisper-base.en", "ko")
    rig.tell(Warned(job=rig.job, failure=refusal))
    assert rig.told(LiveChangeKind.WARNING)[-1].failure == refusal
    assert rig.live.state.language == "en"


def test_captions_can_be_asked_for_again(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.live.on_engine_given_up(DIED)
    rig.live.retry_captions()
    assert rig.engine.num_restarts == 1
    assert rig.live.state.captions is CaptionPhase.WAITING
    assert rig.live.state.failure is None
    kinds = [change.notice.kind for change in rig.told(LiveChangeKind.NOTICE) if change.notice]
    assert kinds == [NoticeKind.CAPTIONS_LOST, NoticeKind.CAPTIONS_BACK]


def test_without_a_microphone_nothing_is_left_behind(rig: Rig) -> None:
    rig.audio.there = []
    rig.live.start()
    rig.wait(lambda: rig.live.state.phase is LivePhase.ENDED)
    assert rig.live.state.failure is not None
    assert rig.live.state.failure.kind is FailureKind.NO_SOUND_SOURCE
    assert rig.library.recordings() == []
    assert not rig.path.exists()


def test_the_meter_runs_and_knows_the_backlog(rig: Rig) -> None:
    rig.start()
    rig.speak(32_000)
    rig.live.tick()
    assert rig.live.state.elapsed_s == pytest.approx(2.0)
    assert rig.live.state.backlog_s == pytest.approx(2.0)
    assert rig.told(LiveChangeKind.METER)


def test_a_killed_app_finds_audio_and_text_again_and_has_the_rest_written(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.start()
    rig.speak(32_000)
    rig.say(" One.", 0.0, 0.5)
    rig.tell(Confirmed(job=rig.job, delta=" Two", end=1.25))
    rig.close()
    with rig.path.open("r+b") as file:
        file.write(header(16_000, 100))  # the length was not written any more

    library = Library(tmp_path / "library.db")
    engine = FakeEngine()
    desk = Desk(library, engine)
    desk.start()
    (row,) = library.recordings()
    assert desk.recovered == (row.id,)
    assert row.state is RowState.RUNNING
    assert row.duration == pytest.approx(2.0)
    assert [s.text for s in library.segments(row.id)] == [" One.", " Two"]
    (again,) = engine.listened
    assert again.start_sample == 20_000
    wait_for(lambda: ("close", again.job) in engine.said)
    assert len(engine.heard(again.job)) == 12_000
    desk.on_events(
        [
            SegmentDone(job=again.job, segment=segment(" three.", 1.25, 2.0)),
            JobDone(job=again.job, duration=0.75),
        ]
    )
    (row,) = library.recordings()
    assert row.state is RowState.DONE
    assert [s.text for s in library.segments(row.id)] == [" One.", " Two", " three."]
    desk.stop()
    library.close()


def test_a_recording_cut_off_before_its_first_word_is_transcribed_like_a_file(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.start()
    rig.speak(32_000)
    rig.close()
    library = Library(tmp_path / "library.db")
    engine = FakeEngine()
    desk = Desk(library, engine)
    desk.start()
    assert [(one.path, one.resume_at_sample) for one in engine.asked] == [(str(rig.path), None)]
    desk.stop()
    library.close()


def test_a_recording_that_is_gone_fails_by_name_and_keeps_its_text(tmp_path: Path) -> None:
    rig = Rig(tmp_path)
    rig.start()
    rig.speak()
    rig.say(" One.", 0.0, 0.5)
    rig.close()
    rig.path.unlink()
    library = Library(tmp_path / "library.db")
    desk = Desk(library, FakeEngine())
    desk.start()
    (row,) = library.recordings()
    assert row.state is RowState.FAILED
    assert row.failure is not None
    assert row.failure.kind is FailureKind.NOT_FOUND
    assert [s.text for s in library.segments(row.id)] == [" One."]
    desk.stop()
    library.close()


def test_another_version_leaves_the_first_as_it_is(rig: Rig) -> None:
    rig.start()
    rig.speak()
    rig.say(" One.", 0.0, 0.5)
    rig.live.stop()
    rig.wait(lambda: ("close", rig.job) in rig.engine.said)
    rig.tell(JobDone(job=rig.job))
    first = rig.row.id
    second = rig.desk.add_version(first, Options(model="whisper-small"))
    assert rig.engine.last.path == str(rig.path)
    rig.desk.on_events(
        [
            SegmentDone(job=rig.engine.last.job, segment=segment(" Won.", 0.0, 0.5)),
            JobDone(job=rig.engine.last.job),
        ]
    )
    assert [s.text for s in rig.library.segments(first)] == [" One."]
    assert [s.text for s in rig.library.segments(second)] == [" Won."]


def test_what_is_being_recorded_is_neither_removed_nor_retried(rig: Rig) -> None:
    rig.start()
    rig.desk.remove([rig.row.id])
    rig.desk.retry(rig.row.id)
    rig.desk.cancel([rig.row.id])
    assert rig.row.state is RowState.RECORDING
    assert rig.engine.asked == []


def wait_for(is_so: Callable[[], bool], timeout_s: float = 10.0) -> None:
    end_s = time.monotonic() + timeout_s
    while not is_so():
        assert time.monotonic() < end_s, "it never happened"
        time.sleep(0.005)
