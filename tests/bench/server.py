"""Load on `jamak serve`: what is lost, how long callers wait, and how often the decoder runs for them.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/server.py [--quick] [--model KEY]

The official SDK uploads real recordings to a server of its own. First eight are sent one after another,
then the same eight at once: the decoder's passes (`/metrics`) and the wall time are compared. Then all
recordings are sent one after another, and several times all at once. Memory is the proportional set size
of the server's process, and of it with its engine, after each of those rounds. The last line is one JSON
object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from shares import proportional_bytes
from speech_set import Clip, read_clips, speech_folder

from engine.config import data_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from tests.helpers.processes import descendants_of
from tests.helpers.served import Served

NUM_COMPARED = 8
NUM_UPLOADS = 32
NUM_ROUNDS = 4
LONGEST_S = 15.0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="eight uploads and two rounds")
    parser.add_argument("--model", default="whisper-base")
    asked = parser.parse_args()
    clips = choose_clips(NUM_COMPARED if asked.quick else NUM_UPLOADS)
    with tempfile.TemporaryDirectory() as folder:
        server = Served(
            Path(folder), data_folder() / "models" / asked.model, families=("engine.adapters.whisper",)
        )
        try:
            measured = measure(server, clips, 2 if asked.quick else NUM_ROUNDS)
        finally:
            exit_code = server.end()
    print(json.dumps({"bench": "server", "model": asked.model, "exit_code": exit_code, **measured}))


def choose_clips(number: int) -> list[Clip]:
    """Return English recordings that fit a window, the longest first; some twice where there are too few."""
    short = [
        clip for clip in read_clips(speech_folder()) if clip.folder == "en" and clip.seconds <= LONGEST_S
    ]
    short.sort(key=lambda clip: -clip.seconds)
    return [short[index % len(short)] for index in range(number)]


def measure(server: Served, clips: list[Clip], num_rounds: int) -> dict[str, Any]:
    upload(server, clips[0])  # loads the model
    few = clips[:NUM_COMPARED]
    alone = run(server, few, at_once=1)
    together = run(server, few, at_once=len(few))
    sequential = run(server, clips, at_once=1)
    rounds, memory = [], []
    for _ in range(num_rounds):
        rounds.append(run(server, clips, at_once=len(clips)))
        memory.append(memory_of(server))
        print(f"round {len(rounds)}: {rounds[-1]['wall_s']:.1f} s, {memory[-1]}", file=sys.stderr)
    return {
        "audio_s": round(sum(clip.seconds for clip in clips), 1),
        "eight_alone": alone,
        "eight_at_once": together,
        "forwards_ratio": round(together["forwards"] / alone["forwards"], 3),
        "wall_ratio": round(together["wall_s"] / alone["wall_s"], 3),
        "sequential": sequential,
        "at_once": rounds,
        "num_lost": sum(one["num_lost"] for one in (alone, together, sequential, *rounds)),
        "texts_agree": all(one["texts"] == sequential["texts"] for one in rounds)
        and alone["texts"] == together["texts"],
        "memory": memory,
    }


def run(server: Served, clips: list[Clip], *, at_once: int) -> dict[str, Any]:
    """Upload `clips`, so many at once, and return what became of them."""
    before = server.metrics()
    begun_s = time.monotonic()
    with ThreadPoolExecutor(at_once) as threads:
        answers = list(threads.map(lambda clip: upload(server, clip), clips))
    wall_s = time.monotonic() - begun_s
    waits = sorted(wait_s for wait_s, _ in answers)
    return {
        "num_uploads": len(clips),
        "num_lost": sum(not text for _, text in answers),
        "wall_s": round(wall_s, 2),
        "p50_s": round(statistics.median(waits), 2),
        "p95_s": round(waits[min(len(waits) - 1, round(0.95 * len(waits)))], 2),
        "forwards": forwards(settled(server)) - forwards(before),
        "texts": hash_of(text for _, text in answers),
    }


def upload(server: Served, clip: Clip) -> tuple[float, str]:
    """Return how long one caller waits, and what it is told."""
    begun_s = time.monotonic()
    answer = server.client(timeout=600.0).audio.transcriptions.create(file=clip.path, model="whisper-1")
    return time.monotonic() - begun_s, answer.text


def forwards(metrics: dict[str, float]) -> int:
    """Return how often the decoder has run."""
    names = ("jamak_decoder_steps_total", "jamak_decoder_prefills_total")
    return round(sum(value for name, value in metrics.items() if name.startswith(names)))


def settled(server: Served) -> dict[str, float]:
    """Return the counts once the model has told all of them: it says so when it has nothing more to do."""
    while True:
        now = server.metrics()
        busy = [
            name for name, value in now.items() if name.startswith(("jamak_running", "jamak_queue")) and value
        ]
        if not busy:
            return now
        time.sleep(0.05)


def memory_of(server: Served) -> dict[str, float]:
    """Return megabytes."""
    whole = [server.process.pid, *descendants_of(server.process.pid)]
    return {
        "server_mb": round(proportional_bytes(whole[:1]) / 1e6, 1),
        "with_engine_mb": round(proportional_bytes(whole) / 1e6, 1),
    }


def hash_of(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:12]


if __name__ == "__main__":
    main()
