"""The second family through the whole engine: files and live sessions, heard by the tiny real network."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest
import soundfile

from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.events import JobDone, LanguageDetected, SegmentDone, Tail
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options, TimeSource
from tests.helpers.bench import Bench
from tests.helpers.tiny_qwen3 import NATIVE, Samples, phrase, phrases, write_original

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    bench = Bench(
        tmp_path_factory.mktemp("qwen"),
        families=("engine.adapters.qwen3_asr",),
        device="cpu",
        dtype="float32",
        num_threads=1,
        max_loaded_models=2,
        hang_s=60.0,
    )
    yield bench
    bench.close()


def write(bench: Bench, name: str, pcm: Samples) -> str:
    path = bench.folder / f"{name}.wav"
    soundfile.write(path, pcm, SAMPLE_RATE_HZ)
    return str(path)


def settled(bench: Bench, *jobs: JobId) -> list[str]:
    """Wait for the endings of jobs, and return their texts."""
    for job in jobs:
        assert isinstance(bench.listener.wait_for_ending(job, 60.0), JobDone)
    return [bench.told_text(job) for job in jobs]


@pytest.mark.parametrize("layout", ["native", "original"])
def test_all_phrases_are_written_in_a_known_language_and_in_an_unknown_one(bench: Bench, layout: str) -> None:
    folder = NATIVE if layout == "native" else write_original(bench.folder / "original")
    spoken = phrases()
    paths = [write(bench, one.name, one.pcm) for one in spoken]
    told = [one.told for one in spoken]
    detected = [bench.client.transcribe(path, Options(model=str(folder))) for path in paths]
    forced = [
        bench.client.transcribe(path, Options(model=str(folder), language=one.language, hotwords="Qwen"))
        for path, one in zip(paths, spoken, strict=True)
    ]
    assert settled(bench, *detected) == told
    assert settled(bench, *forced) == told
    for job, one in zip(detected, spoken, strict=True):
        (heard,) = [event for event in bench.listener.story(job) if isinstance(event, LanguageDetected)]
        assert heard.language == one.language


def test_a_hotword_is_obeyed_and_silence_is_empty(bench: Bench) -> None:
    cat = write(bench, "cat", phrase("en1").pcm)
    silence = write(bench, "silence", np.zeros(3 * SAMPLE_RATE_HZ, np.float32))
    noise = np.random.default_rng(0).normal(size=3 * SAMPLE_RATE_HZ).astype(np.float32)
    hiss = write(bench, "hiss", noise * 1e-3)
    with_word = bench.client.transcribe(cat, Options(model=str(NATIVE), hotwords="Matt"))
    quiet = [
        bench.client.transcribe(path, Options(model=str(NATIVE), hotwords="Matt", vad=has_vad))
        for path in (silence, hiss)
        for has_vad in (True, False)
    ]
    assert settled(bench, with_word, *quiet) == [" The cat sat on the Matt.", "", "", "", ""]


def test_sentences_of_a_long_file_lie_where_they_were_said(bench: Bench) -> None:
    """The model tells no times: they come from the pauses, and are told to."""
    gap, rest = (np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32) for seconds in (0.7, 7.0))
    groups = [[phrase(name) for name in names] for names in (("ko1", "ko3"), ("ko0", "ko2", "ko1"), ("ko3",))]
    begins_s: list[float] = []
    pcm = np.zeros(0, np.float32)
    for group in groups:
        for one in group:
            begins_s.append(len(pcm) / SAMPLE_RATE_HZ)
            pcm = np.concatenate([pcm, one.pcm, gap])
        pcm = np.concatenate([pcm, rest])
    options = Options(model=str(NATIVE), language="ko")
    job = bench.client.transcribe(write(bench, "long", pcm), options)
    assert settled(bench, job) == ["".join(one.told for group in groups for one in group)]
    segments = [event.segment for event in bench.listener.story(job) if isinstance(event, SegmentDone)]
    assert [segment.text for segment in segments] == [one.told for group in groups for one in group]
    assert {segment.time_source for segment in segments} == {TimeSource.VAD}
    assert [segment.start for segment in segments] == pytest.approx(begins_s, abs=0.3)


def test_a_live_session_tells_what_was_said_and_never_takes_it_back(bench: Bench) -> None:
    gap, rest = (np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32) for seconds in (0.8, 3.0))
    spoken = [phrase(name) for name in ("ko1", "ko3", "ko0", "ko2")]
    pcm = np.concatenate([spoken[0].pcm, gap, spoken[1].pcm, rest, spoken[2].pcm, gap, spoken[3].pcm, gap])
    job = bench.client.listen(Options(model=str(NATIVE), language="ko", live_chunk_s=0.5))
    block = SAMPLE_RATE_HZ // 4
    end_s = time.monotonic() + 60.0
    for first in range(0, len(pcm), block):
        while not bench.client.feed(job, first, pcm[first : first + block].astype("<f4").tobytes()):
            assert time.monotonic() < end_s, "the engine took nothing"
            time.sleep(0.01)
    bench.client.close_stream(job)
    assert settled(bench, job) == ["".join(one.told for one in spoken)]
    story = bench.listener.story(job)
    assert not any("\ufffd" in event.text for event in story if isinstance(event, Tail))
