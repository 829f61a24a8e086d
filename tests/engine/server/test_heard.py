"""Transcripts as OpenAI's objects, and deltas that joined are exactly the text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.protocol.events import JobDone, LanguageDetected, SegmentDone
from engine.protocol.transcript import Options, Segment, Task, TokenLogprob, Word
from engine.server.form import Asked, ResponseFormat
from engine.server.heard import Deltas, Heard

FIRST = Segment(
    start=0.5,
    end=2.0,
    text=" Hello é",
    tokens=(1, 2, 3),
    words=(
        Word(text=" Hello", start=0.5, end=1.0, probability=0.9),
        Word(text=" é", start=1.2, end=2.0, probability=0.8),
    ),
    avg_logprob=-0.25,
    compression_ratio=0.8,
    no_speech_prob=0.01,
    seek=50,
    token_logprobs=(TokenLogprob(b" Hello", -0.1), TokenLogprob(b" \xc3", -0.2), TokenLogprob(b"\xa9", -0.3)),
)
SECOND = Segment(start=2.0, end=3.25, text=" there. ", temperature=0.2, tokens=(4,))


def heard(format_: ResponseFormat, **changes: object) -> Heard:
    asked = Asked(
        model="m", options=Options(task=changes.pop("task", Task.TRANSCRIBE)), format=format_, **changes
    )  # type: ignore[arg-type]
    grown = Heard(asked)
    for event in (
        LanguageDetected(job="j", language="fr", probability=0.9),
        SegmentDone(job="j", segment=FIRST),
        SegmentDone(job="j", segment=SECOND),
        JobDone(job="j", duration=8.47),
    ):
        grown.take(event)
    return grown


def test_json_is_the_text_what_it_costs_and_the_language() -> None:
    assert heard(ResponseFormat.JSON).answer() == {
        "text": "Hello é there.",
        "usage": {"type": "duration", "seconds": 9},
        "languages": [{"code": "fr"}],
    }


def test_log_probabilities_hold_the_bytes_of_the_text() -> None:
    answer = heard(ResponseFormat.JSON, wants_logprobs=True).answer()
    assert isinstance(answer, dict)
    assert answer["logprobs"][0] == {"token": " Hello", "bytes": list(b" Hello"), "logprob": -0.1}
    assert bytes(byte for one in answer["logprobs"] for byte in one["bytes"]).decode() == " Hello é"


def test_verbose_json_has_every_field_of_a_segment_and_of_a_word() -> None:
    answer = heard(ResponseFormat.VERBOSE_JSON, wants_words=True).answer()
    assert isinstance(answer, dict)
    assert answer["language"] == "french"
    assert answer["duration"] == 8.47
    assert answer["words"] == [
        {"word": "Hello", "start": 0.5, "end": 1.0},
        {"word": "é", "start": 1.2, "end": 2.0},
    ]
    assert answer["segments"][0] == {
        "id": 0,
        "seek": 50,
        "start": 0.5,
        "end": 2.0,
        "text": " Hello é",
        "tokens": [1, 2, 3],
        "temperature": 0.0,
        "avg_logprob": -0.25,
        "compression_ratio": 0.8,
        "no_speech_prob": 0.01,
    }
    assert [one["id"] for one in answer["segments"]] == [0, 1]


def test_a_translation_is_english_whatever_was_spoken() -> None:
    answer = heard(ResponseFormat.VERBOSE_JSON, task=Task.TRANSLATE, wants_segments=False).answer()
    assert isinstance(answer, dict)
    assert (answer["task"], answer["language"]) == ("translate", "english")
    assert "segments" not in answer and "words" not in answer


def test_files_come_as_files() -> None:
    assert heard(ResponseFormat.TEXT).answer() == "Hello é there.\n"
    assert str(heard(ResponseFormat.SRT).answer()).startswith("1\n00:00:00,500 --> 00:00:01,920\nHello é\n")
    assert str(heard(ResponseFormat.VTT).answer()).startswith("WEBVTT\n\n1\n00:00:00.500 -->")


@given(st.lists(st.text(alphabet=" \n\taé한", max_size=4), max_size=12))
def test_deltas_joined_are_the_text_without_blanks_around_it(pieces: list[str]) -> None:
    deltas = Deltas()
    sent = [deltas.take(piece) for piece in pieces]
    assert "".join(sent) == "".join(pieces).strip()
