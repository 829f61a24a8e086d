from __future__ import annotations

from engine.client.stories import Stories, subject_of
from engine.protocol.events import JobCancelled, JobDone, Tail
from engine.protocol.requests import ListModels, ProbeMedia, RemoveModel

ASKED = ListModels(client="c", job="j")


def test_a_job_ends_once_and_then_is_silent() -> None:
    stories = Stories()
    stories.begin(ASKED)
    assert stories.accept(Tail(job="j", text="x"))
    assert stories.accept(JobDone(job="j"))
    assert not stories.accept(JobDone(job="j"))
    assert not stories.accept(Tail(job="j", text="late"))
    assert not stories.is_open("j")


def test_nothing_is_told_of_a_job_that_nobody_asked_for() -> None:
    assert not Stories().accept(Tail(job="stranger", text="x"))


def test_ending_all_leaves_nothing_open() -> None:
    stories = Stories()
    stories.begin(ASKED)
    stories.accept(Tail(job="j", text="x"))
    assert stories.end_all(lambda request: JobCancelled(job=request.job)) == [JobCancelled(job="j")]
    assert not stories.has_begun_any
    assert stories.requests == []
    assert stories.end_all(lambda request: JobCancelled(job=request.job)) == []


def test_a_failure_names_the_file_and_not_its_folder() -> None:
    assert subject_of(ProbeMedia(client="c", job="j", path="/home/me/회의 녹음.wav")) == "회의 녹음.wav"
    assert subject_of(RemoveModel(client="c", job="j", model="whisper-base")) == "whisper-base"
    assert subject_of(ASKED) == "Jamak"
