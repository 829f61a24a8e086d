"""A queued file is transcribed to its end, each segment once, whichever process is shot meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
import soundfile

from app.library import Library, RowState
from engine.protocol.transcript import Options
from tests.helpers.processes import descendants_of, role_of, wait_for_role, wait_until_gone
from tests.helpers.queue_program import Queue
from tests.helpers.toy import WORDS, toy_audio, toy_config, write_toy_model

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

NUM_CHUNKS = 5
ROW = 1


class Place:
    """A folder with a toy engine's configuration, a slow model and a file of several chunks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.config = toy_config(folder)
        self.library_path = folder / "library.db"
        self.config_path = folder / "config.json"
        self.config_path.write_bytes(msgspec.json.encode(self.config))
        # One slot: chunks end one after the other, so there is always something left to lose.
        self.model = str(write_toy_model(folder / "slow", slots=1, step_s=0.001))
        self.file = str(folder / "long.wav")
        words = [None if n % 7 == 6 else (n * n) % (len(WORDS) - 1) for n in range(NUM_CHUNKS * 60)]
        soundfile.write(self.file, toy_audio(*words), 16_000)

    def start_app(self, *files: str) -> subprocess.Popen[bytes]:
        arguments = [str(self.config_path), str(self.library_path), self.model, *files]
        return subprocess.Popen([sys.executable, "-m", "tests.helpers.queue_program", *arguments])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("kills"))


@pytest.fixture(scope="module")
def expected(place: Place) -> list[tuple[float, float, str]]:
    """The segments when nothing is killed."""
    queued = Queue(place.config, place.folder / "calm.db")
    queued.desk.add([place.file], Options(model=place.model, vad=False))
    queued.run_until(lambda: queued.desk.num_open == 0)
    segments = segments_of(queued.library)
    queued.close()
    assert len(segments) > 10
    return segments


@pytest.fixture
def fresh_library(place: Place) -> Iterator[Path]:
    yield place.library_path
    for path in place.folder.glob("library.db*"):
        path.unlink()


def segments_of(library: Library) -> list[tuple[float, float, str]]:
    return [(s.start, s.end, s.text) for s in library.segments(ROW)]


def has_some(library: Library) -> Callable[[], bool]:
    """Some segments are stored, but by far not all."""
    return lambda: len(library.segments(ROW)) > 0


@pytest.mark.parametrize("role", ["manager", "scheduler", "detokenizer"])
def test_a_killed_process_of_the_engine_costs_nothing(
    place: Place, expected: list[tuple[float, float, str]], fresh_library: Path, role: str
) -> None:
    queued = Queue(place.config, fresh_library)
    queued.desk.add([place.file], Options(model=place.model, vad=False))
    queued.run_until(has_some(queued.library))
    os.kill(wait_for_role(os.getpid(), role), signal.SIGKILL)
    assert len(segments_of(queued.library)) < len(expected)
    queued.run_until(lambda: queued.desk.num_open == 0)
    assert segments_of(queued.library) == expected
    assert queued.desk.rows()[0].recording.state is RowState.DONE
    # Only the engine's: this process may have started others before, for other tests.
    family = [pid for pid in descendants_of(os.getpid()) if role_of(pid)]
    queued.close()
    wait_until_gone(family)


def test_after_a_kill_of_the_app_the_next_start_goes_on(
    place: Place, expected: list[tuple[float, float, str]], fresh_library: Path
) -> None:
    app = place.start_app(place.file)
    watching = Library(fresh_library)
    while not watching.segments(ROW):
        assert app.poll() is None
        time.sleep(0.02)
    family = descendants_of(app.pid)
    app.kill()
    app.wait()
    wait_until_gone(family)
    stored = segments_of(watching)
    assert stored == expected[: len(stored)]
    assert len(stored) < len(expected)
    watching.close()

    assert place.start_app().wait(60) == 0
    library = Library(fresh_library)
    assert segments_of(library) == expected
    assert library.recordings()[0].state is RowState.DONE
    library.close()
