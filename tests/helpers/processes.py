"""What runs, seen from outside: whose child it is, and whether it is gone."""

from __future__ import annotations

import time
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """Return the processes that `pid` has started and that still run, the newest last."""
    return [child for child in _all_pids() if _parent_of(child) == pid]


def descendants_of(pid: int) -> list[int]:
    """Return all that `pid` and its children have started and that still run."""
    found = children_of(pid)
    return found + [below for child in found for below in descendants_of(child)]


def command_line_of(pid: int) -> bytes:
    """Return the words a process was started with, a NUL behind each; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def role_of(pid: int) -> str | None:
    """Return the `--role` of a process of ours."""
    words = command_line_of(pid).split(b"\0")
    return words[words.index(b"--role") + 1].decode() if b"--role" in words else None


def is_running(pid: int) -> bool:
    """Say whether a process runs; one that has ended and was not waited for does not."""
    return _state_of(pid) not in (None, "Z")


def wait_until_gone(pids: list[int], timeout_s: float = 15.0) -> None:
    """Wait until none of these processes is left; fails naming those that are."""
    end_s = time.monotonic() + timeout_s
    while left := [pid for pid in pids if is_running(pid)]:
        if time.monotonic() > end_s:
            raise AssertionError(f"still there: {[(pid, role_of(pid)) for pid in left]}")
        time.sleep(0.02)


def wait_for_role(parent: int, role: str, timeout_s: float = 30.0) -> int:
    """Wait until a descendant of `parent` has the role and return its pid."""
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        for pid in descendants_of(parent):
            if role_of(pid) == role and is_running(pid):
                return pid
        time.sleep(0.02)
    raise AssertionError(f"no {role} appeared")


def _all_pids() -> list[int]:
    return sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _fields(pid: int) -> list[str]:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return stat[stat.rindex(")") + 2 :].split()


def _state_of(pid: int) -> str | None:
    fields = _fields(pid)
    return fields[0] if fields else None


def _parent_of(pid: int) -> int | None:
    fields = _fields(pid)
    return int(fields[1]) if fields and fields[0] != "Z" else None
