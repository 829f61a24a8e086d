"""Chooses where and how exactly a network runs: device, number format, threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.protocol.failures import FailureError, FailureKind, failure

DTYPES: Final = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
"""By the name a person may ask for."""

_MAX_CPU_THREADS: Final = 8
"""More than this many share one decoder step badly; the encoder gains little."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A choice made: nothing of it is open any more."""

    device: torch.device
    dtype: torch.dtype
    num_threads: int

    def __str__(self) -> str:
        """For people: "CPU, float32, 2 threads"."""
        dtype = str(self.dtype).removeprefix("torch.")
        if self.device.type == "cpu":
            return f"CPU, {dtype}, {self.num_threads} thread{'s' if self.num_threads != 1 else ''}"
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else str(self.device)
        return f"{name}, {dtype}"


def choose_runtime(options: RuntimeOptions) -> Runtime:
    """Fill what `options` leaves open for this machine. Raises FailureError on an unknown device or dtype.

    On a CPU float32 is the default: the exact one, and 16-bit formats are slow where the processor
    has no instructions for them. On a GPU float16 is what the checkpoints are stored in.
    """
    try:
        device = torch.device(options.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        dtype = DTYPES[options.dtype or ("float32" if device.type == "cpu" else "float16")]
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, KeyError) as error:  # torch asserts that it was built with CUDA
        detail = f"device {options.device!r}, dtype {options.dtype!r}: {error}"
        raise FailureError(failure(FailureKind.INTERNAL, "device", detail)) from error
    return Runtime(device, dtype, options.num_threads or min(_num_cores(), _MAX_CPU_THREADS))


def _num_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def apply_threads(runtime: Runtime) -> None:
    """Let torch use that many threads in this process."""
    torch.set_num_threads(runtime.num_threads)


@contextmanager
def out_of_memory_raised() -> Iterator[None]:
    """Turn torch's ways of saying that memory is out, on GPU and CPU, into OutOfMemory."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfMemory(str(error)) from error
    except RuntimeError as error:
        # The CPU allocator has no exception type of its own (github.com/pytorch/pytorch/issues/111220).
        if "can't allocate memory" in str(error) or "not enough memory" in str(error):
            raise OutOfMemory(str(error)) from error
        raise
    except MemoryError as error:
        raise OutOfMemory(str(error)) from error
