"""What a batch remembers of itself, whatever happens to its files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from app.cli.ledger import FOLDER, Ledger
from engine.protocol.transcript import Segment


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "a.wav"
    path.write_bytes(b"\0")
    return path


@pytest.fixture
def open_ledger(tmp_path: Path) -> Callable[[], Ledger]:
    return lambda: Ledger(tmp_path, "asked")


def test_a_line_that_was_torn_costs_that_line_only(
    recording: Path, open_ledger: Callable[[], Ledger]
) -> None:
    segments = [Segment(start=float(n), end=n + 1.0, text=f" {n}") for n in range(3)]
    open_ledger().note_segment(recording, segments[0])
    [part] = (recording.parent / FOLDER).iterdir()
    with part.open("ab") as file:
        file.write(b'{"segment":{"start":1.0,"en')
    open_ledger().note_segment(recording, segments[2])
    assert open_ledger().begun(recording).segments == (segments[0], segments[2])


def test_a_folder_that_cannot_be_written_is_no_trouble(
    recording: Path, open_ledger: Callable[[], Ledger]
) -> None:
    (recording.parent / FOLDER).write_text("in the way")
    ledger = open_ledger()
    ledger.note_segment(recording, Segment(start=0.0, end=1.0, text=" a"))
    ledger.note_done(recording, recording)
    assert open_ledger().begun(recording).segments == ()


def test_another_state_of_the_recording_begins_anew(
    recording: Path, open_ledger: Callable[[], Ledger]
) -> None:
    open_ledger().note_segment(recording, Segment(start=0.0, end=1.0, text=" a"))
    os.utime(recording, ns=(0, 0))
    assert open_ledger().begun(recording).segments == ()
