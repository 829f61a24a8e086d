"""Error rates, invented text and segment times beside faster-whisper on the same weights.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/accuracy.py [--quick] [--model KEY] [--mode fast|best]

Both sides: temperature 0, the same VAD model and threshold, no text carried between windows. The
last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from ours import Result, running_engine
from peers import PEER_PYTHON
from scoring import Score, aligned_starts, bootstrap_difference, pooled, score, units
from speech_set import SCORED_FOLDERS, Clip, read_clips, speech_folder

from engine.config import data_folder
from engine.protocol.transcript import Mode, Options

TIMED = "longform/en_synth_piper_joe_10min.flac"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="at most 30 s of audio")
    parser.add_argument("--model", default="whisper-base")
    parser.add_argument("--peer-type", default="int8", help="the peer's compute type")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.FAST.value)
    parser.add_argument("--peer-beam", type=int, help="else 5 where ours follows as many, or 1")
    parser.add_argument("--folders", nargs="+", choices=SCORED_FOLDERS, help="only these sets")
    arguments = parser.parse_args()
    if arguments.peer_beam is None:
        arguments.peer_beam = 5 if arguments.mode == Mode.BEST.value else 1
    folder = speech_folder()
    clips = chosen(read_clips(folder), arguments.model, quick=arguments.quick)
    if arguments.folders:
        clips = [clip for clip in clips if clip.folder in arguments.folders]

    ours, our_rtf, our_peak = run_ours(clips, arguments.model, Mode(arguments.mode))
    peers, peer_rtf, peer_peak = run_peer(clips, arguments)
    report: dict[str, Any] = compare(clips, ours, peers)
    report["model"], report["mode"] = arguments.model, arguments.mode
    report["rtf"], report["peer_rtf"] = our_rtf, peer_rtf
    report["peak_mb"], report["peer_peak_mb"] = our_peak / 2**20, peer_peak / 2**20
    if any(clip.path == folder / TIMED for clip in clips):
        report |= start_errors(folder, clips, ours, peers)
    print(json.dumps(report, ensure_ascii=False, default=lambda number: round(number, 4)))


def chosen(clips: list[Clip], model: str, *, quick: bool) -> list[Clip]:
    """Return the clips that `model` can be asked for; with `quick` the first that fit into 30 s."""
    if model.endswith(".en"):
        clips = [clip for clip in clips if clip.language in ("en", "zxx")]
    if not quick:
        return clips
    picked: list[Clip] = []
    for folder in ("en", "ko", "nonspeech"):
        for clip in sorted((c for c in clips if c.folder == folder), key=lambda c: c.seconds):
            if clip.seconds >= 5 and sum(c.seconds for c in picked) + clip.seconds <= 30:
                picked.append(clip)
                break
    return picked


def run_ours(clips: list[Clip], model: str, mode: Mode) -> tuple[list[Result], float, int]:
    """Transcribe with Jamak; real-time factor over the whole run, model loading included."""
    options = Options(model=model, mode=mode, temperatures=(0.0,), word_timestamps=True)
    with running_engine() as engine:
        started_s = time.monotonic()
        results: list[Result | None] = [None] * len(clips)
        for language in sorted({asked_language(clip) for clip in clips}):
            picks = [i for i, clip in enumerate(clips) if asked_language(clip) == language]
            asked = msgspec.structs.replace(options, language=language)
            told = engine.transcribe([clips[i].path for i in picks], asked)
            for i, result in zip(picks, told, strict=True):
                results[i] = result
        elapsed_s = time.monotonic() - started_s
        peak = engine.peak_memory_bytes()
    return [r for r in results if r is not None], elapsed_s / sum(c.seconds for c in clips), peak


def asked_language(clip: Clip) -> str:
    """Return the language both sides are told; silence and music are asked for as English."""
    return "en" if clip.language == "zxx" else clip.language


def run_peer(clips: list[Clip], arguments: argparse.Namespace) -> tuple[list[dict[str, Any]], float, int]:
    """Transcribe with faster-whisper in its own environment."""
    if not PEER_PYTHON.exists():
        sys.exit("The peer is not installed: run `make bench-setup` first.")
    job = {
        "model": str(data_folder() / "models" / arguments.model),
        "compute_type": arguments.peer_type,
        "beam_size": arguments.peer_beam,
        "word_timestamps": True,
        "threads": os.cpu_count(),
        "files": [[str(clip.path), asked_language(clip)] for clip in clips],
    }
    script = Path(__file__).with_name("peer_faster_whisper.py")
    started_s = time.monotonic()
    done = subprocess.run(
        [str(PEER_PYTHON), str(script)], input=json.dumps(job), capture_output=True, text=True, check=True
    )
    elapsed_s = time.monotonic() - started_s
    told = [json.loads(line) for line in done.stdout.splitlines()]
    return told, elapsed_s / sum(c.seconds for c in clips), max(item["peak_bytes"] for item in told)


def compare(clips: list[Clip], ours: list[Result], peers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return error rates by set, the pooled difference and what was invented."""
    mine: dict[str, list[Score]] = {}
    theirs: dict[str, list[Score]] = {}
    invented = peer_invented = 0
    for clip, our, peer in zip(clips, ours, peers, strict=True):
        peer_text = "".join(segment["text"] for segment in peer["segments"])
        if our.failure:
            print(f"{clip.path.name}: {our.failure}", file=sys.stderr)
        if clip.folder == "nonspeech":
            invented += len("".join(units(our.text, "en")))
            peer_invented += len("".join(units(peer_text, "en")))
            continue
        mine.setdefault(clip.folder, []).append(score(clip.reference, our.text, clip.language))
        theirs.setdefault(clip.folder, []).append(score(clip.reference, peer_text, clip.language))
        print_line(clip, mine[clip.folder][-1], theirs[clip.folder][-1])
    pool = [name for name in ("en", "longform", "noisy") if name in mine]
    our_pool = [item for name in pool for item in mine[name]]
    peer_pool = [item for name in pool for item in theirs[name]]
    low, high = bootstrap_difference(our_pool, peer_pool)
    return {
        "error": {name: pooled(mine[name]) for name in SCORED_FOLDERS if name in mine},
        "peer_error": {name: pooled(theirs[name]) for name in SCORED_FOLDERS if name in theirs},
        "num_errors": {name: sum(item.errors for item in mine[name]) for name in mine},
        "peer_num_errors": {name: sum(item.errors for item in theirs[name]) for name in theirs},
        "pooled_error": pooled(our_pool),
        "peer_pooled_error": pooled(peer_pool),
        "pooled_difference": pooled(our_pool) - pooled(peer_pool),
        "pooled_difference_95": [low, high],
        "invented_characters": invented,
        "peer_invented_characters": peer_invented,
    }


def print_line(clip: Clip, ours: Score, peer: Score) -> None:
    """Print a clip where the two differ."""
    if ours.errors != peer.errors:
        print(f"{clip.folder}/{clip.path.name[:40]:40} {ours.errors:4} {peer.errors:4} of {ours.length}")


def start_errors(
    folder: Path, clips: list[Clip], ours: list[Result], peers: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return how far sentence starts are off, and what is wrong with word times."""
    index = next(i for i, clip in enumerate(clips) if clip.path == folder / TIMED)
    sentences = json.loads((folder / f"{TIMED}.segments.json").read_text(encoding="utf-8"))
    words = [(word.text, word.start) for segment in ours[index].segments for word in segment.words]
    peer_words = [(word[0], word[1]) for segment in peers[index]["segments"] for word in segment["words"]]
    return {
        "median_start_error_s": _median_error(sentences, words),
        "peer_median_start_error_s": _median_error(sentences, peer_words),
        "num_bad_words": sum(_bad_words(result) for result in ours),
    }


def _median_error(sentences: list[dict[str, Any]], words: list[tuple[str, float]]) -> float:
    starts = aligned_starts([sentence["text"] for sentence in sentences], words, "en")
    pairs = zip(sentences, starts, strict=True)
    return statistics.median(abs(s["start"] - start) for s, start in pairs if start is not None)


def _bad_words(result: Result) -> int:
    words = [word for segment in result.segments for word in segment.words]
    num_backward = sum(b.start < a.end - 1e-6 for a, b in pairwise(words))
    return num_backward + sum(word.end <= word.start for word in words)


if __name__ == "__main__":
    main()
