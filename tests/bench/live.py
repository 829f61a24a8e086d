"""Live captions at the pace of time: how late, how right, and beside local agreement on the same weights.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/live.py [--quick] [--model KEY] [--no-peer]
    … live.py --nonspeech                        recordings in which nothing is spoken: live and as files
    … live.py --minutes 60 [--file LONG.flac]    one long session: memory, latency then and now
    … live.py --beside 10 [--minutes 10]         alone, then while ten files are transcribed

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
from pathlib import Path
from typing import Any

import numpy as np
from accuracy import PEER_PYTHON
from live_feed import Player, Samples, Told, read_samples
from live_played import Played, listen_offline, said_words, summary
from live_trials import play_beside, play_long, play_nonspeech
from speech_set import Clip, read_clips, speech_folder

from engine.config import data_folder

LANGUAGES = ("en", "de", "fr", "es", "ko", "ja", "zh")
SECONDS_EACH = 60.0
"""Of speech in each language, in whole clips."""
QUICK_SECONDS = 12.0


def main() -> None:
    arguments = read_arguments()
    folder = speech_folder()
    print(f"calibration: {matmul_gflops():.0f} GFLOP/s in a 1024 matmul", file=sys.stderr)
    if arguments.nonspeech:
        report = play_nonspeech(folder, arguments)
    elif arguments.beside:
        report = play_beside(folder, arguments)
    elif arguments.minutes:
        report = play_long(folder, arguments)
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
    parser.add_argument("--nonspeech", action="store_true")
    parser.add_argument("--minutes", type=float, default=0.0)
    parser.add_argument("--file", type=Path, help="what to play for --minutes, over and over")
    parser.add_argument("--beside", type=int, default=0, help="transcribe so many files meanwhile")
    parser.add_argument("--together", type=int, default=2, help="of those at a time; as the app does")
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
