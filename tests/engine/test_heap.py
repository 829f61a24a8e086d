"""Memory that was freed between things still in use goes back to the system."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.heap import give_back

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
