"""The server on real speech: the official SDK, and the lines that README tells people to paste."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
import webvtt
from openai.types.audio import TranscriptionVerbose, TranslationVerbose

from app.capture.sinc import Stretcher
from engine.client.client import EngineClient
from engine.protocol.events import Confirmed, JobDone, JobStarted, Tail
from engine.protocol.requests import JobId
from engine.protocol.transcript import Options
from tests.helpers.listener import Listener
from tests.helpers.served import Served

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "resources" / "sample.flac"
RATE_HZ = 16_000
LONGEST_S = 15.0
"""Of clips in which nobody speaks: longer ones are measured, not tested."""
WHISPER = ("engine.adapters.whisper",)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, whisper_base: Path) -> Iterator[Served]:
    server = Served(tmp_path_factory.mktemp("served"), whisper_base, families=WHISPER)
    yield server
    assert server.end() == 0


@pytest.fixture(scope="module")
def text(served: Served) -> str:
    return served.client().audio.transcriptions.create(file=SAMPLE, model="whisper-1").text


def words_of(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_json_is_what_is_said(text: str) -> None:
    assert len(words_of(text)) > 15
    assert text == text.strip()


def test_verbose_json_is_complete(served: Served, text: str) -> None:
    answer = served.client().audio.transcriptions.create(
        file=SAMPLE,
        model="whisper-base",
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
    )
    assert isinstance(answer, TranscriptionVerbose)
    assert answer.language == "english"
    assert answer.duration == pytest.approx(9.875, abs=0.01)
    assert answer.words is not None and answer.segments is not None
    assert words_of(answer.text) == words_of(" ".join(word.word for word in answer.words))
    for word in answer.words:
        assert 0 <= word.start < word.end <= answer.duration
    assert "".join(segment.text for segment in answer.segments).strip() == answer.text
    for segment in answer.segments:
        assert segment.tokens
        assert segment.temperature == 0
        assert -1 < segment.avg_logprob < 0
        assert 0.5 < segment.compression_ratio < 2.4
        assert 0 <= segment.no_speech_prob < 0.5
        assert 0 <= segment.seek <= segment.start * 100 + 1


def test_files_of_subtitles_and_text_can_be_read(served: Served, text: str) -> None:
    create = served.client().audio.transcriptions.create
    assert create(file=SAMPLE, model="whisper-1", response_format="text") == text + "\n"
    captions = webvtt.from_string(create(file=SAMPLE, model="whisper-1", response_format="vtt"))
    assert words_of(" ".join(caption.text for caption in captions)) == words_of(text)
    subtitles = create(file=SAMPLE, model="whisper-1", response_format="srt")
    assert re.match(r"1\n00:00:0\d,\d{3} --> 00:00:\d\d,\d{3}\n", subtitles)


@pytest.mark.parametrize("fallback", [True, False])
def test_a_stream_says_the_same(served: Served, text: str, fallback: bool) -> None:
    *deltas, done = served.client().audio.transcriptions.create(
        file=SAMPLE, model="whisper-1", stream=True, extra_body={"fallback": fallback}
    )
    assert "".join(one.delta for one in deltas) == done.text == text
    assert len(deltas) < 5 if fallback else len(deltas) > 15


def test_each_tokens_probability_belongs_to_its_bytes(served: Served, text: str) -> None:
    answer = served.client().audio.transcriptions.create(file=SAMPLE, model="whisper-1", include=["logprobs"])
    assert answer.logprobs is not None
    told = b"".join(bytes(int(byte) for byte in one.bytes or ()) for one in answer.logprobs)
    assert told.decode().strip() == answer.text == text
    assert all(one.logprob is not None and one.logprob <= 0 for one in answer.logprobs)


def test_a_translation_is_english(served: Served) -> None:
    answer = served.client().audio.translations.create(
        file=SAMPLE, model="whisper-1", response_format="verbose_json"
    )
    assert isinstance(answer, TranslationVerbose)
    assert answer.language == "english"
    assert answer.text


class Attached:
    """Another program's client of the same engine."""

    def __init__(self, served: Served) -> None:
        self.listener = Listener()
        self.client = EngineClient(served.config, self.listener.on_event, name="test")
        self.client.start()

    def listen(self, path: Path, options: Options) -> JobId:
        """Feed a file as a microphone would be, as fast as it is taken."""
        samples, rate_hz = soundfile.read(path, dtype="float32")
        heard = Stretcher(rate_hz, RATE_HZ).push(samples, 1.0) if rate_hz != RATE_HZ else samples
        job = self.client.listen(options)
        self.listener.wait_for(JobStarted, job)
        for first in range(0, len(heard), RATE_HZ // 2):
            block = heard[first : first + RATE_HZ // 2].astype("<f4").tobytes()
            # A clip is shorter than what a session may be behind by, so nothing of it is refused.
            assert self.client.feed(job, first, block)
        self.client.close_stream(job)
        return job

    def texts(self, job: JobId) -> list[str]:
        """Wait for a job's end; return all text that was told of it, also for a moment only."""
        assert isinstance(self.listener.wait_for_ending(job), JobDone)
        told = self.listener.story(job)
        texts = [
            event.delta if isinstance(event, Confirmed) else event.text
            for event in told
            if isinstance(event, Confirmed | Tail)
        ]
        return [text for text in texts if text]


@pytest.fixture
def attached(served: Served) -> Iterator[Attached]:
    attached = Attached(served)
    yield attached
    attached.client.close()


def test_where_nobody_speaks_there_is_no_text(attached: Attached, speech: Path, whisper_base: Path) -> None:
    """A tone, a trumpet and a keyboard have no words: in a file as well as before a microphone."""
    entries = json.loads((speech / "manifest.json").read_text(encoding="utf-8"))
    clips = [
        speech / entry["file"]
        for entry in entries
        if entry["kind"] == "non-speech"
        and entry["reference_status"].startswith("no speech")
        and entry["seconds"] <= LONGEST_S
    ]
    assert len(clips) > 2
    options = Options(model=str(whisper_base))
    jobs = {attached.client.transcribe(str(clip), options): clip.name for clip in clips}
    jobs |= {attached.listen(clip, options): f"{clip.name} live" for clip in clips}
    assert {name: attached.texts(job) for job, name in jobs.items()} == {name: [] for name in jobs.values()}


def readme_lines() -> list[str]:
    """Return every command that README shows with curl."""
    return re.findall(r"^curl .*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("line", readme_lines())
def test_what_the_readme_tells_to_paste_works(served: Served, text: str, line: str) -> None:
    assert "127.0.0.1:8642" in line, "the address that jamak serve has by default"
    command = shlex.split(line.replace("127.0.0.1:8642", f"127.0.0.1:{served.port}"), comments=True)
    told = subprocess.run(
        [command[0], "--silent", "--show-error", "--fail", *command[1:]],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    if "/models" in line:
        assert "whisper-base" in told
    elif "/metrics" in line:
        assert "jamak_decoder_steps_total{" in told
    elif "stream=true" in line:
        assert json.loads(told.strip().splitlines()[-1].removeprefix("data: "))["text"] == text
    elif "translations" in line:
        assert words_of(told)
    else:
        assert set(words_of(text)) <= set(words_of(told))


def test_the_readme_shows_the_door() -> None:
    assert len(readme_lines()) >= 6
