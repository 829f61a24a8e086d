"""A recording with its captions as a program among processes: engine killed, app killed, nothing lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
import soundfile

from app.capture.recording_file import RecordingReader
from app.library import Library, Recording, RowState, StoredSegment
from tests.helpers.processes import descendants_of, wait_for_role, wait_until_gone
from tests.helpers.toy import expected_text, toy_audio, toy_config, write_toy_model

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

TALK = (0, 1, 2, 4, 5, 6, 0, 7, 2, 4, 1, 5, 6, 2, 0, 7, 5, 5, 1, 2, 4, 0, 6, 7, 1, 4, 2)
"""Sentences end with 7. No silence: behind it a toy would hear its half seconds from another place."""


class Program:
    """Runs of the app without its window, over one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        config = toy_config(folder)
        (folder / "config.json").write_bytes(msgspec.json.encode(config))
        self.model = str(write_toy_model(folder / "toy"))
        self.sound = folder / "sound.wav"
        soundfile.write(self.sound, toy_audio(*TALK), 16_000)
        self.said = soundfile.read(self.sound, dtype="float32")[0]
        self.library = Library(folder / "library.db")
        self.runs: list[subprocess.Popen[bytes]] = []

    def start(self, *, records: bool) -> subprocess.Popen[bytes]:
        sound = [str(self.sound)] if records else []
        command = [sys.executable, "-m", "tests.helpers.live_program", str(self.folder), self.model, *sound]
        self.runs.append(subprocess.Popen(command))
        return self.runs[-1]

    def wait_until(self, is_so: Callable[[], bool], timeout_s: float = 40.0) -> None:
        end_s = time.monotonic() + timeout_s
        while not is_so():
            assert time.monotonic() < end_s, "it never happened"
            time.sleep(0.05)

    @property
    def row(self) -> Recording:
        (row,) = self.library.recordings()
        return row

    def segments(self) -> list[StoredSegment]:
        return self.library.segments(self.row.id) if self.library.recordings() else []

    def text(self) -> str:
        return "".join(segment.text for segment in self.segments())

    def confirmed(self) -> str:
        """All that is stored, also what is in no segment yet."""
        if not self.library.recordings():
            return ""
        unfinished = self.library.live.unfinished(self.row.id)
        return self.text() + (unfinished.text if unfinished else "")

    def recorded(self) -> np.ndarray:
        pcm = RecordingReader(self.folder / "recording.wav").read(0, 10**8)
        return pcm.astype(np.float32) / 32_768

    def close(self) -> None:
        for run in self.runs:
            if run.poll() is None:
                run.kill()
            run.wait(10)
        self.library.close()


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    program = Program(tmp_path)
    yield program
    program.close()


def test_what_is_said_is_recorded_and_written_down(program: Program) -> None:
    run = program.start(records=True)
    assert run.wait(60) == 0
    assert program.row.state is RowState.DONE
    assert program.text() == expected_text(toy_audio(*TALK))
    assert np.array_equal(
        program.recorded()[: len(TALK) * 8_000], soundfile.read(program.sound, dtype="float32")[0]
    )
    starts = [segment.start for segment in program.segments()]
    assert starts == sorted(starts)


def test_a_killed_engine_leaves_no_hole_and_no_double(program: Program) -> None:
    run = program.start(records=True)
    program.wait_until(lambda: len(program.confirmed()) > 20)
    engine = wait_for_role(run.pid, "manager")
    os.kill(engine, signal.SIGKILL)
    wait_until_gone([engine])
    assert run.wait(60) == 0
    assert program.row.state is RowState.DONE
    assert program.text() == expected_text(toy_audio(*TALK))
    assert np.array_equal(
        program.recorded()[: len(TALK) * 8_000], soundfile.read(program.sound, dtype="float32")[0]
    )


def test_a_killed_app_finds_everything_again_and_writes_down_the_rest(program: Program) -> None:
    run = program.start(records=True)
    program.wait_until(lambda: len(program.confirmed()) > 20)
    pids = descendants_of(run.pid)
    kept = program.confirmed()
    run.send_signal(signal.SIGKILL)
    run.wait(10)
    wait_until_gone(pids)
    assert program.row.state is RowState.RECORDING
    again = program.start(records=False)
    assert again.wait(60) == 0
    assert program.row.state is RowState.DONE
    assert program.text().startswith(kept)
    recorded = program.recorded()
    assert len(recorded) > 2 * 16_000
    assert np.array_equal(recorded, program.said[: len(recorded)])
    assert program.text() == expected_text(recorded)
    assert program.row.duration == pytest.approx(len(recorded) / 16_000)
