"""Whether the window stays smooth while files are transcribed: how regular a 100 Hz timer of its thread is.

    JAMAK_SPEECH_DIR=… .venv/bin/python tests/bench/smooth.py [--seconds 12] [--quick]

The whole program transcribes the long files of the speech set, with its window on the display or nowhere.
The last line is one JSON object: milliseconds between two calls of a timer of 10, and how many cores the
engine kept busy meanwhile.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from latency import percentile
from speech_set import read_clips, speech_folder

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.config import data_folder
from tests.helpers.processes import descendants_of, role_of

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PERIOD_MS = 10
LOOK_EVERY_MS = 200
LOADED_AFTER_S = 5.0
"""Of processor time: by then a scheduler has imported, loaded, and is at work."""
END_S = 20.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--quick", action="store_true", help="five seconds")
    parser.add_argument("--window", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    seconds = 5.0 if arguments.quick else arguments.seconds
    if arguments.window:
        transcribe_in_a_window(arguments.window, seconds)
        return
    folder = speech_folder()
    files = [str(clip.path) for clip in read_clips(folder) if clip.folder == "longform"]
    print(json.dumps(measure(files, seconds)))


def measure(files: Sequence[str], seconds: float) -> dict[str, Any]:
    """Run the program in folders of its own, and return what its timer found."""
    with tempfile.TemporaryDirectory(prefix="jamak-smooth-") as folder:
        own = {
            f"JAMAK_{name}_DIR": f"{folder}/{name.lower()}" for name in ("DATA", "CACHE", "LOG", "RUNTIME")
        }
        for path in own.values():
            Path(path).mkdir(mode=0o700)
        (Path(folder) / "data" / "models").symlink_to(data_folder() / "models")
        environment = {**os.environ, **own}
        if not os.environ.get("DISPLAY"):
            environment["QT_QPA_PLATFORM"] = "offscreen"
        command = [sys.executable, __file__, "--seconds", str(seconds), "--window", *files]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout
            found = next((line for line in process.stdout if line.startswith("{")), None)
        finally:
            process.terminate()
            process.wait(END_S)
        if found is None:
            sys.exit("The window ended before it had measured.")
        report: dict[str, Any] = json.loads(found)
        return report


def transcribe_in_a_window(files: Sequence[str], seconds: float) -> None:
    """Be the program with `files` in its queue, and tell what the timer found beside them; never returns."""
    from PySide6.QtCore import Qt, QTimer
    from PySide6.QtWidgets import QApplication

    from app.wiring import run_window

    app = QApplication(sys.argv[:1])  # noqa: F841 - the timers need it before the window is made
    begun: list[tuple[float, float]] = []
    calls_s: list[float] = []
    timer, look = QTimer(), QTimer()

    def note() -> None:
        calls_s.append(time.perf_counter())
        if calls_s[-1] - begun[0][0] >= seconds:
            timer.stop()
            print(json.dumps(summarise(calls_s, engine_cpu_s() - begun[0][1])), flush=True)

    def begin_when_loaded() -> None:
        if scheduler_cpu_s() >= LOADED_AFTER_S:
            look.stop()
            begun.append((time.perf_counter(), engine_cpu_s()))
            timer.start(PERIOD_MS)

    timer.setTimerType(Qt.TimerType.PreciseTimer)
    timer.timeout.connect(note)
    look.timeout.connect(begin_when_loaded)
    look.start(LOOK_EVERY_MS)
    sys.exit(run_window(files))


def summarise(calls_s: Sequence[float], cpu_s: float) -> dict[str, float]:
    """Return the gaps between calls, and the cores that `cpu_s` are over their time."""
    gaps_ms = [1000 * (after - before) for before, after in pairwise(calls_s)]
    elapsed_s = calls_s[-1] - calls_s[0]
    return {
        "timer_p50_ms": round(percentile(gaps_ms, 0.5), 2),
        "timer_p99_ms": round(percentile(gaps_ms, 0.99), 2),
        "timer_max_ms": round(max(gaps_ms), 2),
        "engine_cores": round(cpu_s / elapsed_s, 2),
        "seconds": round(elapsed_s, 1),
    }


def engine_cpu_s() -> float:
    return sum(map(_cpu_s, descendants_of(os.getpid())))


def scheduler_cpu_s() -> float:
    return sum(_cpu_s(pid) for pid in descendants_of(os.getpid()) if role_of(pid) == "scheduler")


def _cpu_s(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


if __name__ == "__main__":
    main()
