"""Speed and memory over long recordings beside faster-whisper on the same weights.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/files.py [--quick] [--model KEY] [--rounds N]

Every engine is loaded and warm; a round lets each transcribe each file, one engine at a time, and takes
another order each time. Machines are shared and noisy, so only times of one round are compared. The
peers are int8: greedy, beam 5, and batched (8 windows, greedy); ours is what a user gets. Compared is
the fastest peer that is greedy as ours. Memory is the largest summed proportional set size while an
engine works. With `--linearity` it is ours alone over ten minutes, an hour and three; with `--floor` the
network alone in this process, beside what the processor could do at best. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from accuracy import PEER_PYTHON
from floor import measure_floor
from long_files import linearity, measure_linearity
from ours import Engine, descendants, running_engine
from scoring import pooled, score
from shares import PeakMemory
from speech_set import Clip, read_clips, speech_folder

from engine.config import cache_folder, data_folder
from engine.protocol.transcript import Options

FILES = ("longform/en_ljspeech_LJ001_0001-0032.flac", "longform/de_kerstin_concat_5min.flac")
ENGLISH_FILES = FILES[:1]
QUICK_S = 30.0
PEERS = {
    "fw batched": {"beam_size": 1, "batch_size": 8},
    "fw greedy": {"beam_size": 1},
    "fw beam 5": {"beam_size": 5},
}
EQUAL_BEAM = ("fw batched", "fw greedy")
QUICK_PEERS = ("fw batched",)


@dataclass
class Measured:
    """What one engine took, by round and file, and what it said to each file last."""

    rounds: list[list[float]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    load_s: float = 0.0
    peak_bytes: int = 0

    @property
    def round_s(self) -> list[float]:
        return [sum(times) for times in self.rounds]


class Peer:
    """faster-whisper in its own environment and process; transcribes when asked to."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._settings = settings
        self._process = subprocess.Popen(
            [str(PEER_PYTHON), str(Path(__file__).with_name("peer_faster_whisper.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.pid = self._process.pid

    def transcribe(self, clip: Clip) -> str:
        assert self._process.stdin and self._process.stdout
        job = {**self._settings, "files": [[str(clip.path), clip.language]]}
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the peer has died")
        told = json.loads(line)
        return "".join(segment["text"] for segment in told["segments"])

    def close(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(timeout=60)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="at most 30 s of audio, one peer")
    parser.add_argument("--model", default="whisper-base")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS))
    parser.add_argument("--files", nargs="+", help="within the speech set; else two long ones")
    parser.add_argument("--linearity", action="store_true", help="ours alone, up to three hours")
    parser.add_argument("--floor", action="store_true", help="the network alone, beside the best possible")
    arguments = parser.parse_args()
    folder = speech_folder()
    clips = _chosen(read_clips(folder), folder, arguments)
    if arguments.linearity or arguments.floor:
        alone = _linearity if arguments.linearity else _floor
        print(json.dumps({"model": arguments.model, **alone(clips, arguments.model)}))
        return
    if not PEER_PYTHON.exists():
        sys.exit("The peer is not installed: run `make bench-setup` first.")
    peers = QUICK_PEERS if arguments.quick else arguments.peers
    measured = measure(clips, arguments.model, peers, arguments.rounds)
    report = summarise(measured, clips)
    report["model"] = arguments.model
    print_table(measured, clips)
    print(json.dumps(report, default=lambda number: round(number, 4)))


def _chosen(clips: Sequence[Clip], folder: Path, arguments: argparse.Namespace) -> list[Clip]:
    if arguments.quick:
        english = [clip for clip in clips if clip.folder == "en" and clip.seconds <= QUICK_S]
        return [max(english, key=lambda clip: clip.seconds)]
    files = arguments.files or (ENGLISH_FILES if arguments.model.endswith(".en") else FILES)
    return [clip for clip in clips if clip.path in [folder / name for name in files]]


def _linearity(clips: Sequence[Clip], model: str) -> dict[str, Any]:
    options = Options(model=model, language=clips[0].language, temperatures=(0.0,))
    with running_engine() as engine, tempfile.TemporaryDirectory(prefix="jamak-long-") as folder:
        engine.transcribe([clips[0].path], options)
        return linearity(measure_linearity(engine, options, clips[0].path, Path(folder)))


def _floor(clips: Sequence[Clip], model: str) -> dict[str, Any]:
    files = [(clip.path, clip.language) for clip in clips]
    return measure_floor(data_folder() / "models" / model, files, str(cache_folder()))


def measure(
    clips: Sequence[Clip], model: str, peer_names: Sequence[str], num_rounds: int
) -> dict[str, Measured]:
    """Return what each engine took; "ours" is the first."""
    measured = {name: Measured() for name in ("ours", *peer_names)}
    with running_engine() as engine, ExitStack() as stack:
        peers = {name: Peer(_peer_job(model, PEERS[name])) for name in peer_names}
        for peer in peers.values():
            stack.callback(peer.close)
        their_pids = {peer.pid for peer in peers.values()}
        transcribe: dict[str, Callable[[Clip], str]] = {"ours": _ours(engine, model)}
        transcribe |= {name: peer.transcribe for name, peer in peers.items()}
        memory = {"ours": PeakMemory(lambda: set(descendants()) - their_pids)}
        memory |= {name: PeakMemory(lambda pid=peer.pid: [pid]) for name, peer in peers.items()}
        shortest = min(clips, key=lambda clip: clip.seconds)
        for name, call in transcribe.items():
            with memory[name]:
                measured[name].load_s, _ = _timed(call, shortest)
        _run_rounds(clips, transcribe, memory, measured, num_rounds)
        for name, watch in memory.items():
            measured[name].peak_bytes = watch.bytes
    return measured


def _run_rounds(
    clips: Sequence[Clip],
    transcribe: dict[str, Callable[[Clip], str]],
    memory: dict[str, PeakMemory],
    measured: dict[str, Measured],
    num_rounds: int,
) -> None:
    names = list(transcribe)
    for index in range(num_rounds):
        for item in measured.values():
            item.rounds.append([])
            item.texts = []
        for clip in clips:
            for name in names[index % len(names) :] + names[: index % len(names)]:
                with memory[name]:
                    elapsed_s, text = _timed(transcribe[name], clip)
                measured[name].rounds[-1].append(elapsed_s)
                measured[name].texts.append(text)
                speed = clip.seconds / elapsed_s
                print(f"{index + 1} {clip.path.name[:24]:24} {name:10} {speed:6.1f} x", file=sys.stderr)


def _timed(call: Callable[[Clip], str], clip: Clip) -> tuple[float, str]:
    started_s = time.monotonic()
    text = call(clip)
    return time.monotonic() - started_s, text


def _ours(engine: Engine, model: str) -> Callable[[Clip], str]:
    def transcribe(clip: Clip) -> str:
        options = Options(model=model, language=clip.language, temperatures=(0.0,))
        [result] = engine.transcribe([clip.path], options)
        if result.failure:
            raise RuntimeError(f"{clip.path.name}: {result.failure}")
        return result.text

    return transcribe


def _peer_job(model: str, settings: dict[str, int]) -> dict[str, Any]:
    return {
        "model": str(data_folder() / "models" / model),
        "compute_type": "int8",
        "word_timestamps": False,
        "threads": os.cpu_count(),
        **settings,
    }


def summarise(measured: dict[str, Measured], clips: Sequence[Clip]) -> dict[str, Any]:
    """Return the report: ours against the fastest peer at an equal beam, round by round."""
    seconds = sum(clip.seconds for clip in clips)
    ours = measured["ours"]
    equal = [name for name in EQUAL_BEAM if name in measured]
    best = min(equal, key=lambda name: statistics.median(measured[name].round_s))
    ratios = {name: _ratios(measured[name], ours) for name in measured if name != "ours"}
    return {
        "ratio_vs_best_peer": statistics.median(ratios[best]),
        "ratios": {name: [round(ratio, 2) for ratio in values] for name, values in ratios.items()},
        "best_peer": best,
        "rtf": statistics.median(ours.round_s) / seconds,
        "peer_rtf": statistics.median(measured[best].round_s) / seconds,
        "error": _error(ours, clips),
        "peer_error": _error(measured[best], clips),
        "error_by_file": [_error(ours, clips, index) for index in range(len(clips))],
        "peer_error_by_file": [_error(measured[best], clips, index) for index in range(len(clips))],
        "peak_mb": ours.peak_bytes / 2**20,
        "peer_peak_mb": measured[best].peak_bytes / 2**20,
        "seconds": seconds,
    }


def _ratios(peer: Measured, ours: Measured) -> list[float]:
    """Return how many times longer the peer took, by round."""
    return [theirs_s / ours_s for theirs_s, ours_s in zip(peer.round_s, ours.round_s, strict=True)]


def _error(item: Measured, clips: Sequence[Clip], only: int | None = None) -> float:
    """Return the error rate in per cent, over all files or the one of that index."""
    pairs = list(zip(clips, item.texts, strict=True))
    pairs = pairs if only is None else [pairs[only]]
    return pooled([score(clip.reference, text, clip.language) for clip, text in pairs])


def print_table(measured: dict[str, Measured], clips: Sequence[Clip]) -> None:
    """Print one line an engine."""
    seconds = sum(clip.seconds for clip in clips)
    print(f"{'':12} {'x real time':>12} {'spread':>14} {'x ours':>8} {'error %':>8} {'MB':>6} {'first s':>8}")
    for name, item in measured.items():
        speeds = sorted(seconds / round_s for round_s in item.round_s)
        ratio = statistics.median(_ratios(item, measured["ours"]))
        print(
            f"{name:12} {statistics.median(speeds):12.1f} {speeds[0]:6.1f} –{speeds[-1]:6.1f} {ratio:8.2f}"
            f" {_error(item, clips):8.2f} {item.peak_bytes / 2**20:6.0f} {item.load_s:8.1f}"
        )


if __name__ == "__main__":
    main()
