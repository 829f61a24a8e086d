"""Every awkward file of the speech set, through the client and through the window: what its entry expects."""

from __future__ import annotations

import json
import queue
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jiwer
import pytest
from whisper_normalizer.english import EnglishTextNormalizer

from engine.client.client import EngineClient
from engine.config import default_config
from engine.protocol.events import Event, JobCancelled, JobDone, JobFailed, SegmentDone
from engine.protocol.transcript import Options
from tests.helpers.jamak_program import JamakProgram, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.timeout(600)]

SAME_TEXT_ERROR = 0.2
"""Word error rate under which a text counts as the same; the codecs at 8 kHz cost a word or two."""


@dataclass(frozen=True)
class Outcome:
    """How a file ended: its text, or the sentence of its failure."""

    text: str = ""
    failure: str = ""


def entries(speech: Path) -> dict[str, dict[str, str]]:
    manifest = json.loads((speech / "manifest.json").read_text(encoding="utf-8"))
    return {entry["file"]: entry for entry in manifest if entry["file"].startswith("awkward/")}


def complaint(entry: dict[str, str], outcome: Outcome) -> str | None:
    """Return what is wrong with an outcome, or None where the entry's `expect` came true."""
    expect, name = entry["expect"], Path(entry["file"]).name
    if outcome.failure:
        if "error" not in expect:
            return f"failed: {outcome.failure}"
        return None if name in outcome.failure else f"the sentence does not name the file: {outcome.failure}"
    if expect.startswith("clear") and "empty transcript" not in expect and "near-empty" not in expect:
        return f"should have failed, said {outcome.text!r}"
    if "empty" in expect and "text" not in expect.replace("transcript", ""):
        heard = EnglishTextNormalizer()(outcome.text)
        is_fine = len(heard) <= (12 if "print" in expect or "near-empty" in expect else 0)
        return None if is_fine else f"invented {outcome.text!r}"
    normalise = EnglishTextNormalizer()
    wanted, heard = normalise(entry["reference"]).split(), normalise(outcome.text).split()
    if "first" in expect:
        wanted = wanted[: max(1, len(heard))]
        if len(heard) < 10:
            return f"too little of it: {outcome.text!r}"
    error = jiwer.wer(" ".join(wanted), " ".join(heard) or "-")
    return None if error <= SAME_TEXT_ERROR else f"{error:.0%} wrong: {outcome.text!r}"


def complaints(speech: Path, outcomes: dict[str, Outcome]) -> list[str]:
    wanted = entries(speech)
    assert outcomes.keys() == wanted.keys()
    found = ((file, complaint(wanted[file], outcome)) for file, outcome in outcomes.items())
    return [f"{file}: {what}" for file, what in found if what is not None]


def test_every_awkward_file_comes_true_through_the_client(speech: Path, whisper_base: Path) -> None:
    events: queue.Queue[Event] = queue.Queue()
    client = EngineClient(default_config(), events.put, name="awkward")
    client.start()
    try:
        options = Options(model=str(whisper_base), language="en")
        jobs = {client.transcribe(str(speech / file), options): file for file in entries(speech)}
        outcomes = {file: Outcome() for file in jobs.values()}
        while jobs:
            event = events.get(timeout=300)
            match event:
                case SegmentDone():
                    file = jobs[event.job]
                    outcomes[file] = Outcome(outcomes[file].text + event.segment.text)
                case JobFailed():
                    outcomes[jobs[event.job]] = Outcome(failure=event.failure.message)
            if isinstance(event, JobDone | JobFailed | JobCancelled):
                del jobs[event.job]
    finally:
        client.close()
    assert complaints(speech, outcomes) == []


@pytest.fixture
def program(tmp_path: Path, whisper_tiny_en: Path) -> Iterator[JamakProgram]:
    made = JamakProgram(tmp_path, whisper_tiny_en)
    yield made
    made.kill()


def test_every_awkward_file_comes_true_through_the_window(speech: Path, program: JamakProgram) -> None:
    files = [speech / file for file in entries(speech)]
    program.start(*files)
    ended = "SELECT count(*) FROM recordings WHERE state IN ('done', 'failed')"
    wait_for(lambda: program.rows(ended) == [(len(files),)], "the end of every row")
    outcomes = {}
    for path, failure, recording in program.rows("SELECT path, failure, id FROM recordings"):
        said = program.rows(f"SELECT text FROM segments WHERE recording_id = {recording} ORDER BY number")
        sentence = json.loads(failure)["message"] if failure else ""
        outcomes["awkward/" + Path(path).name] = Outcome("".join(row[0] for row in said), sentence)
    assert complaints(speech, outcomes) == []
