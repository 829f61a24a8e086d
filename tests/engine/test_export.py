"""Exported files are what their formats say, proved by readers that are not ours."""

from __future__ import annotations

import io
import json

import msgspec
import pysubs2
import pytest
import webvtt

from engine.export import ExportFormat, file_name, render
from engine.protocol.transcript import Segment, Task, Transcript, Word
from tests.engine.test_captions import ARABIC, ENGLISH, JAPANESE, KOREAN
from tests.helpers.engine_stories import segment

HARD = Transcript(
    segments=(
        segment(ENGLISH, 0, 9.5),
        segment(" a --> b <i>not markup</i> & that's it", 9.5, 12.25),
        segment(JAPANESE, 12.25, 20),
        segment(KOREAN, 20, 27),
        segment(ARABIC, 27, 33),
        segment("", 33, 34),
        segment(" zero", 3605.5, 3605.5),
    ),
    language="en",
    language_probability=0.9,
    duration=3700.0,
    model="whisper-base",
    source="회의.mp4",
)


def letters(text: str) -> str:
    return "".join(text.split())


@pytest.mark.parametrize("transcript", [HARD, Transcript(segments=())])
def test_subrip_is_read_by_another_library(transcript: Transcript) -> None:
    content = render(transcript, ExportFormat.SRT)
    read = pysubs2.SSAFile.from_string(content, "srt")
    assert content.count("-->") == len(read)
    assert all(event.start < event.end for event in read)
    assert all(a.end <= b.start for a, b in zip(read, list(read)[1:], strict=False))
    if transcript.segments:
        assert "00:00:09,500 --> 00:00:12,170" in content
        assert "01:00:05,500 --> 01:00:06,500" in content
        assert letters(KOREAN) in letters("".join(event.plaintext for event in read))
    else:
        assert content == ""


@pytest.mark.parametrize("transcript", [HARD, Transcript(segments=())])
def test_webvtt_is_read_by_another_library(transcript: Transcript) -> None:
    content = render(transcript, ExportFormat.VTT)
    assert content.startswith("WEBVTT\n")
    read = list(webvtt.from_buffer(io.StringIO(content)))
    assert content.count("-->") == len(read)
    text = "".join(cue.raw_text for cue in read)
    assert ("&lt;i&gt;notmarkup&lt;/i&gt;&amp;that'sit" in letters(text)) == bool(transcript.segments)
    assert all(cue.start_in_seconds <= cue.end_in_seconds for cue in read)


def test_plain_text_is_a_line_for_each_segment() -> None:
    lines = render(HARD, ExportFormat.TXT).splitlines()
    assert lines[0] == ENGLISH.strip()
    assert len(lines) == 6, "a segment without text is no line"
    assert render(Transcript(segments=()), ExportFormat.TXT) == ""


def test_json_has_everything_that_is_known() -> None:
    word = Word(text=" hi", start=0.1, end=0.5, probability=0.75)
    spoken = Segment(start=0, end=1, text=" hi", words=(word,), tokens=(1, 2))
    transcript = Transcript(segments=(spoken,), language="ko", model="m", source="a.wav", task=Task.TRANSLATE)
    content = json.loads(render(transcript, ExportFormat.JSON))
    assert content["text"] == "hi"
    assert content["task"] == "translate"
    assert content["segments"][0]["words"] == [msgspec.to_builtins(word)]
    assert content["segments"][0]["time_source"] == "model"
    assert "tokens" not in content["segments"][0]


def test_json_is_written_in_its_own_script() -> None:
    assert "회의.mp4" in render(HARD, ExportFormat.JSON)


@pytest.mark.parametrize(
    ("source", "taken", "name"),
    [
        ("talk.mp3", (), "talk.srt"),
        ("talk.mp3", ("talk.srt",), "talk (2).srt"),
        ("Talk.wav", ("talk.srt", "TALK (2).SRT"), "Talk (3).srt"),
        ("two.dots..opus", (), "two.dots..srt"),
        (".hidden.opus", (), ".hidden.srt"),
        ("no_extension", (), "no_extension.srt"),
        ("", (), "transcript.srt"),
    ],
)
def test_names_do_not_collide(source: str, taken: tuple[str, ...], name: str) -> None:
    assert file_name(source, ExportFormat.SRT, taken) == name


@pytest.mark.parametrize("letter", ["a", "한", "🎙"])
def test_long_names_stay_within_what_file_systems_take(letter: str) -> None:
    name = file_name(letter * 250 + ".opus", ExportFormat.JSON, ())
    assert len(name.encode()) <= 255
    assert name.endswith(".json")
    assert "\ufffd" not in name
