"""What a report leaves out of its logs."""

from __future__ import annotations

from pathlib import Path

from app.redaction import Redactor


def test_a_recordings_path_and_name_are_taken_out_wherever_they_stand() -> None:
    redact = Redactor(["/home/mina/회의 녹음.m4a", "/media/a.wav"], Path("/home/mina"))
    said = redact("cannot read /home/mina/회의 녹음.m4a (회의 녹음.m4a), /home/mina/models and a.wav; a word")
    assert said == "cannot read (recording) ((recording)), ~/models and (recording); a word"


def test_nothing_recorded_leaves_a_text_as_it_is() -> None:
    assert Redactor([], Path("/"))("a/b") == "a/b"
