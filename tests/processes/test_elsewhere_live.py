"""Live sessions whose model is on a server: captions come, whatever way the server hears."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest

from engine.protocol.events import Confirmed, JobFailed, SegmentDone, Warned
from engine.protocol.failures import FailureKind
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options
from tests.helpers.bench import Bench
from tests.helpers.fake_server import (
    Answer,
    FakeServer,
    Shape,
    Upload,
    as_json,
    error,
    gpt_4o,
    openai,
    sglang,
)
from tests.helpers.open_door import OpenDoor
from tests.helpers.toy import WORD_SAMPLES, expected_text, toy_audio, write_toy_model

TALK = (0, 1, 2, 4, 5, 6, 0, 2, 4, 1)
"""Without the smiley, which is no word of its own."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(tmp_path_factory.mktemp("elsewhere"), remote_patience_s=4.0)
    yield bench
    bench.close()


@pytest.fixture
def server() -> Iterator[FakeServer]:
    server = FakeServer()
    yield server
    server.close()


def listen(bench: Bench, model: str) -> JobId:
    return bench.client.listen(Options(model=model, language="en", vad=False))


def feed(bench: Bench, job: JobId, samples: np.ndarray, first: int = 0) -> None:
    end_s = time.monotonic() + 30.0
    for begin in range(0, len(samples), WORD_SAMPLES // 2):
        block = samples[begin : begin + WORD_SAMPLES // 2].astype("<f4").tobytes()
        while not bench.client.feed(job, first + begin, block):
            assert time.monotonic() < end_s, "the engine took nothing"
            time.sleep(0.01)


def speak(bench: Bench, server: FakeServer, job: JobId, samples: np.ndarray) -> None:
    """Feed as somebody speaks: the next words come when the last have been heard."""
    step = 3 * WORD_SAMPLES
    for number, place in enumerate(range(0, len(samples), step)):
        feed(bench, job, samples[place : place + step], first=place)
        if place + step <= len(samples):
            server.wait_for_uploads(number + 1)


@pytest.mark.parametrize("shape", [openai, gpt_4o, sglang])
def test_what_is_said_is_told_while_it_is_said_and_whole_at_the_end(
    bench: Bench, server: FakeServer, shape: Shape
) -> None:
    server.shape = shape
    job = listen(bench, server.model)
    samples = toy_audio(*TALK)
    speak(bench, server, job, samples)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)
    segments = [event.segment for event in bench.listener.of(SegmentDone, job)]
    words = [word for segment in segments for word in segment.words]
    assert all(one.end <= two.start for one, two in pairwise(words))
    if shape is openai:
        assert [word.start for word in words] == pytest.approx([0.5 * n for n in range(len(TALK))], abs=0.05)


def test_trouble_that_passes_delays_captions_and_loses_none(bench: Bench, server: FakeServer) -> None:
    troubles = iter([error(503), error(429, Retry_After="0.1"), error(500)])
    lock = threading.Lock()

    def troubled(upload: Upload) -> Answer:
        with lock:
            trouble = next(troubles, None)
        return trouble or openai(upload)

    server.shape = troubled
    job = listen(bench, server.model)
    samples = toy_audio(*TALK)
    feed(bench, job, samples)
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(samples)
    assert bench.listener.of(Warned, job) == []


def test_sound_that_is_never_heard_is_told_and_the_session_goes_on(bench: Bench, server: FakeServer) -> None:
    server.shape = lambda upload: error(500, "oops")
    job = listen(bench, server.model)
    first, second = toy_audio(0, 1, 4), toy_audio(5, 6, 2)
    feed(bench, job, first)
    bench.client.flush(job)
    warned = bench.listener.wait_for(Warned, job)
    assert warned.failure.kind is FailureKind.REMOTE_BROKEN
    assert warned.failure.subject in server.url
    server.shape = openai
    feed(bench, job, second, first=len(first))
    bench.client.close_stream(job)
    assert bench.text(job) == expected_text(second)


def test_a_key_that_is_refused_ends_the_session_at_once(bench: Bench, server: FakeServer) -> None:
    server.shape = lambda upload: error(401, "no")
    job = listen(bench, server.model)
    feed(bench, job, toy_audio(*TALK))
    ending = bench.listener.wait_for_ending(job)
    assert isinstance(ending, JobFailed)
    assert ending.failure.kind is FailureKind.REMOTE_KEY


def test_what_is_heard_a_little_differently_each_time_is_said_once(bench: Bench, server: FakeServer) -> None:
    """Servers have no memory: marks and capitals change from decode to decode, words do not."""

    def moody(upload: Upload) -> Answer:
        text = upload.text.strip()
        return as_json({"text": text.upper() + "!" if len(server.uploads) % 2 else text})

    server.shape = moody
    job = listen(bench, server.model)
    samples = toy_audio(*TALK)
    speak(bench, server, job, samples)
    bench.client.close_stream(job)
    letters = "".join(char for char in bench.text(job).casefold() if char.isalnum())
    assert letters == "".join(char for char in expected_text(samples).casefold() if char.isalnum())


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDoor]:
    """Our own server, elsewhere."""
    folder = tmp_path_factory.mktemp("door")
    door = OpenDoor(folder, str(write_toy_model(folder / "toy", languages=["en"])))
    yield door
    door.close()


def test_captions_come_over_the_line_where_the_server_has_one(bench: Bench, door: OpenDoor) -> None:
    """Our own server hears it: its one place is taken by the connection, from its beginning to its end."""
    job = listen(bench, f"{door.url}/v1#toy")
    texts = []
    first = 0
    for words in ((0, 1, 4, 2, 6), (5, 6, 2, 0, 1, 7)):
        samples = toy_audio(*words)
        feed(bench, job, samples, first=first)
        first += len(samples)
        bench.client.flush(job)
        texts.append(expected_text(samples))
        bench.listener.wait_until(lambda _: told(bench, job) == "".join(texts))
        assert door.door.places.num_taken == 1
    bench.client.close_stream(job)
    assert bench.text(job) == "".join(texts)


def told(bench: Bench, job: JobId) -> str:
    return "".join(event.delta for event in bench.listener.of(Confirmed, job))
