"""No trace ever reaches a person; it is in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.crashes import EXIT_CRASHED, EXIT_INTERRUPTED, EXIT_PIPE_CLOSED, guarded


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
