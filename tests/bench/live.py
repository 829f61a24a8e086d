"""Live captions at the pace of time: how late, how right, and beside local agreement on the same weights.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/live.py [--quick] [--model KEY] [--no-peer]
    … live.py --silence                          recordings in which nothing is spoken
    … live.py --minutes 60 --file LONG.flac      one long session: memory, latency then and now
    … live.py --beside 10                        while ten files are transcribed

Words count as said where an offline run with the same model hears them end, if the reference has them
too. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
from accuracy import PEER_PYTHON
from latency import Timed, delays, num_taken_back, percentile
from live_feed import RATE_HZ, Player, Samples, Told, read_samples
from memory import MemoryLog
from ours import Engine
from scoring import pooled, score, units
from speech_set import Clip, read_clips, speech_folder

from engine.config import data_folder
from engine.protocol.transcript import Options

LANGUAGES = ("en", "de", "fr", "es", "ko", "ja", "zh")
SECONDS_EACH = 60.0
"""Of speech in each language, in whole clips."""
QUICK_SECONDS = 12.0
EDGE_S = 300.0
"""Of a long session: latency of its first and last part, and when memory counts from."""


@dataclass(frozen=True)
class Played:
    """A clip, what an offline run made of it, and what was told live."""

    clip: Clip
    offline: str
    spoken: list[Timed]
    told: Told


def main() -> None:
    arguments = read_arguments()
    folder = speech_folder()
    print(f"calibration: {matmul_gflops():.0f} GFLOP/s in a 1024 matmul", file=sys.stderr)
    if arguments.silence:
        report = play_silence(folder, arguments)
    elif arguments.minutes:
        report = play_long(arguments)
    else:
        clips = chosen(read_clips(folder), quick=arguments.quick)
        report = compare(clips, arguments)
    report["model"], report["gflops"] = arguments.model, matmul_gflops()
    print(json.dumps(rounded(report), ensure_ascii=False))


def rounded(value: Any) -> Any:
    """Return `value` with every number in it rounded to the tenth of a millisecond."""
    if isinstance(value, dict):
        return {key: rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="less than a minute of audio, without the peer")
    parser.add_argument("--model", default="whisper-base")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--peer-type", default="float32", help="the peer's compute type")
    parser.add_argument("--auto", action="store_true", help="let the language be found out")
    parser.add_argument("--silence", action="store_true")
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--file", type=Path, help="what to play for --minutes, over and over")
    parser.add_argument("--beside", type=int, default=0, help="transcribe so many files meanwhile")
    return parser.parse_args()


def chosen(clips: list[Clip], *, quick: bool) -> list[Clip]:
    """Return whole clips up to so many seconds in each language, spread over the set."""
    picked: list[Clip] = []
    for language in LANGUAGES[:: 4 if quick else 1]:
        left_s = QUICK_SECONDS if quick else SECONDS_EACH
        own = [clip for clip in clips if clip.language == language and clip.folder in LANGUAGES]
        for clip in sorted(own, key=lambda clip: clip.path.name)[:: 3 if language == "en" else 1]:
            if clip.seconds <= left_s:
                picked.append(clip)
                left_s -= clip.seconds
    return picked


def compare(clips: list[Clip], arguments: argparse.Namespace) -> dict[str, Any]:
    """Play every clip to Jamak and to the peer."""
    audio = [read_samples(clip.path) for clip in clips]
    offline = listen_offline(clips, arguments.model)
    played: list[Played] = []
    player = Player(arguments.model)
    try:
        player.warm_up()
        start_files(player, arguments)
        for clip, samples, (text, words) in zip(clips, audio, offline, strict=True):
            told = player.play(samples, None if arguments.auto else clip.language)
            played.append(Played(clip, text, said_words(clip, words), told))
            print_clip(played[-1])
    finally:
        player.client.close()
    report = summary(played)
    report["languages"] = {
        language: summary(own)
        for language in LANGUAGES
        if (own := [item for item in played if item.clip.language == language])
    }
    if not arguments.quick and not arguments.no_peer:
        peers = play_to_peer(clips, audio, arguments)
        rival = [Played(p.clip, p.offline, p.spoken, told) for p, told in zip(played, peers, strict=True)]
        report["peer"] = summary(rival)
        report["peer"]["languages"] = {
            language: summary([item for item in rival if item.clip.language == language])
            for language in report["languages"]
        }
    return report


def listen_offline(clips: list[Clip], model: str) -> list[tuple[str, list[Timed]]]:
    """Return text, and words with their ends, of each clip as a file."""
    engine = Engine()
    try:
        results = []
        for clip in clips:
            options = Options(model=model, language=clip.language, word_timestamps=True)
            (result,) = engine.transcribe([clip.path], options)
            words = [(word.text, word.end) for segment in result.segments for word in segment.words]
            results.append((result.text, words))
        return results
    finally:
        engine.client.close()


def said_words(clip: Clip, words: list[Timed]) -> list[Timed]:
    """Return the units of `words` that the reference has too."""
    wanted = units(clip.reference, clip.language)
    heard = [(unit, end_s) for text, end_s in words for unit in units(text, clip.language)]
    if not wanted or not heard:
        return []
    path = jiwer.process_words(" ".join(wanted), " ".join(unit for unit, _ in heard)).alignments[0]
    return [
        heard[index]
        for part in path
        if part.type == "equal"
        for index in range(part.hyp_start_idx, part.hyp_end_idx)
    ]


def summary(played: list[Played]) -> dict[str, Any]:
    """Return the numbers of some clips together."""
    late = [d for item in played for d in delays(item.spoken, item.told.deltas, item.clip.language)]
    live = [score(item.clip.reference, item.told.text, item.clip.language) for item in played]
    offline = [score(item.clip.reference, item.offline, item.clip.language) for item in played]
    firsts = [item.told.first_tail_s for item in played if item.told.first_tail_s is not None]
    num_final = sum(len(item.told.text) for item in played)
    erased = sum(num_taken_back(item.told.deltas, item.told.tails) for item in played)
    seconds = sum(item.clip.seconds for item in played)
    return {
        "confirmed_p50_s": percentile(late, 0.5),
        "confirmed_p95_s": percentile(late, 0.95),
        "first_tail_p50_s": percentile(firsts, 0.5),
        "stop_to_final_s": percentile([item.told.stop_to_final_s for item in played], 0.5),
        "stop_to_final_max_s": max(item.told.stop_to_final_s for item in played),
        "confirmed_error": pooled(live),
        "offline_error": pooled(offline),
        # The peer keeps no segments that could differ from what it told.
        "confirmed_erasure": sum(item.told.num_erased for item in played if item.told.segments)
        / max(1, num_final),
        "tail_erasure": erased / max(1, num_final),
        "backlog_max_s": max(item.told.backlog_max_s for item in played),
        "num_steps": sum(item.told.num_steps for item in played),
        "num_steps_without_draft": sum(item.told.num_steps + item.told.num_steps_saved for item in played),
        "num_words": len(late),
        "seconds": seconds,
    }


def play_to_peer(clips: list[Clip], audio: list[Samples], arguments: argparse.Namespace) -> list[Told]:
    """Let the peer listen in its own environment."""
    python = Path(os.environ.get("JAMAK_PEER_PYTHON", PEER_PYTHON))
    if not python.exists():
        sys.exit("The peer is not installed: run `make bench-setup` first.")
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for index, (clip, samples) in enumerate(zip(clips, audio, strict=True)):
            path = Path(folder) / f"{index}.npy"
            np.save(path, samples)
            files.append([str(path), clip.language])
        job = {
            "model": str(data_folder() / "models" / arguments.model),
            "compute_type": arguments.peer_type,
            "threads": os.cpu_count(),
            "files": files,
        }
        script = str(Path(__file__).with_name("peer_live.py"))
        done = subprocess.run(
            [str(python), script], input=json.dumps(job), capture_output=True, text=True, check=True
        )
    told = []
    for line in done.stdout.splitlines():
        item = json.loads(line)
        told.append(
            Told(
                deltas=[(text, time_s) for text, time_s in item["deltas"]],
                tails=[(text, time_s) for text, time_s in item["tails"]],
                stop_to_final_s=item["stop_to_final_s"],
                backlog_max_s=item["backlog_max_s"],
            )
        )
    return told


def play_silence(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Return how many characters are told of recordings in which nothing is spoken."""
    invented: dict[str, str] = {}
    player = Player(arguments.model)
    try:
        player.warm_up()
        for clip in [clip for clip in read_clips(folder) if clip.folder == "nonspeech"]:
            # Faster than time: what is told depends on the audio alone.
            told = player.play(read_samples(clip.path), None if arguments.auto else "en", pace=0.2)
            shown = [text for text, _ in told.tails if text.strip()]
            if told.text.strip() or shown:
                invented[clip.path.name] = told.text or f"(tail only) {shown[0]}"
                print(f"{clip.path.name}: {invented[clip.path.name]}", file=sys.stderr)
    finally:
        player.client.close()
    texts = [text for text in invented.values() if not text.startswith("(tail only)")]
    return {"invented_characters": sum(len("".join(units(text, "en"))) for text in texts), "told": invented}


def play_long(arguments: argparse.Namespace) -> dict[str, Any]:
    """Play one session for many minutes: nothing may drift, grow or be dropped."""
    samples = np.resize(read_samples(arguments.file), int(arguments.minutes * 60 * RATE_HZ))
    memory = MemoryLog()
    player = Player(arguments.model)
    try:
        player.warm_up()
        told = player.play(samples, None if arguments.auto else "en", each_second=memory.note)
    finally:
        player.client.close()
    words = [(word.text, word.end) for segment in told.segments for word in segment.words]
    total_s = len(samples) / RATE_HZ
    parts = {"first": (0.0, EDGE_S), "last": (total_s - EDGE_S, total_s), "all": (0.0, total_s)}
    report: dict[str, Any] = {}
    for name, (begin_s, end_s) in parts.items():
        spoken = [word for word in words if begin_s <= word[1] < end_s]
        deltas = [delta for delta in told.deltas if begin_s <= delta[1] < end_s + 60]
        late = delays(spoken, deltas, "en")
        report[f"confirmed_p50_{name}_s"] = percentile(late, 0.5)
        report[f"confirmed_p95_{name}_s"] = percentile(late, 0.95)
    return report | {
        "minutes": arguments.minutes,
        "dropped_samples": len(samples) - told.num_received,
        "stop_to_final_s": told.stop_to_final_s,
        "backlog_max_s": told.backlog_max_s,
        "confirmed_erasure": told.num_erased / max(1, len(told.text)),
        "memory_slope_mb_per_hour": memory.slopes_mb_per_hour(after_s=min(EDGE_S, total_s / 4)),
        "cpu_share": memory.cpu_share(),
        "num_characters": len(told.text),
    }


def start_files(player: Player, arguments: argparse.Namespace) -> None:
    """Have files transcribed beside the session."""
    clips = [clip for clip in read_clips(speech_folder()) if clip.folder == "longform"]
    for index in range(arguments.beside):
        clip = clips[index % len(clips)]
        player.client.transcribe(str(clip.path), Options(model=arguments.model, language=clip.language))


def print_clip(item: Played) -> None:
    numbers = summary([item])
    print(
        f"{item.clip.path.name[:36]:36} p50 {numbers['confirmed_p50_s']:5.2f}"
        f" p95 {numbers['confirmed_p95_s']:5.2f}"
        f" stop {numbers['stop_to_final_s']:4.2f} error {numbers['confirmed_error']:5.1f}"
        f" offline {numbers['offline_error']:5.1f} backlog {numbers['backlog_max_s']:4.1f}",
        file=sys.stderr,
        flush=True,
    )


def matmul_gflops() -> float:
    """Return the speed of a float32 matrix product here, now."""
    square = np.ones((1024, 1024), np.float32)
    begin_s = time.perf_counter()
    for _ in range(5):
        np.dot(square, square)
    return 5 * 2 * 1024**3 / (time.perf_counter() - begin_s) / 1e9


if __name__ == "__main__":
    main()
