"""What a report and a trace leave out."""

from __future__ import annotations

from pathlib import Path

from app.redaction import Redactor, anonymous_trace, without_quoted


def test_a_recordings_path_and_name_are_taken_out_wherever_they_stand() -> None:
    redact = Redactor(["/home/mina/회의 녹음.m4a", "/media/a.wav"], Path("/home/mina"))
    said = redact("cannot read /home/mina/회의 녹음.m4a (회의 녹음.m4a), /home/mina/models and a.wav; a word")
    assert said == "cannot read (recording) ((recording)), ~/models and (recording); a word"


def test_nothing_recorded_leaves_a_text_as_it_is() -> None:
    assert Redactor([], Path("/"))("a/b") == "a/b"


def test_what_stands_in_quotes_is_left_out() -> None:
    assert without_quoted("""KeyError: 'my words' and "more" “한국어”""") == "KeyError: … and … …"


def test_a_trace_names_places_and_types_and_no_values() -> None:
    try:
        try:
            raise KeyError("spoken words")
        except KeyError as error:
            raise ValueError("it was 'a secret' of 3 bytes") from error
    except ValueError as error:
        trace = anonymous_trace(error)
    assert "test_redaction.py" in trace
    assert "KeyError: …" in trace
    assert "ValueError: it was … of 3 bytes" in trace
    assert "spoken words" not in trace.replace('raise KeyError("spoken words")', "")
