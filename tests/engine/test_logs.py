from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import logs


@pytest.fixture(autouse=True)
def usual_logging() -> Iterator[None]:
    """The root logger is the whole process's: put back what was there."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    for handler in root.handlers:
        if handler not in before:
            handler.close()
    root.handlers, root.level = before, level
    for ours in ("engine", "app"):
        logging.getLogger(ours).setLevel(logging.NOTSET)
    logging.raiseExceptions = True


def test_our_modules_write_and_chatty_libraries_do_not(tmp_path: Path) -> None:
    logs.start_logging("manager", tmp_path, "INFO")
    logging.getLogger("engine.manager").info("a job begins")
    logging.getLogger("engine.manager").debug("with a path")
    logging.getLogger("chatty").info("GET /somewhere")
    text = (tmp_path / "manager.log").read_text(encoding="utf-8")
    assert "a job begins" in text
    assert "path" not in text
    assert "GET" not in text


def test_a_log_does_not_grow_for_ever(tmp_path: Path) -> None:
    logs.start_logging("manager", tmp_path, "INFO")
    for _ in range(5000):
        logging.getLogger("engine").info("x" * 800)
    files = list(tmp_path.iterdir())
    assert len(files) == 1 + logs.NUM_BACKUPS
    assert max(file.stat().st_size for file in files) <= logs.MAX_BYTES


def test_logs_of_long_gone_processes_are_dropped(tmp_path: Path) -> None:
    for index in range(40):
        old = tmp_path / f"scheduler-{index}.log"
        old.write_text("x")
        os.utime(old, (index, index))
    logs.start_logging("manager", tmp_path, "INFO")
    assert sorted(path.name for path in tmp_path.glob("*.log"))[0] == "scheduler-16.log"
    assert len(list(tmp_path.glob("*.log"))) == logs.NUM_KEPT


def test_without_a_folder_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    logs.start_logging("manager", tmp_path / "file" / "logs", "INFO")
    logging.getLogger("engine").warning("nobody reads this")


def test_a_trace_in_a_log_holds_no_values(tmp_path: Path) -> None:
    logs.start_logging("manager", tmp_path, "INFO")
    spoken = "what was said".upper()
    try:
        raise ValueError(f"cannot read '{spoken}' at 3")
    except ValueError as error:
        logging.getLogger("engine").error("reading failed", exc_info=error)
    text = (tmp_path / "manager.log").read_text(encoding="utf-8")
    assert "test_logs.py" in text
    assert "ValueError: cannot read … at 3" in text
    assert spoken not in text
