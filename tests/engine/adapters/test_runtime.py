"""Where a network runs is chosen once, and said in words."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.adapters.cross_cache import BYTES
from engine.adapters.quantised import is_exact
from engine.adapters.runtime import choose_runtime, out_of_memory_raised, slot_budget_bytes, why_no_card
from engine.machine import machine_bytes
from engine.protocol.failures import FailureError


def test_on_a_cpu_the_default_is_int8_where_its_sums_are_exact() -> None:
    runtime = choose_runtime(RuntimeOptions(device="cpu", num_threads=2))
    name = "int8" if is_exact() else "float32"
    assert str(runtime) == f"CPU, {name}, 2 threads"


def test_the_exact_format_is_to_be_had_everywhere() -> None:
    formats = choose_runtime(RuntimeOptions(device="cpu", dtype="float32")).formats
    assert {formats.text, formats.audio, formats.cross, formats.encoder} == {torch.float32}


@pytest.mark.skipif(not is_exact(), reason="this processor does not multiply bytes exactly")
def test_where_torch_sums_bytes_audio_is_remembered_in_bytes() -> None:
    sums_bytes = "fbgemm" in torch.backends.quantized.supported_engines
    formats = choose_runtime(RuntimeOptions(device="cpu", dtype="int8")).formats
    assert formats.cross == (BYTES if sums_bytes else formats.audio)


@pytest.mark.parametrize(
    "options", [RuntimeOptions(device="abacus"), RuntimeOptions(device="cpu", dtype="float3")]
)
def test_an_unknown_device_or_format_is_a_failure_with_details(options: RuntimeOptions) -> None:
    with pytest.raises(FailureError) as caught:
        choose_runtime(options)
    assert "aba" in caught.value.failure.detail or "float3" in caught.value.failure.detail


def test_what_keeps_a_card_from_work_is_said_in_one_line() -> None:
    warning = "CUDA initialization: The NVIDIA driver on your system is too old (found version 1).\nUpdate."
    assert why_no_card([warning], has_idle_card=False).endswith("(found version 1).")
    assert why_no_card([], has_idle_card=True) == "this PyTorch was built without CUDA"
    assert why_no_card([], has_idle_card=False) == ""
    runtime = choose_runtime(RuntimeOptions(device="cpu", dtype="float32", num_threads=1))
    noted = replace(runtime, note="the driver is too old")
    assert str(noted) == "CPU, float32, 1 thread (the driver is too old)"


def test_memory_that_a_cpu_cannot_give_is_out_of_memory() -> None:
    with pytest.raises(OutOfMemory), out_of_memory_raised():
        torch.empty(1 << 60, dtype=torch.uint8)


def test_other_errors_stay_what_they_are() -> None:
    with pytest.raises(RuntimeError, match="shape"), out_of_memory_raised():
        torch.ones(2).view(3)


def test_idle_threads_are_told_to_sleep_before_torch_is_there() -> None:
    """OpenMP reads its wait policy when torch loads it, and never again."""
    program = (
        "import os, sys, pathlib\n"
        "os.environ.pop('OMP_WAIT_POLICY', None)\n"
        "from engine.adapters.base import RuntimeOptions\n"
        "from engine.adapters.whisper import WhisperFamily\n"
        "class Watch:\n"
        "    def find_spec(self, name, *args):\n"
        "        if name == 'torch':\n"
        "            print(os.environ.get('OMP_WAIT_POLICY'))\n"
        "            raise SystemExit\n"
        "sys.meta_path.insert(0, Watch())\n"
        "WhisperFamily().adapter(pathlib.Path('nowhere'), RuntimeOptions())\n"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (output.stdout.strip(), output.stderr) == ("PASSIVE", "")


def test_running_rows_get_a_part_of_the_memory_but_some_on_any_machine() -> None:
    memory = machine_bytes() or 0
    assert 1 << 30 <= slot_budget_bytes(torch.device("cpu")) <= max(1 << 30, memory // 4)
