"""Chooses where and how exactly a network runs: device, number format, threads."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.adapters.base import RuntimeOptions


@dataclass(frozen=True, slots=True)
class Runtime:
    """A choice made: nothing of it is open any more."""

    device: torch.device
    dtype: torch.dtype
    num_threads: int

    def __str__(self) -> str:
        """For people: "CPU, float32, 2 threads"."""
        raise NotImplementedError


def choose_runtime(options: RuntimeOptions) -> Runtime:
    """Fill what `options` leaves open for this machine. Raises FailureError on an unknown device or dtype."""
    raise NotImplementedError
