"""Confirmed text is never lost, doubled or asked for again, whatever becomes of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from app.capture.recording_file import RecordingWriter
from app.live_captions import MAX_ATTEMPTS, Captions
from app.live_changes import CaptionPhase
from engine.protocol.events import (
    Backlog,
    Confirmed,
    JobCancelled,
    JobDone,
    JobFailed,
    LanguageDetected,
    SegmentDone,
    Tail,
    Warned,
)
from engine.protocol.failures import Failure, FailureKind, failure
from engine.protocol.transcript import Options, Segment, TimeSource
from tests.helpers.engine_stories import FakeEngine, segment, started


class Sink:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.confirmed = ""
        self.tail = ""
        self.segments: list[Segment] = []
        self.unfinished: Segment | None = None
        self.language: str | None = None
        self.phases: list[CaptionPhase] = []
        self.reasons: list[Failure | None] = []
        self.warnings: list[FailureKind] = []

    def on_confirmed(self, delta: str) -> None:
        stored = "".join(s.text for s in self.segments) + (self.unfinished.text if self.unfinished else "")
        self.confirmed += delta
        assert stored == self.confirmed, "it is stored before it is shown"

    def on_tail(self, text: str) -> None:
        self.tail = text

    def on_segment(self, segment: Segment) -> None:
        self.segments.append(segment)

    def on_unfinished(self, segment: Segment | None) -> None:
        self.unfinished = segment

    def on_model(self, model: str) -> None: ...

    def on_language(self, language: str, probability: float) -> None:
        self.language = language

    def on_caption_phase(self, phase: CaptionPhase, reason: Failure | None) -> None:
        self.phases.append(phase)
        self.reasons.append(reason)

    def on_warning(self, reason: Failure) -> None:
        self.warnings.append(reason.kind)


class Rig:
    """Captions of a recording of two seconds."""

    def __init__(self, folder: Path) -> None:
        self.writer = RecordingWriter(folder / "r.wav", 16_000)
        self.writer.append(np.ones(32_000, np.int16))
        self.engine = FakeEngine()
        self.sink = Sink()
        self.captions = Captions(self.engine, Options(), self.sink)
        self.captions.start(self.writer.path, lambda: self.writer.num_samples)

    @property
    def job(self) -> str:
        return self.engine.listened[-1].job

    def confirm(self, delta: str, end: float) -> None:
        self.captions.on_event(Confirmed(job=self.job, delta=delta, end=end))

    def close(self, text: str, start: float, end: float) -> None:
        self.captions.on_event(SegmentDone(job=self.job, segment=segment(text, start, end)))

    def fail(self, kind: FailureKind = FailureKind.ENGINE_DIED) -> None:
        self.captions.on_event(JobFailed(job=self.job, failure=failure(kind, "base")))


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    rig.captions.stop()


def test_confirmed_text_becomes_segments(rig: Rig) -> None:
    rig.captions.on_event(started(rig.job, None))
    rig.confirm(" Hello", 0.5)
    rig.captions.on_event(Tail(job=rig.job, text=" wor"))
    rig.confirm(" world.", 1.0)
    assert rig.sink.unfinished is not None
    assert (rig.sink.unfinished.text, rig.sink.unfinished.end) == (" Hello world.", 1.0)
    assert rig.sink.unfinished.time_source is TimeSource.INTERPOLATED
    rig.close(" Hello world.", 0.1, 1.0)
    assert rig.sink.unfinished is None
    assert [s.text for s in rig.sink.segments] == [" Hello world."]
    assert rig.sink.phases == [CaptionPhase.LISTENING]


def test_text_confirmed_beyond_a_segment_is_kept_for_the_next(rig: Rig) -> None:
    rig.confirm(" One. Two", 1.0)
    rig.close(" One.", 0.0, 0.6)
    assert rig.sink.unfinished is not None
    assert rig.sink.unfinished.text == " Two"
    assert rig.sink.unfinished.start >= 0.6


def test_after_a_death_it_goes_on_where_the_last_confirmed_word_ends(rig: Rig) -> None:
    rig.captions.on_event(LanguageDetected(job=rig.job, language="ko", probability=0.9))
    rig.confirm(" One.", 0.6)
    rig.close(" One.", 0.0, 0.6)
    rig.confirm(" Two", 1.25)
    rig.captions.on_event(Tail(job=rig.job, text=" thr"))
    dead = rig.job
    rig.fail()
    assert [s.text for s in rig.sink.segments] == [" One.", " Two"]
    assert rig.sink.unfinished is None
    assert rig.sink.tail == ""
    assert rig.engine.listened[-1].start_sample == 20_000
    assert rig.engine.listened[-1].options.language == "ko", "it is not found out anew"
    rig.captions.on_event(Confirmed(job=dead, delta=" ghost", end=9.0))
    rig.confirm(" three.", 2.0)
    rig.close(" three.", 1.25, 2.0)
    assert rig.sink.confirmed == " One. Two three."
    assert "".join(s.text for s in rig.sink.segments) == rig.sink.confirmed


def test_a_session_the_engine_cancels_by_itself_is_taken_up_again(rig: Rig) -> None:
    rig.captions.on_event(JobCancelled(job=rig.job))
    assert len(rig.engine.listened) == 2


def test_an_engine_that_dies_of_the_same_place_is_left_alone_after_some_attempts(rig: Rig) -> None:
    for _ in range(MAX_ATTEMPTS):
        rig.fail()
    assert len(rig.engine.listened) == MAX_ATTEMPTS
    assert rig.sink.phases[-1] is CaptionPhase.LOST
    rig.captions.retry()
    assert len(rig.engine.listened) == MAX_ATTEMPTS + 1
    assert rig.sink.phases[-1] is CaptionPhase.WAITING


@pytest.mark.parametrize("is_text", [True, False])
def test_deaths_that_are_far_apart_never_end_the_captions(rig: Rig, is_text: bool) -> None:
    for second in range(1, 20):
        if is_text:
            rig.confirm(f" {second}", float(second))
        else:
            decoded = second * 16_000 * 6
            rig.captions.on_event(
                Backlog(job=rig.job, received_samples=decoded, decoded_samples=decoded, seconds=0.0)
            )
        rig.fail()
    assert CaptionPhase.LOST not in rig.sink.phases


@pytest.mark.parametrize("kind", [FailureKind.MODEL_MISSING, FailureKind.LANGUAGE_UNKNOWN])
def test_what_cannot_get_better_is_not_tried_again(rig: Rig, kind: FailureKind) -> None:
    rig.fail(kind)
    assert len(rig.engine.listened) == 1
    assert rig.sink.phases[-1] is CaptionPhase.LOST
    assert rig.sink.reasons[-1] is not None
    assert rig.sink.reasons[-1].kind is kind


def test_the_end_leaves_no_confirmed_text_without_a_segment(rig: Rig) -> None:
    rig.confirm(" Bye", 1.9)
    rig.captions.on_event(JobDone(job=rig.job))
    assert [s.text for s in rig.sink.segments] == [" Bye"]
    assert rig.captions.phase is CaptionPhase.DONE


def test_a_chosen_language_is_told_and_kept_for_later_jobs(rig: Rig) -> None:
    rig.captions.set_language("de")
    assert rig.engine.languages == ["de"]
    rig.fail()
    assert rig.engine.listened[-1].options.language == "de"


def test_a_given_up_engine_loses_no_confirmed_text(rig: Rig) -> None:
    rig.confirm(" Kept", 1.0)
    rig.captions.give_up(failure(FailureKind.ENGINE_DIED, "base"))
    assert [s.text for s in rig.sink.segments] == [" Kept"]
    assert rig.engine.cancelled == [rig.job]
    assert rig.captions.phase is CaptionPhase.LOST


def test_sound_that_could_not_be_heard_is_told_and_the_session_goes_on(rig: Rig) -> None:
    rig.confirm(" One.", 0.5)
    rig.captions.on_event(Warned(job=rig.job, failure=failure(FailureKind.POISON, "base")))
    rig.confirm(" Two.", 1.5)
    assert rig.sink.warnings == [FailureKind.POISON]
    assert rig.sink.confirmed == " One. Two."
    assert len(rig.engine.listened) == 1


def test_a_language_that_was_refused_is_not_asked_for_again(rig: Rig) -> None:
    """A model of one language refused another and went on; after its death that ended the captions."""
    rig.captions.on_event(LanguageDetected(job=rig.job, language="en", probability=0.9))
    rig.captions.set_language("ko")
    rig.captions.on_event(Warned(job=rig.job, failure=failure(FailureKind.LANGUAGE_UNKNOWN, "base", "ko")))
    assert rig.sink.warnings == [FailureKind.LANGUAGE_UNKNOWN]
    rig.fail()
    assert rig.engine.listened[-1].options.language == "en"
