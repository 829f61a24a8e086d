"""`jamak doctor --self-test` passes where the sample's words are heard, and only there."""

from __future__ import annotations

import io

import pytest

from app import texts
from app.cli.run import run
from app.cli.self_test import shared_words
from app.paths import resource
from engine.config import default_config
from engine.protocol.events import Confirmed, Event, JobDone
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from tests.helpers.engine_stories import ClientFactory, Story, failed


@pytest.fixture(autouse=True)
def english() -> None:
    texts.use_language("en")


def ran(story: Story) -> tuple[int, str, ClientFactory]:
    factory = ClientFactory(stories={"sample.flac": [story]})
    out = io.StringIO()
    arguments = ["doctor", "--self-test"]
    exit_code = run(arguments, make_client=factory, config=default_config(), out=out, err=io.StringIO())
    return exit_code, out.getvalue(), factory


def hearing(text: str) -> Story:
    def story(job: JobId) -> list[Event]:
        half = len(text) // 2
        return [
            Confirmed(job=job, delta=text[:half]),
            Confirmed(job=job, delta=text[half:]),
            JobDone(job=job),
        ]

    return story


def test_it_passes_when_the_sample_is_understood() -> None:
    said = resource("sample.txt").read_text(encoding="utf-8")
    exit_code, out, factory = ran(hearing(said.replace("every", "Ever he").upper()))
    assert exit_code == 0
    assert "self-test: passed" in out
    assert factory.client is not None
    assert factory.client.is_closed


@pytest.mark.parametrize("heard", ["", "Thanks for watching!", "Speak, and the words appear on the page."])
def test_it_fails_when_too_little_of_it_is_heard(heard: str) -> None:
    exit_code, out, _ = ran(hearing(heard))
    assert exit_code == 1
    assert "self-test: failed" in out


def test_it_fails_with_the_reason_where_there_is_no_model() -> None:
    exit_code, out, _ = ran(lambda job: [failed(job, FailureKind.MODEL_MISSING, "Whisper base")])
    assert exit_code == 1
    assert "self-test: failed: The model “Whisper base”" in out


def test_words_count_in_their_order_whatever_their_case_and_stops() -> None:
    assert shared_words("One, two. Three!", "one two three") == 1.0
    assert shared_words("one two three four", "four three two one") == 0.25
    assert shared_words("하나 둘", "하나") == 0.5
