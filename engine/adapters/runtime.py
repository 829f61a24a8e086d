"""Chooses where and how exactly a network runs: device, number format, threads."""

from __future__ import annotations

import os
import shutil
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.adapters.cross_cache import BYTES, can_keep_bytes
from engine.adapters.packed import can_pack
from engine.adapters.quantised import has_bfloat16, is_exact
from engine.machine import machine_bytes
from engine.protocol.failures import FailureError, FailureKind, failure

DTYPES: Final = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}
"""By the name a person may ask for; `INT8` is another."""
INT8: Final = "int8"

_MAX_CPU_THREADS: Final = 8
"""More than this many share one decoder step badly; the encoder gains little."""


_SHARE_OF_MEMORY: Final = 1 / 6
_SHARE_OF_CARD: Final = 1 / 2
_LEAST_SLOT_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Formats:
    """The numbers that the parts of a network are computed in."""

    name: str
    """What a person would ask for to get these."""
    text: torch.dtype
    """Of the decoder's states and what it remembers of its text."""
    audio: torch.dtype
    """Of what the decoder remembers of audio that stands amid its text."""
    cross: torch.dtype
    """Of what the decoder remembers of audio apart from its text, and reads anew for every token."""
    encoder: torch.dtype
    """Of the encoder's weights; int8 where they are quantised."""
    remembered: torch.dtype
    """Of the weights of the decoder's attention to its own text: errors there stay to the end of the text.
    In 107 Japanese characters base made 35 of them in 8 bits, and makes 28 in 16 and 30 in 32."""
    is_quantised: bool = False
    """The decoder multiplies in 8-bit integers."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """A choice made: nothing of it is open any more."""

    device: torch.device
    formats: Formats
    num_threads: int
    note: str = ""
    """Why it is not a graphics card, where there seems to be one."""

    @property
    def num_step_threads(self) -> int:
        """Of a decoder step, where nothing in it asks for more: in 8 bits most of its parts are small."""
        return 1 if self.formats.is_quantised else self.num_threads

    def __str__(self) -> str:
        """For people: "CPU, int8, 2 threads"."""
        if self.device.type == "cpu":
            threads = f"{self.num_threads} thread{'s' if self.num_threads != 1 else ''}"
            note = f" ({self.note})" if self.note else ""
            return f"CPU, {self.formats.name}, {threads}{note}"
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else str(self.device)
        return f"{name}, {self.formats.name}"


def choose_runtime(options: RuntimeOptions) -> Runtime:
    """Fill what `options` leaves open for this machine. Raises FailureError on an unknown device or dtype.

    On a CPU int8 is the default where the processor is made for it, and float32, the exact one,
    elsewhere. On a GPU float16 is what the checkpoints are stored in.
    """
    note = ""
    try:
        if options.device is None:
            device, note = _automatic_device()
        else:
            device = torch.device(options.device)
        formats = _formats(options.dtype or _default_format(device), device)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, KeyError) as error:  # torch asserts that it was built with CUDA
        detail = f"device {options.device!r}, dtype {options.dtype!r}: {error}"
        raise FailureError(failure(FailureKind.INTERNAL, "device", detail)) from error
    num_threads = options.num_threads or min(_num_cores(), _MAX_CPU_THREADS)
    return Runtime(device, formats, num_threads, note)


def _automatic_device() -> tuple[torch.device, str]:
    """Return a graphics card that really computes, else the CPU and what keeps the card from it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        is_there = torch.cuda.is_available()
    if not is_there:
        has_idle_card = torch.version.cuda is None and shutil.which("nvidia-smi") is not None
        return torch.device("cpu"), why_no_card([str(one.message) for one in caught], has_idle_card)
    try:
        device = torch.device("cuda", torch.cuda.current_device())
        ones = torch.ones((16, 16), dtype=torch.float16, device=device)
        if (ones @ ones).sum().item() != 16**3:
            return torch.device("cpu"), "the graphics card computes wrongly"
    except RuntimeError as error:
        # No kernel for so old a card, no memory left, a fault of the driver.
        return torch.device("cpu"), _first_line(str(error))
    return device, ""


def why_no_card(warned: Sequence[str], has_idle_card: bool) -> str:
    """Return why torch sees no graphics card, in one line; empty where there is nothing to explain.

    Torch warns of a card that its CUDA cannot use, mostly because the driver is too old for it, and is
    silent about one (`has_idle_card`) that it was not built for.
    """
    if warned:
        return _first_line(warned[0])
    return "this PyTorch was built without CUDA" if has_idle_card else ""


def _first_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[0] if lines else "unknown"


def _default_format(device: torch.device) -> str:
    if device.type != "cpu":
        return "float16"
    return INT8 if is_exact() else "float32"


def _formats(name: str, device: torch.device) -> Formats:
    """Return the numbers behind a name. Raises KeyError where there is none for the device.

    The choice within int8 depends on processor and torch alone, never on a measurement, so that a machine
    says the same today and tomorrow. With AMX a bfloat16 encoder takes 37 ms a layer of base and an
    int8 one 52, since a window's rows have to be quantised; attention to the audio is bound by memory.
    """
    if name != INT8:
        dtype = DTYPES[name]
        return Formats(name, text=dtype, audio=dtype, cross=dtype, encoder=dtype, remembered=dtype)
    if device.type != "cpu" or not is_exact():
        raise KeyError(f"{device} has no {INT8}")
    audio, encoder = (torch.bfloat16, torch.bfloat16) if has_bfloat16() else (torch.float32, torch.int8)
    return Formats(
        name,
        text=torch.float32,
        audio=audio,
        cross=BYTES if can_keep_bytes() else audio,
        encoder=encoder,
        remembered=torch.bfloat16 if can_pack() else torch.float32,
        is_quantised=True,
    )


def _num_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def slot_budget_bytes(device: torch.device) -> int:
    """Return what running rows may take where nobody says how many: part of what the device has.

    A CPU's memory is everybody's and not all free; a card's is what its weights have left.
    """
    if device.type == "cuda":
        return round(_SHARE_OF_CARD * torch.cuda.mem_get_info(device)[0])
    return max(_LEAST_SLOT_BYTES, round(_SHARE_OF_MEMORY * (machine_bytes() or 0)))


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
