"""Speed and memory over long recordings beside faster-whisper on the same weights.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/files.py [--quick] [--model KEY] [--mode fast|best]

Every engine is loaded and warm; a round lets each transcribe each file, one engine at a time, and takes
another order each time. Machines are shared and noisy, so only times of one round are compared. The
peers are faster-whisper in int8 (greedy, beam 5, and batched: 8 windows, greedy), openai-whisper,
transformers' pipeline and whisper.cpp; the slow ones transcribe the shortest file once. Ours is what a
user gets. Compared is the fastest peer that follows as many texts as ours: one, or five with `--mode
best`. Memory is the largest summed proportional set size while an engine works. With `--linearity` it
is ours alone over ten minutes, an hour and three; with `--floor` the network alone in this process, beside
what the processor could do at best. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from floor import measure_floor
from long_files import linearity, measure_linearity
from ours import Engine, descendants, running_engine
from peers import EQUAL, PEER_PYTHON, PEERS, QUICK_PEERS, Peer
from scoring import pooled, score
from shares import PeakMemory
from speech_set import Clip, read_clips, speech_folder

from engine.config import cache_folder, data_folder
from engine.protocol.transcript import Mode, Options

FILES = ("longform/en_ljspeech_LJ001_0001-0032.flac", "longform/de_kerstin_concat_5min.flac")
ENGLISH_FILES = FILES[:1]
QUICK_S = 30.0


@dataclass
class Measured:
    """What one engine took in each round, by the index of the file, and what it said to each file last."""

    rounds: list[dict[int, float]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    load_s: float = 0.0
    peak_bytes: int = 0

    @property
    def round_s(self) -> list[float]:
        return [sum(times.values()) for times in self.rounds]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="at most 30 s of audio, one peer")
    parser.add_argument("--model", default="whisper-base")
    parser.add_argument("--mode", choices=list(EQUAL), default="fast")
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
    peers = QUICK_PEERS[arguments.mode] if arguments.quick else arguments.peers
    options = Options(model=arguments.model, mode=Mode(arguments.mode), temperatures=(0.0,))
    measured = measure(clips, options, peers, arguments.rounds)
    report = summarise(measured, clips, EQUAL[arguments.mode])
    report["model"], report["mode"] = arguments.model, arguments.mode
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
    clips: Sequence[Clip], options: Options, peer_names: Sequence[str], num_rounds: int
) -> dict[str, Measured]:
    """Return what each engine took; "ours" is the first."""
    with running_engine() as engine, ExitStack() as stack:
        peers = _open_peers(peer_names, data_folder() / "models" / options.model, stack)
        measured = {name: Measured() for name in ("ours", *peers)}
        their_pids = {peer.pid for peer in peers.values()}
        transcribe: dict[str, Callable[[Clip], str]] = {"ours": _ours(engine, options)}
        transcribe |= {name: peer.transcribe for name, peer in peers.items()}
        memory = {"ours": PeakMemory(lambda: set(descendants()) - their_pids)}
        memory |= {name: PeakMemory(lambda pid=peer.pid: [pid]) for name, peer in peers.items()}
        shortest = min(clips, key=lambda clip: clip.seconds)
        for name, call in transcribe.items():
            started_s = time.monotonic()
            with memory[name]:
                if _is_slow(name):
                    peers[name].load()
                else:
                    call(shortest)
            measured[name].load_s = time.monotonic() - started_s
        for index in range(num_rounds):
            _run_round(index, clips, transcribe, memory, measured)
        for name, watch in memory.items():
            measured[name].peak_bytes = watch.bytes
    return measured


def _open_peers(names: Sequence[str], model_folder: Path, stack: ExitStack) -> dict[str, Peer]:
    """Start the peers that have weights; say of the others why not."""
    peers: dict[str, Peer] = {}
    for name in names:
        try:
            peers[name] = Peer(PEERS[name], model_folder)
        except RuntimeError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            continue
        stack.callback(peers[name].close)
    return peers


def _is_slow(name: str) -> bool:
    return name in PEERS and PEERS[name].is_slow


def _run_round(
    index: int,
    clips: Sequence[Clip],
    transcribe: dict[str, Callable[[Clip], str]],
    memory: dict[str, PeakMemory],
    measured: dict[str, Measured],
) -> None:
    """Let each engine transcribe each file; the slow ones take part in the first round, with the shortest."""
    names = list(transcribe)
    shortest = min(range(len(clips)), key=lambda place: clips[place].seconds)
    for name in names:
        if index == 0 or not _is_slow(name):
            measured[name].rounds.append({})
    for place, clip in enumerate(clips):
        for name in names[index % len(names) :] + names[: index % len(names)]:
            if _is_slow(name) and (index > 0 or place != shortest):
                continue
            with memory[name]:
                elapsed_s, text = _timed(transcribe[name], clip)
            measured[name].rounds[-1][place] = elapsed_s
            measured[name].texts[place] = text
            speed = clip.seconds / elapsed_s
            print(f"{index + 1} {clip.path.name[:24]:24} {name:12} {speed:6.1f} x", file=sys.stderr)


def _timed(call: Callable[[Clip], str], clip: Clip) -> tuple[float, str]:
    started_s = time.monotonic()
    text = call(clip)
    return time.monotonic() - started_s, text


def _ours(engine: Engine, options: Options) -> Callable[[Clip], str]:
    def transcribe(clip: Clip) -> str:
        asked = msgspec.structs.replace(options, language=clip.language)
        [result] = engine.transcribe([clip.path], asked)
        if result.failure:
            raise RuntimeError(f"{clip.path.name}: {result.failure}")
        return result.text

    return transcribe


def summarise(measured: dict[str, Measured], clips: Sequence[Clip], equal: Sequence[str]) -> dict[str, Any]:
    """Return the report: ours against the fastest of the `equal` peers, round by round."""
    ours = measured["ours"]
    peers = [name for name in equal if name in measured] or list(measured)[1:2]
    best = min(peers, key=lambda name: statistics.median(measured[name].round_s))
    ratios = {name: _ratios(measured[name], ours) for name in measured if name != "ours"}
    return {
        "ratio_vs_best_peer": statistics.median(ratios[best]),
        "ratios": {name: [round(ratio, 2) for ratio in values] for name, values in ratios.items()},
        "best_peer": best,
        "rtf": 1 / statistics.median(_speeds(ours, clips)),
        "peer_rtf": 1 / statistics.median(_speeds(measured[best], clips)),
        "error": _error(ours, clips),
        "peer_error": _error(measured[best], clips),
        "error_by_file": [_error(ours, clips, index) for index in range(len(clips))],
        "peer_error_by_file": [_error(measured[best], clips, index) for index in range(len(clips))],
        "peak_mb": ours.peak_bytes / 2**20,
        "peer_peak_mb": measured[best].peak_bytes / 2**20,
        "seconds": sum(clip.seconds for clip in clips),
    }


def _ratios(peer: Measured, ours: Measured) -> list[float]:
    """Return how many times longer the peer took for what it transcribed, by round."""
    return [
        sum(theirs.values()) / sum(own[place] for place in theirs)
        for theirs, own in zip(peer.rounds, ours.rounds, strict=False)
    ]


def _speeds(item: Measured, clips: Sequence[Clip]) -> list[float]:
    """Return seconds of speech in a second, by round, slowest first."""
    return sorted(sum(clips[place].seconds for place in times) / sum(times.values()) for times in item.rounds)


def _error(item: Measured, clips: Sequence[Clip], only: int | None = None) -> float:
    """Return the error rate in per cent, over all files it transcribed or the one of that index."""
    said = [(clips[place], text) for place, text in item.texts.items() if only in (None, place)]
    return pooled([score(clip.reference, text, clip.language) for clip, text in said])


def print_table(measured: dict[str, Measured], clips: Sequence[Clip]) -> None:
    """Print one line an engine."""
    print(f"{'':12} {'x real time':>12} {'spread':>14} {'x ours':>8} {'error %':>8} {'MB':>6} {'first s':>8}")
    for name, item in measured.items():
        speeds = _speeds(item, clips)
        ratio = statistics.median(_ratios(item, measured["ours"]))
        print(
            f"{name:12} {statistics.median(speeds):12.1f} {speeds[0]:6.1f} –{speeds[-1]:6.1f} {ratio:8.2f}"
            f" {_error(item, clips):8.2f} {item.peak_bytes / 2**20:6.0f} {item.load_s:8.1f}"
        )


if __name__ == "__main__":
    main()
