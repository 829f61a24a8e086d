"""Whisper on one CUDA card: is it right, how fast is it, and how far from what its memory allows?

    [JAMAK_SPEECH_DIR=…] python tests/bench/gpu.py [--model KEY] [--dtype float16|bfloat16] [--quick]

One run of less than five minutes: windows are encoded and decoded in batches on the card, with recorded
passes and without, one answer each and five beams; and the same windows must say the same as on the CPU
in float32. A step cannot be faster than reading the decoder's weights and what its rows hear: that floor
comes from the memory's bandwidth, measured in the same run. The last line is one JSON object, whatever
happens: a part that fails, or for which no time is left, is named in it, and the others are still there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from speech_set import speech_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

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
NUM_STEPS = 50
LAST_START_S = 200
"""No part is begun later than this, and none goes on after `END_S`."""
END_S = 285
_NUM_READS = 8
_times_said = count(1)
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
    is_trial = arguments.device == "cpu"
    dtype = "float32" if is_trial else arguments.dtype
    runtime = RuntimeOptions(device=arguments.device, dtype=dtype, num_slots=BATCHES[-1])
    report = Report({"torch": torch.__version__, "model": folder.name})
    measure(report, folder, runtime, Size.of(is_trial=is_trial, is_quick=arguments.quick))
    report.end()


class Report:
    """What was found so far; printed as JSON at the end, or when the time is up."""

    def __init__(self, found: dict[str, Any]) -> None:
        self.found = found
        self._errors: dict[str, str] = {}
        self._started_s = time.monotonic()
        self._is_printed = threading.Lock()
        self._clock = threading.Timer(END_S, self._give_up)
        self._clock.daemon = True
        self._clock.start()
        self._part = ""

    def add(self, part: str, work: Callable[[], dict[str, Any]]) -> bool:
        """Add what a part finds, or why it found nothing; returns whether it did."""
        if time.monotonic() - self._started_s > LAST_START_S:
            self._errors[part] = "no time was left"
            return False
        self._part = part
        try:
            self.found |= work()
        except Exception as error:  # of whatever kind: the other parts are still worth having
            traceback.print_exc()
            self._errors[part] = f"{type(error).__name__}: {error}"[:300]
            return False
        return True

    def end(self, code: int = 0) -> None:
        """Print everything, and end the program: with 1 where a part is missing."""
        if not self._is_printed.acquire(blocking=False):
            return
        self.found |= {"errors": self._errors, "elapsed_s": time.monotonic() - self._started_s}
        print(json.dumps(self.found, default=str), flush=True)
        # A card that hangs would keep an ordinary end waiting.
        os._exit(code or int(bool(self._errors)))

    def _give_up(self) -> None:
        self._errors[self._part] = "it took too long"
        self.end(1)


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    batches: Sequence[int]
    beam_windows: int
    num_windows: int
    parity_windows: int
    num_steps: int
    num_rounds: int
    """Of each measurement, of which the last counts: the earlier ones record."""
    bandwidth_bytes: int
    window_s: int = WINDOW_S

    @staticmethod
    def of(*, is_trial: bool, is_quick: bool) -> Size:
        if is_trial:
            num_windows = 1 if is_quick else 2
            return Size((num_windows,), 1, num_windows, 1, 8, 1, 1 << 27, window_s=6)
        if is_quick:
            return Size(BATCHES[:2], BEAM_WINDOWS, BATCHES[-1], 1, NUM_STEPS, 2, 1 << 30)
        return Size(BATCHES, BEAM_WINDOWS, 2 * BATCHES[-1], NUM_PARITY_WINDOWS, NUM_STEPS, 2, 1 << 30)


def read_windows(size: Size, windows: list[np.ndarray]) -> dict[str, Any]:
    """Fill `windows` with speech, cut evenly out of the long file, said again where it is too short.

    Without the speech set it is the sample that the program ships, three times in each window.
    """
    has_set = (Path(os.environ.get("JAMAK_SPEECH_DIR", "")) / LONG_FILE).is_file()
    media = open_media(str(speech_folder() / LONG_FILE if has_set else SAMPLE))
    try:
        pcm = np.concatenate(list(media.blocks()))
    finally:
        media.close()
    num_samples = size.window_s * SAMPLE_RATE_HZ
    if not has_set:
        pcm = np.tile(pcm, 3 * size.num_windows)
    cut = [pcm[first : first + num_samples] for first in range(0, len(pcm) - num_samples, num_samples)]
    windows += [cut[index % len(cut)] for index in range(size.num_windows)]
    return {"windows": size.num_windows}


def measure(report: Report, folder: Path, runtime: RuntimeOptions, size: Size) -> None:
    loaded: list[WhisperAdapter] = []
    windows: list[np.ndarray] = []
    if not report.add("load", partial(load, folder, runtime, loaded)):
        return
    if not report.add("speech", partial(read_windows, size, windows)):
        return
    [card] = loaded
    report.add("bandwidth", lambda: bandwidth(card._network.device, size.bandwidth_bytes))
    speed = report.found.get("bandwidth_gb_s", float("nan"))
    for name, mode, batch in [
        *((f"step_fast_{batch}", Mode.FAST, batch) for batch in size.batches),
        (f"step_best_{size.beam_windows}", Mode.BEST, size.beam_windows),
    ]:
        report.add(name, partial(step_times, card, windows[:batch], mode, (name, speed, size)))
    for mode in Mode:
        report.add(f"throughput_{mode.value}", partial(throughput, card, windows, mode, size.num_rounds))
    report.add("parity", lambda: parity(folder, card, windows[: size.parity_windows]))
    # What could not be recorded in the course of it all is told here, too.
    report.add("graphs", lambda: {"device": card._network.described})
    card._network.record_with(None)
    name, batch = "step_without_graphs", size.batches[min(1, len(size.batches) - 1)]
    report.add(name, partial(step_times, card, windows[:batch], Mode.FAST, (name, speed, size)))
    report.add("memory", memory)


def load(folder: Path, runtime: RuntimeOptions, loaded: list[WhisperAdapter]) -> dict[str, Any]:
    """Load the network on the card, and record the first pass."""
    loaded_s, card = timed(lambda: load_adapter(folder, runtime))
    loaded.append(card)
    print(f"loaded in {loaded_s:.1f} s: {card.device}", flush=True)
    return {"device": card.device, "load_s": loaded_s, "has_graphs": card.device.endswith(", CUDA graphs")}


def memory() -> dict[str, Any]:
    return {"peak_gb": torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else 0.0}


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
        both = enumerate(zip(one.ids, other.ids, strict=False))
        parted = next((index for index, (left, right) in both if left != right), None)
        if parted is not None:
            gaps.append(decision_gap(exact, pcm, other.ids[: parted + 1], one.ids[parted]))
    said = [text.decode([decode_.ids], skip_special=True)[0] for decode_ in ours]
    expected = [text.decode([decode_.ids], skip_special=True)[0] for decode_ in theirs]
    pairs = [(one.split(), other.split()) for one, other in zip(said, expected, strict=True)]
    alike = [SequenceMatcher(None, *pair, autojunk=False).ratio() for pair in pairs]
    differing = 100 * (1 - statistics.mean(alike))
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
    try:
        while running := [decode_ for decode_ in decodes if decode_.outcome is None]:
            adapter.step(running)
    finally:
        adapter.release(decodes)
    return decodes


def step_times(
    adapter: WhisperAdapter, windows: Sequence[np.ndarray], mode: Mode, how: tuple[str, float, Size]
) -> dict[str, Any]:
    """Return the median step of a full batch, and what reading its memory once would take.

    `how` are the part's name, the bandwidth in GB/s, and how much is measured.
    """
    name, bandwidth_gb_s, size = how
    for _ in range(size.num_rounds):
        admit_s, times = timed_steps(adapter, said_anew(windows), mode, size.num_steps)
    step_ms = 1e3 * statistics.median(times)
    floor_ms = 1e3 * floor_bytes(adapter, len(windows)) / (bandwidth_gb_s * 1e9)
    print(
        f"{name}: admitted in {1e3 * admit_s:.1f} ms, a step {step_ms:.2f} ms,"
        f" floor {floor_ms:.3f} ms, slowest {1e3 * max(times):.1f} ms",
        flush=True,
    )
    return {
        name: {
            "mode": mode.value,
            "windows": len(windows),
            "admit_ms": 1e3 * admit_s,
            "step_ms": step_ms,
            "slowest_step_ms": 1e3 * max(times),
            "floor_ms": floor_ms,
            "times_the_floor": step_ms / floor_ms,
        }
    }


def said_anew(windows: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the same speech a trifle quieter, since the adapter still knows what it has encoded."""
    return [pcm * np.float32(1 - 1e-5 * next(_times_said)) for pcm in windows]


def timed_steps(
    adapter: WhisperAdapter, windows: Sequence[np.ndarray], mode: Mode, num_steps: int
) -> tuple[float, list[float]]:
    """Return what admitting all windows took, and each step for as long as none of them has ended."""
    admit_s, decodes = timed(lambda: adapter.admit(admissions(windows, mode)))
    times: list[float] = []
    try:
        while len(times) < num_steps and all(decode_.outcome is None for decode_ in decodes):
            times.append(timed(lambda: adapter.step(decodes))[0])
    finally:
        adapter.release(decodes)
    if not times:
        raise ValueError("a window had nothing to say")
    return admit_s, times


def floor_bytes(adapter: WhisperAdapter, num_windows: int) -> int:
    """Return what a step must read: the decoder's weights, and all that each window is heard by."""
    dims, formats = adapter._network.config.dims, adapter._network.runtime.formats
    width = dims.n_text_state
    # Attention to text 4 width², to audio 2 (its keys and values are remembered), feed-forward 8.
    weights = dims.n_text_layer * 14 * width**2 + dims.n_vocab * width
    window = adapter._network.slot_shape.window.num_bytes(formats.cross)
    return weights * formats.text.itemsize + num_windows * dims.n_text_layer * window


def bandwidth(device: torch.device, num_bytes: int) -> dict[str, Any]:
    """Return what the card's memory gives when a large tensor is read, several times in one wait."""
    large = torch.zeros(num_bytes // 4, device=device)

    def read() -> None:
        for _ in range(_NUM_READS):
            large.sum()

    times = [timed(read)[0] for _ in range(6)]
    return {"bandwidth_gb_s": _NUM_READS * large.nbytes / min(times) / 1e9}


def throughput(
    adapter: WhisperAdapter, windows: Sequence[np.ndarray], mode: Mode, num_rounds: int
) -> dict[str, Any]:
    """Decode all windows through one running batch: seconds of speech per second."""
    for _ in range(num_rounds):
        elapsed_s, num_retries = timed(lambda: run_all(adapter, said_anew(windows), mode))
    speed = sum(len(window) for window in windows) / SAMPLE_RATE_HZ / elapsed_s
    print(f"{mode.value}: {speed:.0f} × real time, {num_retries} attempts would be repeated", flush=True)
    return {f"speed_{mode.value}": speed, f"rtf_{mode.value}": 1 / speed}


def run_all(adapter: WhisperAdapter, windows: Sequence[np.ndarray], mode: Mode) -> int:
    """Keep the batch full as a scheduler does; returns how many attempts the guards objected to."""
    waiting, num_retries = admissions(windows, mode)[::-1], 0
    running: list[Decode] = []
    try:
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
    finally:
        adapter.release(running)
    return num_retries


if __name__ == "__main__":
    main()
