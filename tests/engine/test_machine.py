"""What this machine has is known without loading anything."""

from __future__ import annotations

from engine.machine import machine_bytes


def test_this_machine_has_memory() -> None:
    found = machine_bytes()
    assert found is not None and found > 10**9
