"""Memory freed between things still in use goes back to the system; who reads much has large pages."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.heap import give_back, with_large_pages

BLOCK_BYTES = 1 << 16
NUM_BLOCKS = 1600


def anonymous_bytes() -> int:
    """Return the memory of this process that is in no file."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Anonymous:"))


def test_holes_in_the_heap_are_given_back() -> None:
    if not give_back():
        pytest.skip("the C library keeps what it has")
    before = anonymous_bytes()
    blocks = [bytearray(b"x" * BLOCK_BYTES) for _ in range(NUM_BLOCKS)]
    kept = blocks[::16]
    full = anonymous_bytes()
    assert full - before > 0.9 * NUM_BLOCKS * BLOCK_BYTES
    del blocks
    assert give_back()
    assert full - anonymous_bytes() > 0.8 * (NUM_BLOCKS - len(kept)) * BLOCK_BYTES


USES_A_HEAP = """
import pathlib
blocks = [bytearray(b"x" * (1 << 16)) for _ in range(1000)]
lines = pathlib.Path("/proc/self/smaps_rollup").read_text().splitlines()
print(next(line.split()[1] for line in lines if line.startswith("AnonHugePages:")))
"""


def large_bytes(environment: dict[str, str]) -> int:
    """Return how much memory in large pages a program has that fills 64 MB of its heap."""
    done = subprocess.run(
        [sys.executable, "-c", USES_A_HEAP], env=environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout) * 1024


def gives_large_pages_on_request() -> bool:
    """Say whether asking for large pages makes a difference here."""
    who = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return who.exists() and "[madvise]" in who.read_text() and give_back()


def test_a_heap_lies_in_large_pages_where_the_system_has_some() -> None:
    if not gives_large_pages_on_request():
        pytest.skip("large pages are given to all, to nobody, or not by this C library")
    plain = {name: value for name, value in os.environ.items() if name != "GLIBC_TUNABLES"}
    assert large_bytes(plain) < 1 << 24
    assert large_bytes(with_large_pages(plain)) > 1 << 25


def test_what_the_user_has_set_for_the_heap_counts() -> None:
    before = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=0", "PATH": "/bin"}
    after = with_large_pages(before)
    assert after["GLIBC_TUNABLES"].endswith(":glibc.malloc.hugetlb=0")
    assert after["PATH"] == "/bin"
    if gives_large_pages_on_request():
        own = {**os.environ, "GLIBC_TUNABLES": after["GLIBC_TUNABLES"]}
        assert large_bytes(own) < 1 << 24
