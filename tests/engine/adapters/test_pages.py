"""Memory of a pool is taken when it is written, not when it is asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import torch

from engine.adapters.pages import lazy_zeros

CPU = torch.device("cpu")
SIZE = (64, 1024, 1024)
PAGE_BYTES = 4096


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


@pytest.mark.parametrize("is_dense", [True, False])
def test_they_are_zeros_and_can_be_written(*, is_dense: bool) -> None:
    zeros = lazy_zeros((3, 4), torch.bfloat16, CPU, is_dense=is_dense)
    assert zeros.dtype == torch.bfloat16
    assert zeros.shape == (3, 4)
    assert not zeros.any()
    zeros[1] = 2.0
    assert zeros.sum() == 8.0


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
@pytest.mark.parametrize("is_dense", [True, False])
def test_what_is_not_written_takes_no_memory(*, is_dense: bool) -> None:
    before = resident_bytes()
    zeros = lazy_zeros(SIZE, torch.float32, CPU, is_dense=is_dense)
    zeros[5] = 1.0
    assert resident_bytes() - before < zeros.nbytes / 4


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory is read from /proc")
def test_scattered_writes_take_small_pages() -> None:
    before = resident_bytes()
    zeros = lazy_zeros(SIZE, torch.float32, CPU, is_dense=False)
    zeros[:, ::256, :8] = 1.0
    assert resident_bytes() - before < zeros.nbytes / 16
