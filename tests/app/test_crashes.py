"""No trace ever reaches a person; it is in a file."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.crashes import (
    EXIT_CRASHED,
    EXIT_INTERRUPTED,
    EXIT_PIPE_CLOSED,
    MAX_BYTES,
    CrashWatch,
    guarded,
    write_down,
)


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JAMAK_LOG_DIR", str(tmp_path / "logs"))
    return tmp_path / "logs"


def raising(error: BaseException) -> int:
    raise error


def test_an_exit_code_passes_through() -> None:
    assert guarded(lambda: 7) == 7


def test_a_crash_is_one_sentence_and_a_trace_in_a_file(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert guarded(lambda: raising(ValueError("inner detail"))) == EXIT_CRASHED
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert str(logs / "crash.log") in said
    assert "inner detail" in (logs / "crash.log").read_text()


def test_a_crash_without_a_place_for_its_trace_is_still_said(
    logs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.write_bytes(b"a file where the folder should be")
    assert guarded(lambda: raising(ValueError())) == EXIT_CRASHED
    assert "Something went wrong" in capsys.readouterr().err


def test_interrupting_is_no_crash(capsys: pytest.CaptureFixture[str]) -> None:
    assert guarded(lambda: raising(KeyboardInterrupt())) == EXIT_INTERRUPTED
    assert capsys.readouterr().err == ""


def test_a_reader_that_went_away_is_no_crash(capfd: pytest.CaptureFixture[str]) -> None:
    assert guarded(lambda: raising(BrokenPipeError())) == EXIT_PIPE_CLOSED
    assert capfd.readouterr().err == ""


def test_a_trace_holds_no_values(logs: Path) -> None:
    said = "what was said".upper()
    guarded(lambda: raising(ValueError(f"cannot read '{said}'")))
    assert "WHAT WAS SAID" not in (logs / "crash.log").read_text()


def test_the_file_of_traces_does_not_grow_for_ever(logs: Path) -> None:
    for _ in range(3):
        write_down("x" * (MAX_BYTES + 1))
    assert sorted(path.name for path in logs.iterdir()) == ["crash.log", "crash.log.1"]
    assert (logs / "crash.log").stat().st_size < 2 * MAX_BYTES


def test_what_a_thread_raises_is_written_down_and_told(logs: Path) -> None:
    told: list[str] = []
    watch = CrashWatch(lambda: told.append("crash"))
    watch.begin()
    try:
        thread = threading.Thread(target=lambda: raising(ValueError("in a thread")))
        thread.start()
        thread.join()
    finally:
        watch.end()
    assert told == ["crash"]
    assert "in a thread" in (logs / "crash.log").read_text()


def test_a_fault_is_told_at_the_next_start(logs: Path) -> None:
    program = "import ctypes; from app.crashes import CrashWatch; CrashWatch().begin(); ctypes.string_at(0)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=False)
    assert ended.returncode != 0
    watch = CrashWatch()
    watch.begin()
    watch.end()
    assert "string_at" in (logs / "crash.log").read_text()
    assert (logs / "fault.log").read_text() == ""
