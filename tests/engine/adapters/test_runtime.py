"""Where a network runs is chosen once, and said in words."""

from __future__ import annotations

import pytest
import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.adapters.runtime import choose_runtime, out_of_memory_raised
from engine.protocol.failures import FailureError


def test_on_a_cpu_the_exact_format_is_the_default() -> None:
    runtime = choose_runtime(RuntimeOptions(device="cpu", num_threads=2))
    assert runtime.dtype == torch.float32
    assert str(runtime) == "CPU, float32, 2 threads"


@pytest.mark.parametrize(
    "options", [RuntimeOptions(device="abacus"), RuntimeOptions(device="cpu", dtype="float3")]
)
def test_an_unknown_device_or_format_is_a_failure_with_details(options: RuntimeOptions) -> None:
    with pytest.raises(FailureError) as caught:
        choose_runtime(options)
    assert "aba" in caught.value.failure.detail or "float3" in caught.value.failure.detail


def test_memory_that_a_cpu_cannot_give_is_out_of_memory() -> None:
    with pytest.raises(OutOfMemory), out_of_memory_raised():
        torch.empty(1 << 60, dtype=torch.uint8)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="shape"), out_of_memory_raised():
        torch.ones(2).view(3)
