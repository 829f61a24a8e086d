"""The whole program on real weights and a ten-minute file, with each of its processes killed in turn."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.jamak_program import JamakProgram, wait_for
from tests.helpers.processes import wait_for_role

RECORDING = "longform/en_synth_piper_joe_10min.flac"

pytestmark = [pytest.mark.slow, pytest.mark.weights, pytest.mark.timeout(900)]


@pytest.fixture
def program(tmp_path: Path, whisper_tiny_en: Path) -> Iterator[JamakProgram]:
    made = JamakProgram(tmp_path, whisper_tiny_en)
    yield made
    made.kill()


def test_a_killed_process_neither_loses_nor_doubles_a_segment(program: JamakProgram, speech: Path) -> None:
    recording = speech / RECORDING
    pid = program.start(recording)
    for role in ("scheduler", "detokenizer", "manager"):
        wait_for_more_segments(program)
        os.kill(wait_for_role(pid, role), signal.SIGKILL)
    wait_for_more_segments(program)
    program.kill()
    assert program.state() == "running"

    program.start()
    wait_for(lambda: program.state() in ("done", "failed"), "the end of the resumed row")
    assert program.state() == "done"
    program.kill()
    calm = program.transcribe(recording, "whisper-tiny.en")
    assert [text.strip() for text in program.texts()] == [text.strip() for text in calm]


def wait_for_more_segments(program: JamakProgram) -> None:
    so_far = len(program.texts())
    wait_for(lambda: len(program.texts()) > so_far + 2, "three more segments")
