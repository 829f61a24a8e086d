"""What listening costs while nobody speaks: processor time of all our processes with the microphone open.

    .venv/bin/python tests/bench/idle.py [--seconds 30] [--from both|microphone|computer] [--quick]

The whole program records a virtual, silent microphone and what the computer plays (needs PulseAudio);
its window is on the display, or nowhere. The last line is one JSON object, in percent of one core.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from engine.config import data_folder
from tests.helpers.processes import descendants_of, role_of
from tests.helpers.virtual_sound import VirtualSound

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
ROOM_LEVEL = 10 ** (-65 / 20)
"""Of full scale: a quiet room through a usual microphone."""
SETTLE_S = 8.0
"""At least, until the first silence is heard."""
SETTLED_SHARE = 0.15
"""Of a core, over two seconds: the model is loaded, and nothing but listening goes on."""
MOST_SETTLE_S = 90.0


def main() -> None:
    parser = argparse.ArgumentParser(description="Processor time of a recording in which nobody speaks.")
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--from", dest="source", default="both", choices=("both", "microphone", "computer"))
    parser.add_argument("--quick", action="store_true", help="ten seconds")
    parser.add_argument("--threads", action="store_true", help="of the window's process, each thread too")
    parser.add_argument("--window", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.window:
        record_in_a_window()
        return
    seconds = 10.0 if arguments.quick else arguments.seconds
    print(json.dumps(measure(arguments.source, seconds, with_threads=arguments.threads)))


def record_in_a_window() -> None:
    """Be the program, and press Record as soon as its window is there."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.ui.main_window import MainWindow
    from app.wiring import run_window

    app = QApplication(sys.argv[:1])

    def press() -> None:
        windows = [window for window in app.topLevelWidgets() if isinstance(window, MainWindow)]
        if windows and windows[0].isVisible():
            timer.stop()
            windows[0].actions_.record.trigger()
            QTimer.singleShot(round(SETTLE_S * 500), name_threads)

    timer = QTimer()
    timer.timeout.connect(press)
    timer.start(200)
    sys.exit(run_window([]))


def name_threads() -> None:
    """Tell the system how our threads are called; it keeps 15 characters."""
    for thread in threading.enumerate():
        Path(f"/proc/self/task/{thread.native_id}/comm").write_text(thread.name[-15:])


def measure(source: str, seconds: float, *, with_threads: bool) -> dict[str, object]:
    """Record silence, and return what each process took, in percent of one core."""
    sound = VirtualSound()
    process: subprocess.Popen[bytes] | None = None
    try:
        with tempfile.TemporaryDirectory(prefix="jamak-idle-") as folder:
            process = start(Path(folder), source)
            room = play_room_noise(Path(folder), MOST_SETTLE_S + seconds + 10)
            wait_until_settled(process.pid)
            before, begin_s = cpu_seconds(process.pid), time.monotonic()
            time.sleep(seconds)
            after, elapsed_s = cpu_seconds(process.pid), time.monotonic() - begin_s
            num_recorded = sum(path.stat().st_size for path in (Path(folder) / "recordings").glob("*.wav"))
            room.kill()
            room.wait()
            process.terminate()
            process.wait(20)
    finally:
        if process is not None and process.poll() is None:
            process.kill()
        sound.close()
    if not num_recorded:
        sys.exit("Nothing was recorded.")
    spent = {name: 100 * (after[name] - before.get(name, 0.0)) / elapsed_s for name in after}
    processes = {name: round(share, 2) for name, share in spent.items() if "/" not in name}
    report: dict[str, object] = {
        "idle_percent": round(sum(processes.values()), 2),
        "processes": processes,
        "seconds": round(elapsed_s, 1),
    }
    if with_threads:
        threads = {name: round(share, 2) for name, share in spent.items() if "/" in name and share > 0.02}
        report["threads"] = dict(sorted(threads.items(), key=lambda item: -item[1]))
    return report


def wait_until_settled(pid: int) -> None:
    """Wait until the program does nothing but listen."""
    time.sleep(SETTLE_S)
    end_s = time.monotonic() + MOST_SETTLE_S
    while time.monotonic() < end_s:
        before = sum(seconds for name, seconds in cpu_seconds(pid).items() if "/" not in name)
        time.sleep(2.0)
        after = sum(seconds for name, seconds in cpu_seconds(pid).items() if "/" not in name)
        if after - before < 2.0 * SETTLED_SHARE:
            return
    sys.exit("The program did not come to rest.")


def start(folder: Path, source: str) -> subprocess.Popen[bytes]:
    """Start the program in folders of its own."""
    names = ("DATA", "CACHE", "LOG", "RUNTIME", "RECORDINGS")
    own = {f"JAMAK_{name}_DIR": str(folder / name.lower()) for name in names}
    for path in own.values():
        Path(path).mkdir(mode=0o700)
    (folder / "data" / "models").symlink_to(data_folder() / "models")
    settings = {"record_from": source, "keep_awake": False}
    (folder / "data" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    environment = {**os.environ, **own}
    if not os.environ.get("DISPLAY"):
        environment["QT_QPA_PLATFORM"] = "offscreen"
    return subprocess.Popen([sys.executable, __file__, "--window"], env=environment)


def play_room_noise(folder: Path, seconds: float) -> subprocess.Popen[bytes]:
    """Have the microphone hear a quiet room: one without any noise costs less than any there is."""
    noise = np.random.default_rng(1).standard_normal(round(seconds * 16_000)) * ROOM_LEVEL * 32_768
    path = folder / "room.raw"
    path.write_bytes(noise.astype("<i2").tobytes())
    options = ["--raw", "--format=s16le", "--rate=16000", "--channels=1"]
    return subprocess.Popen(["pacat", "-d", "micpipe", *options, str(path)])


def cpu_seconds(pid: int) -> dict[str, float]:
    """Return processor time by process, and by thread of the first one as "window/NAME"."""
    spent = {"window": _seconds(Path(f"/proc/{pid}/stat"))}
    for child in descendants_of(pid):
        spent[role_of(child) or str(child)] = _seconds(Path(f"/proc/{child}/stat"))
    for task in Path(f"/proc/{pid}/task").iterdir():
        # Ticks are a hundredth of a second; the scheduler counts in nanoseconds.
        name = (task / "comm").read_text().strip()
        spent[f"window/{name}-{task.name}"] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return spent


def _seconds(stat: Path) -> float:
    try:
        runs = [int((task / "schedstat").read_text().split()[0]) for task in (stat.parent / "task").iterdir()]
    except OSError:
        return 0.0
    return sum(runs) / 1e9


if __name__ == "__main__":
    main()
