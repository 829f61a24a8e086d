"""Whisper on one CUDA card: is it right, how fast is it, and how far from what its memory allows?

    [JAMAK_SPEECH_DIR=…] python tests/bench/gpu.py [--model KEY] [--dtype float16|bfloat16] [--quick]

One run of less than five minutes: the network is loaded on the card and, in float32, on the CPU; the same
windows must say the same on both. Then windows are encoded and decoded in batches, with recorded passes
and without, one answer each and five beams. A step cannot be faster than reading the decoder's weights
and what its rows hear: that floor comes from the memory's bandwidth, measured in the same run. The last
line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scoring import pooled, score
from speech_set import speech_folder

from engine.adapters.base import Admission, Decode, Retry, RuntimeOptions
from engine.adapters.whisper.adapter import WhisperAdapter, load_adapter
from engine.adapters.whisper.features import log_mel
from engine.adapters.whisper.prompt import build_prompt
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import read_vocabulary
from engine.config import data_folder
from engine.manager.media import open_media
from engine.messages import SAMPLE_RATE_HZ, Chunk, ChunkKind, DecodingOptions, RequestKey
from engine.protocol.transcript import Mode

LONG_FILE = "longform/en_ljspeech_LJ001_0001-0032.flac"
SAMPLE = Path(__file__).parents[2] / "resources" / "sample.flac"
WINDOW_S = 28
BATCHES = (1, 8, 32)
BEAM_WINDOWS = 6
NUM_PARITY_WINDOWS = 4
MAX_GAP = 0.15
"""Of the exact logits of two ids that may change places in half precision."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="whisper-base", help="a model's key, or a checkpoint's folder")
    parser.add_argument("--dtype", choices=("float16", "bfloat16"), default="float16")
    parser.add_argument("--quick", action="store_true", help="fewer windows and repeats")
    parser.add_argument("--device", default="cuda", help="`cpu` tries this program itself, in float32")
    arguments = parser.parse_args()
    if arguments.device == "cuda" and not torch.cuda.is_available():
        sys.exit("There is no CUDA device here, or this PyTorch cannot use it.")
    folder = Path(arguments.model)
    folder = folder if folder.is_dir() else data_folder() / "models" / arguments.model
    windows = read_windows(2 * BATCHES[-1])
    started_s = time.monotonic()
    is_trial = arguments.device == "cpu"
    dtype = "float32" if is_trial else arguments.dtype
    runtime = RuntimeOptions(device=arguments.device, dtype=dtype, num_slots=BATCHES[-1])
    report = measure(folder, runtime, windows[:2] if is_trial else windows, quick=arguments.quick)
    report["elapsed_s"] = time.monotonic() - started_s
    print(json.dumps(report, default=lambda number: round(number, 5)))


def read_windows(num_windows: int) -> list[np.ndarray]:
    """Return windows of speech, cut evenly out of the long file, said again where it is too short.

    Without the speech set it is the sample that the program ships, three times in each window.
    """
    has_set = bool(os.environ.get("JAMAK_SPEECH_DIR"))
    media = open_media(str(speech_folder() / LONG_FILE if has_set else SAMPLE))
    try:
        pcm = np.concatenate(list(media.blocks()))
    finally:
        media.close()
    size = WINDOW_S * SAMPLE_RATE_HZ
    if not has_set:
        pcm = np.tile(pcm, 3 * num_windows)
    cut = [pcm[first : first + size] for first in range(0, len(pcm) - size, size)]
    return [cut[index % len(cut)] for index in range(num_windows)]


def measure(
    folder: Path, runtime: RuntimeOptions, windows: Sequence[np.ndarray], *, quick: bool
) -> dict[str, Any]:
    loaded_s, card = timed(lambda: load_adapter(folder, runtime))
    print(f"loaded in {loaded_s:.1f} s: {card.device}")
    report: dict[str, Any] = {
        "device": card.device,
        "torch": torch.__version__,
        "model": folder.name,
        "load_s": loaded_s,
        "has_graphs": card.device.endswith("CUDA graphs"),
    }
    num_parity = 1 if quick else NUM_PARITY_WINDOWS
    report |= parity(folder, card, windows[:num_parity])
    report["bandwidth_gb_s"] = bandwidth_gb_s(card._network.device)
    batches = BATCHES[:2] if quick else BATCHES
    report["steps"] = [step_times(card, windows[:n], Mode.FAST, report["bandwidth_gb_s"]) for n in batches]
    report["steps"].append(step_times(card, windows[:BEAM_WINDOWS], Mode.BEST, report["bandwidth_gb_s"]))
    report |= throughput(card, windows)
    card._network.record_with(None)
    report["steps_without_graphs"] = step_times(
        card, windows[: batches[1]], Mode.FAST, report["bandwidth_gb_s"]
    )
    report["peak_gb"] = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0
    return report


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return what `work` took, the card's part included, and what it gave."""
    wait_for_card()
    started_s = time.perf_counter()
    result = work()
    wait_for_card()
    return time.perf_counter() - started_s, result


def wait_for_card() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def parity(folder: Path, card: WhisperAdapter, windows: Sequence[np.ndarray]) -> dict[str, Any]:
    """Compare with the CPU in float32: ids, and how surely the exact network decides where they part."""
    exact = load_adapter(folder, RuntimeOptions(device="cpu", dtype="float32", num_slots=len(windows)))
    text = WhisperText(read_vocabulary(folder))
    ours, theirs = decode(card, windows), decode(exact, windows)
    gaps = []
    for pcm, one, other in zip(windows, ours, theirs, strict=True):
        pairs = enumerate(zip(one.ids, other.ids, strict=False))
        parted = next((index for index, (left, right) in pairs if left != right), None)
        if parted is not None:
            gaps.append(decision_gap(exact, pcm, other.ids[: parted + 1], one.ids[parted]))
    said = [text.decode([decode_.ids], skip_special=True)[0] for decode_ in ours]
    expected = [text.decode([decode_.ids], skip_special=True)[0] for decode_ in theirs]
    differing = pooled([score(right, left, "en") for left, right in zip(said, expected, strict=True)])
    report = {
        "parity_windows": len(windows),
        "parity_parted": len(gaps),
        "parity_largest_gap": max(gaps, default=0.0),
        "parity_words_differing_percent": differing,
        "parity_holds": all(gap < MAX_GAP for gap in gaps) and differing < 2.0,
    }
    print(f"parity: {len(gaps)} of {len(windows)} windows part somewhere, {differing:.2f} % of words differ")
    return report


def decision_gap(exact: WhisperAdapter, pcm: np.ndarray, ids: Sequence[int], rival: int) -> float:
    """Return by how much the last of `ids` is likelier than its `rival` behind the others, as a logit."""
    network = exact._network
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, network.encode(log_mel([pcm], network.config.dims.n_mels)))
    prompt = build_prompt(exact._vocabulary, DecodingOptions(language="en"), "en")
    logits = network.prefill(cache, rows, [(*prompt, *ids[:-1])]).logits[0]
    return float(logits[ids[-1]] - logits[rival])


def admissions(windows: Sequence[np.ndarray], mode: Mode) -> list[Admission]:
    options = DecodingOptions(language="en", mode=mode)
    return [
        Admission(
            Chunk(
                key=RequestKey("bench", index),
                kind=ChunkKind.FILE,
                start_sample=0,
                pcm=pcm.astype("<f4").tobytes(),
                options=options,
            )
        )
        for index, pcm in enumerate(windows)
    ]


def decode(adapter: WhisperAdapter, windows: Sequence[np.ndarray]) -> list[Decode]:
    decodes = adapter.admit(admissions(windows, Mode.FAST))
    while running := [decode_ for decode_ in decodes if decode_.outcome is None]:
        adapter.step(running)
    adapter.release(decodes)
    return decodes


def step_times(
    adapter: WhisperAdapter, windows: Sequence[np.ndarray], mode: Mode, bandwidth: float
) -> dict[str, Any]:
    """Return the median step of a full batch, and what reading its memory once would take."""
    admit_s, decodes = timed(lambda: adapter.admit(admissions(windows, mode)))
    times = []
    for _ in range(50):
        running = [decode_ for decode_ in decodes if decode_.outcome is None]
        if len(running) < len(windows):
            break
        elapsed_s, _ = timed(lambda running=running: adapter.step(running))  # type: ignore[misc]
        times.append(elapsed_s)
    adapter.release(decodes)
    # The first steps record: they say nothing of those that follow.
    step_ms = 1e3 * statistics.median(times[len(times) // 4 :])
    floor_ms = 1e3 * floor_bytes(adapter, len(windows)) / (bandwidth * 1e9)
    print(
        f"{mode.value} × {len(windows):2}: admitted in {1e3 * admit_s:7.1f} ms, a step {step_ms:6.2f} ms,"
        f" floor {floor_ms:5.2f} ms, slowest {1e3 * max(times):6.1f} ms"
    )
    return {
        "mode": mode.value,
        "windows": len(windows),
        "admit_ms": 1e3 * admit_s,
        "step_ms": step_ms,
        "floor_ms": floor_ms,
        "times_the_floor": step_ms / floor_ms,
    }


def floor_bytes(adapter: WhisperAdapter, num_windows: int) -> int:
    """Return what a step must read: the decoder's weights, and all that each window is heard by."""
    dims, formats = adapter._network.config.dims, adapter._network.runtime.formats
    width = dims.n_text_state
    # Attention to text 4 width², to audio 2 (its keys and values are remembered), feed-forward 8.
    weights = dims.n_text_layer * 14 * width**2 + dims.n_vocab * width
    heard = num_windows * dims.n_text_layer * 2 * dims.n_audio_ctx * width
    return weights * formats.text.itemsize + heard * formats.audio.itemsize


def bandwidth_gb_s(device: torch.device) -> float:
    """Return what the card's memory gives when a large tensor is read."""
    large = torch.ones(1 << 30, dtype=torch.uint8, device=device).view(torch.float32)
    times = [timed(large.sum)[0] for _ in range(12)]
    return large.nbytes / min(times) / 1e9


def throughput(adapter: WhisperAdapter, windows: Sequence[np.ndarray]) -> dict[str, Any]:
    """Decode all windows through one running batch, in both modes: seconds of speech per second."""
    report = {}
    for mode in Mode:
        for _ in range(2):  # the first time records
            elapsed_s, num_retries = timed(lambda mode=mode: run_all(adapter, windows, mode))  # type: ignore[misc]
        speed = sum(len(window) for window in windows) / SAMPLE_RATE_HZ / elapsed_s
        print(f"{mode.value}: {speed:.0f} × real time, {num_retries} attempts would be repeated")
        report[f"speed_{mode.value}"] = speed
        report[f"rtf_{mode.value}"] = 1 / speed
    return report


def run_all(adapter: WhisperAdapter, windows: Sequence[np.ndarray], mode: Mode) -> int:
    """Keep the batch full as a scheduler does; returns how many attempts the guards objected to."""
    waiting, running, num_retries = admissions(windows, mode)[::-1], [], 0
    while waiting or running:
        rows = adapter.rows(waiting[-1].chunk) if waiting else 1
        num_free = adapter.slots // rows - len(running)
        # A few at a time, so that those that run are not kept waiting by all that come.
        newcomers = [waiting.pop() for _ in range(min(8, num_free, len(waiting)))]
        running += adapter.admit(newcomers) if newcomers else []
        if stepping := [decode_ for decode_ in running if decode_.outcome is None]:
            adapter.step(stepping)
        ended = [decode_ for decode_ in running if decode_.outcome is not None]
        num_retries += sum(isinstance(decode_.outcome, Retry) for decode_ in ended)
        adapter.release(ended)
        running = [decode_ for decode_ in running if decode_.outcome is None]
    return num_retries


if __name__ == "__main__":
    main()
