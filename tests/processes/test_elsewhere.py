"""The whole engine with its model on a server: files come back whole, whatever the server says."""

from __future__ import annotations

import difflib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from app.paths import resource
from engine.protocol.events import (
    JobCancelled,
    JobDone,
    JobFailed,
    LanguageDetected,
    ModelList,
    SegmentDone,
    Tail,
)
from engine.protocol.failures import FailureKind
from engine.protocol.transcript import Options, Task, TimeSource
from tests.helpers.bench import Bench
from tests.helpers.fake_server import (
    MODEL,
    Answer,
    FakeServer,
    Shape,
    Upload,
    error,
    events,
    gpt_4o,
    openai,
    sglang,
    vllm,
)
from tests.helpers.open_door import OpenDoor
from tests.helpers.processes import children_of, role_of, wait_until_gone
from tests.helpers.toy import expected_text, toy_audio


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("elsewhere"), remote_patience_s=2.0)
    yield bench
    bench.close()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    server.close()


@pytest.mark.parametrize("shape", [openai, gpt_4o, sglang, vllm])
def test_every_servers_text_arrives_whole_and_in_order(
    bench: Bench, server: FakeServer, long_file: str, long_text: str, shape: Shape
) -> None:
    server.shape = shape
    job = bench.transcribe(long_file, server.model)
    assert bench.text(job).split() == long_text.split()
    segments = [event.segment for event in bench.listener.of(SegmentDone, job)]
    assert all(one.end <= two.start for one, two in pairwise(segments))
    measured = shape in (openai, sglang)
    assert {segment.time_source.is_measured for segment in segments} == {measured}


def test_words_have_the_servers_times_and_the_texts_marks(bench: Bench, server: FakeServer) -> None:
    words = (0, 4, None, 2, 7)
    options = Options(model=server.model, vad=False, word_timestamps=True)
    job = bench.client.transcribe(bench.file("timed", *words), options)
    assert bench.text(job) == expected_text(toy_audio(*words))
    told = [word for event in bench.listener.of(SegmentDone, job) for word in event.segment.words]
    assert [word.text for word in told] == [" toy", " mot,", " 낱말", " word."]
    assert [word.start for word in told] == [0.0, 0.5, 1.5, 2.0]
    assert {word.time_source for word in told} == {TimeSource.MODEL}


def test_pieces_of_a_file_are_on_their_way_at_once(
    bench: Bench, server: FakeServer, long_file: str, long_text: str
) -> None:
    """Four uploads wait for one another on the server: one by one they would wait for ever."""
    server.barrier = threading.Barrier(4)
    options = Options(model=server.model, vad=False, language="en")
    job = bench.client.transcribe(bench.long_file("four", seed=3, num_words=200), options)
    bench.text(job)
    assert len(server.uploads) == 4


def test_the_language_found_first_is_asked_for_in_the_rest(
    bench: Bench, server: FakeServer, long_file: str
) -> None:
    job = bench.transcribe(long_file, server.model)
    bench.text(job)
    assert [event.language for event in bench.listener.of(LanguageDetected, job)] == ["en"]
    first, *others = [upload.field("language") for upload in server.uploads]
    assert first is None
    assert set(others) == {"en"}


def test_a_language_that_was_not_looked_for_is_not_believed(
    bench: Bench, server: FakeServer, long_file: str
) -> None:
    """SGLang says "en" whatever is spoken; the other pieces of a Korean file would be read as English."""
    server.shape = sglang
    job = bench.transcribe(long_file, server.model)
    bench.text(job)
    assert bench.listener.of(LanguageDetected, job) == []
    assert {upload.field("language") for upload in server.uploads} == {None}


def test_streamed_text_is_seen_before_it_is_whole(bench: Bench, server: FakeServer, long_file: str) -> None:
    server.shape = vllm
    job = bench.transcribe(long_file, server.model)
    bench.text(job)
    assert len([event for event in bench.listener.of(Tail, job) if event.text]) > 5
    assert not any("\ufffd" in event.text for event in bench.listener.of(Tail, job))


class Troubled:
    """A server that answers the first `num` uploads with trouble and then as it should."""

    def __init__(self, trouble: Callable[[Upload], Answer], num: int) -> None:
        self._trouble = trouble
        self._num = num
        self._lock = threading.Lock()

    def __call__(self, upload: Upload) -> Answer:
        with self._lock:
            self._num -= 1
            is_troubled = self._num >= 0
        return self._trouble(upload) if is_troubled else openai(upload)


@pytest.mark.parametrize(
    "trouble",
    [
        lambda upload: error(429, "slow down", Retry_After="0"),
        lambda upload: error(503, "loading", Retry_After="0.2"),
        lambda upload: error(500, "oops"),
        lambda upload: events({"error": {"message": "out of memory"}}),
        lambda upload: Answer((b'{"text": "ha',), is_cut=True),
        lambda upload: Answer((b'data: {"type": "transcript.text.delta", "delta": "ha"}\n\n',),
                              content_type="text/event-stream"),
    ],
    ids=["busy", "loading", "broken", "error in a stream", "cut off", "stream without an end"],
)  # fmt: skip
def test_trouble_that_passes_costs_time_and_no_text(
    bench: Bench, server: FakeServer, long_file: str, long_text: str, trouble: Shape
) -> None:
    server.shape = Troubled(trouble, 2)
    assert bench.text(bench.transcribe(long_file, server.model)).split() == long_text.split()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (error(401, "Incorrect API key", "invalid_api_key"), FailureKind.REMOTE_KEY),
        (error(404, "The model `whisper` does not exist", "model_not_found"), FailureKind.REMOTE_MODEL),
        (error(404, "Not Found"), FailureKind.REMOTE_NOT_UNDERSTOOD),
        (error(413, "too large"), FailureKind.REMOTE_TOO_LARGE),
        (error(429, "busy", Retry_After="3600"), FailureKind.REMOTE_BUSY),
        (error(429, "pay first", "insufficient_quota"), FailureKind.REMOTE_REFUSED),
        (error(500, "oops"), FailureKind.REMOTE_BROKEN),
        (error(400, "no such language"), FailureKind.REMOTE_REFUSED),
        (Answer((b"<html>Welcome!</html>",), content_type="text/html"), FailureKind.REMOTE_NOT_UNDERSTOOD),
        (Answer((), 302, headers={"Location": "http://127.0.0.1:1/"}), FailureKind.REMOTE_NOT_UNDERSTOOD),
    ],
)  # fmt: skip
def test_trouble_that_stays_is_told_as_what_it_is(
    bench: Bench, server: FakeServer, answer: Answer, kind: FailureKind
) -> None:
    server.shape = lambda upload: answer
    job = bench.transcribe(bench.file("a", 0, 1), server.model)
    assert bench.failure_of(job) is kind
    [ending] = bench.listener.of(JobFailed, job)
    assert MODEL in ending.failure.message or "127.0.0.1" in ending.failure.message


def test_a_server_that_is_not_there_is_named(bench: Bench) -> None:
    gone = FakeServer()
    gone.close()
    job = bench.transcribe(bench.file("a", 0, 1), gone.model)
    assert bench.failure_of(job) is FailureKind.REMOTE_UNREACHABLE


def test_a_failure_keeps_what_was_recognised_and_a_new_job_goes_on_behind_it(
    bench: Bench, server: FakeServer, long_file: str, long_text: str
) -> None:
    third = threading.Event()

    def breaking(upload: Upload) -> Answer:
        if len(server.uploads) >= 3 and not third.is_set():
            return error(400, "no more")
        return openai(upload)

    server.shape = breaking
    job = bench.transcribe(long_file, server.model)
    assert bench.failure_of(job) is FailureKind.REMOTE_REFUSED
    told = bench.listener.of(SegmentDone, job)
    assert told
    third.set()
    resume_at = round(told[-1].segment.end * 16_000)
    options = Options(model=server.model, vad=False, language="en")
    rest = bench.client.transcribe(long_file, options, resume_at)
    assert isinstance(bench.listener.wait_for_ending(rest), JobDone)
    text = bench.told_text(job) + bench.told_text(rest)
    assert text.split() == long_text.split()


def test_a_cancelled_job_hangs_up(bench: Bench, server: FakeServer) -> None:
    is_asked, may_answer = threading.Event(), threading.Event()

    def slow(upload: Upload) -> Answer:
        is_asked.set()
        may_answer.wait(20.0)
        # More than any buffer holds: only a caller that listens lets it pass.
        return Answer((b" " * 1_000_000,) * 64)

    server.shape = slow
    job = bench.transcribe(bench.file("a", 0, 1), server.model)
    assert is_asked.wait(20.0)
    bench.client.cancel(job)
    assert isinstance(bench.listener.wait_for_ending(job), JobCancelled)
    may_answer.set()
    server.wait_for_hang_up()


def test_a_killed_remote_loop_costs_time_and_no_text(
    bench: Bench, server: FakeServer, long_file: str, long_text: str
) -> None:
    may_answer = threading.Event()

    def waiting(upload: Upload) -> Answer:
        may_answer.wait(20.0)
        return openai(upload)

    server.shape = waiting
    job = bench.transcribe(long_file, server.model)
    server.wait_for_uploads()
    pids = [pid for pid in children_of(bench.engine) if role_of(pid) == "remote"]
    os.kill(pids[-1], signal.SIGKILL)
    wait_until_gone(pids[-1:])
    may_answer.set()
    assert bench.text(job).split() == long_text.split()


def test_a_key_goes_to_its_own_server_only(bench: Bench, server: FakeServer) -> None:
    other = FakeServer()
    bench.client.use_key(server.url, "secret")
    for one in (server, other):
        bench.text(bench.transcribe(bench.file("a", 0, 1), one.model))
    bench.client.use_key(server.url, "better")
    bench.text(bench.transcribe(bench.file("b", 1, 0), server.model))
    other.close()
    assert [upload.key for upload in server.uploads] == ["secret", "better"]
    assert [upload.key for upload in other.uploads] == [None]


def test_a_server_lists_its_models_and_the_one_that_hears_is_chosen(bench: Bench, server: FakeServer) -> None:
    job = bench.client.list_models(server.url)
    listed = bench.listener.wait_for(ModelList, job)
    assert [model.name for model in listed.models] == ["some-llm", MODEL]
    assert listed.models[1].key == server.model
    bench.text(bench.transcribe(bench.file("a", 0, 1), server.url))
    assert [upload.field("model") for upload in server.uploads] == [MODEL]


@pytest.mark.parametrize(
    ("models", "kind"),
    [
        ({"data": [{"id": "llama"}, {"id": "qwen"}]}, FailureKind.REMOTE_MODEL),
        ({"hello": "world"}, FailureKind.REMOTE_NOT_UNDERSTOOD),
    ],
)
def test_a_server_without_a_model_for_speech_says_so(
    bench: Bench, server: FakeServer, models: object, kind: FailureKind
) -> None:
    server.models = models
    assert bench.failure_of(bench.transcribe(bench.file("a", 0, 1), server.url)) is kind


def test_a_translation_is_asked_for_at_its_own_address(bench: Bench, server: FakeServer) -> None:
    options = Options(
        model=server.model, vad=False, task=Task.TRANSLATE, initial_prompt="Names.", hotwords="Jamak"
    )
    bench.text(bench.client.transcribe(bench.file("a", 0, 1), options))
    [upload] = server.uploads
    assert upload.path == "/v1/audio/translations"
    assert upload.field("prompt") == "Names. Jamak"


@pytest.mark.weights
def test_a_whisper_elsewhere_says_what_one_here_says(
    bench: Bench, tmp_path: Path, whisper_base: Path
) -> None:
    """Our own server with the real model: text, times of words and language all come back."""
    door = OpenDoor(tmp_path, str(whisper_base), families=("engine.adapters.whisper",))
    try:
        options = Options(model=f"{door.url}/v1#whisper-base", word_timestamps=True)
        job = bench.client.transcribe(str(resource("sample.flac")), options)
        text = bench.text(job)
    finally:
        door.close()
    spoken = resource("sample.txt").read_text(encoding="utf-8")
    letters = ["".join(char for char in one.lower() if char.isalpha()) for one in (text, spoken)]
    assert difflib.SequenceMatcher(None, *letters, autojunk=False).ratio() > 0.95
    assert [event.language for event in bench.listener.of(LanguageDetected, job)] == ["en"]
    words = [word for event in bench.listener.of(SegmentDone, job) for word in event.segment.words]
    assert "".join(word.text for word in words) == text
    assert sum(word.time_source is TimeSource.MODEL for word in words) > 0.9 * len(words)
    assert all(one.end <= two.start + 1e-6 for one, two in pairwise(words))
