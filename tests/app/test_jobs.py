"""A job is what the engine told, and ends once."""

from __future__ import annotations

import pytest

from app.jobs import Job, JobBook, JobChange, JobPhase
from engine.protocol.events import (
    Confirmed,
    Diagnosis,
    JobCancelled,
    JobDone,
    JobEvent,
    LanguageDetected,
    MediaProbed,
    ModelList,
    Progress,
    SegmentDone,
    Tail,
    Warned,
)
from engine.protocol.failures import FailureKind, failure
from engine.protocol.transcript import MediaInfo
from tests.helpers.engine_stories import TRACK, failed, segment, started

JOB = "job"


@pytest.fixture
def book() -> JobBook:
    book = JobBook()
    assert book.open(JOB).phase is JobPhase.WAITING
    return book


def now(book: JobBook) -> Job:
    job = book.get(JOB)
    assert job is not None
    return job


def test_a_job_starts_with_what_its_media_says(book: JobBook) -> None:
    assert book.apply(started(JOB, 60.0)) is JobChange.STARTED
    assert now(book).phase is JobPhase.RUNNING
    assert now(book).total == 60.0
    assert now(book).model == "whisper-base"


def test_the_language_is_kept_with_its_probability(book: JobBook) -> None:
    assert book.apply(LanguageDetected(job=JOB, language="ko", probability=0.8)) is JobChange.LANGUAGE
    assert (now(book).language, now(book).language_probability) == ("ko", 0.8)


def test_confirmed_text_takes_the_place_of_the_tail(book: JobBook) -> None:
    assert book.apply(Tail(job=JOB, text=" hel")) is JobChange.TAIL
    assert book.apply(Tail(job=JOB, text=" hel")) is JobChange.NOTHING
    assert now(book).tail == " hel"
    assert book.apply(Confirmed(job=JOB, delta=" hello")) is JobChange.CONFIRMED
    assert now(book).tail == ""
    assert book.apply(SegmentDone(job=JOB, segment=segment(" hello", 0, 1))) is JobChange.SEGMENT
    assert now(book).num_segments == 1


def test_progress_never_goes_back_and_is_whole_only_when_done(book: JobBook) -> None:
    assert now(book).fraction is None
    book.apply(started(JOB, None))
    assert now(book).fraction is None
    assert book.apply(Progress(job=JOB, done=30.0, total=60.0, remaining_s=9.0)) is JobChange.PROGRESS
    assert now(book).fraction == 0.5
    assert now(book).remaining_s == 9.0
    book.apply(Progress(job=JOB, done=20.0, total=None))
    assert now(book).fraction == 0.5
    book.apply(Progress(job=JOB, done=60.0, total=60.0))
    assert now(book).fraction == 0.99
    book.apply(JobDone(job=JOB))
    assert now(book).fraction == 1.0


def test_warnings_are_collected(book: JobBook) -> None:
    warning = failure(FailureKind.DAMAGED_MEDIA, "a.mp3")
    assert book.apply(Warned(job=JOB, failure=warning)) is JobChange.WARNING
    assert now(book).warnings == (warning,)


def test_answers_are_told_as_such(book: JobBook) -> None:
    media = MediaInfo(duration=1.0, tracks=(TRACK,))
    assert book.apply(MediaProbed(job=JOB, media=media)) is JobChange.ANSWER
    assert now(book).media == media
    assert book.apply(ModelList(job=JOB, models=(), folder="", free_bytes=0)) is JobChange.ANSWER
    assert book.apply(Diagnosis(job=JOB, facts=())) is JobChange.ANSWER


@pytest.mark.parametrize(
    ("ending", "phase"),
    [
        (JobDone(job=JOB), JobPhase.DONE),
        (failed(JOB, FailureKind.NO_AUDIO), JobPhase.FAILED),
        (JobCancelled(job=JOB), JobPhase.CANCELLED),
    ],
)
def test_nothing_follows_an_ending(book: JobBook, ending: JobEvent, phase: JobPhase) -> None:
    book.apply(Tail(job=JOB, text="x"))
    assert book.apply(ending) is JobChange.ENDED
    assert now(book).phase is phase
    assert now(book).is_ended
    assert now(book).tail == ""
    for event in (JobDone(job=JOB), JobCancelled(job=JOB), Tail(job=JOB, text="late")):
        assert book.apply(event) is JobChange.NOTHING
    assert now(book).phase is phase
    assert (now(book).failure is not None) == (phase is JobPhase.FAILED)


def test_unknown_and_forgotten_jobs_change_nothing(book: JobBook) -> None:
    assert book.apply(Tail(job="other", text="x")) is JobChange.NOTHING
    book.forget(JOB)
    book.forget(JOB)
    assert book.get(JOB) is None
    assert book.apply(JobDone(job=JOB)) is JobChange.NOTHING
