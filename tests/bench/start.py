"""How long the window takes to appear, and what its process holds.

    .venv/bin/python tests/bench/start.py [--quick]

Needs a display (Xvfb will do) and xdotool. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.config import data_folder

TITLE = "Jamak"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time from start to window, and the window's memory.")
    parser.add_argument("--quick", action="store_true", help="three starts instead of nine")
    arguments = parser.parse_args()
    if not shutil.which("xdotool") or not os.environ.get("DISPLAY"):
        sys.exit("This needs a display and xdotool.")
    starts = [measure_start() for _ in range(3 if arguments.quick else 9)]
    times_s = [seconds for seconds, _, _ in starts]
    report = {
        "window_s": statistics.median(times_s),
        "window_s_first": times_s[0],
        "window_s_max": max(times_s),
        "gui_rss_mb": statistics.median(rss for _, rss, _ in starts),
        "gui_has_torch": any(has_torch for _, _, has_torch in starts),
    }
    print(json.dumps({key: round(value, 3) for key, value in report.items()}))


def measure_start() -> tuple[float, float, bool]:
    """Start the program once: seconds to a visible window, resident MB, and whether torch is mapped."""
    with tempfile.TemporaryDirectory(prefix="jamak-start-") as folder:
        names = ("DATA", "CACHE", "LOG", "RUNTIME")
        own = {f"JAMAK_{name}_DIR": str(Path(folder) / name.lower()) for name in names}
        models = Path(own["JAMAK_DATA_DIR"]) / "models"
        models.parent.mkdir(parents=True)
        models.symlink_to(data_folder() / "models")
        started_s = time.monotonic()
        command = [str(Path(sys.executable).with_name("jamak"))]
        process = subprocess.Popen(
            command, env={**os.environ, **own}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            search = [
                "xdotool",
                "search",
                "--sync",
                "--onlyvisible",
                "--pid",
                str(process.pid),
                "--name",
                TITLE,
            ]
            subprocess.run(search, check=True, timeout=30, stdout=subprocess.DEVNULL)
            elapsed_s = time.monotonic() - started_s
            wait_for_engine(process.pid)
            status = Path(f"/proc/{process.pid}/status").read_text()
            rss_kb = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            has_torch = "libtorch" in Path(f"/proc/{process.pid}/maps").read_text()
        finally:
            process.terminate()
            process.wait()
        return elapsed_s, rss_kb / 1024, has_torch


def wait_for_engine(pid: int) -> None:
    """Wait until the engine's front runs, so that the whole start is over."""
    end_s = time.monotonic() + 20
    while time.monotonic() < end_s:
        # A child is its thread's, and the engine is started by another thread than the window's.
        if any(children.read_text().strip() for children in Path(f"/proc/{pid}/task").glob("*/children")):
            break
        time.sleep(0.05)
    time.sleep(1.0)


if __name__ == "__main__":
    main()
