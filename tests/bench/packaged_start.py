"""How long the built program takes from the double click to its window, and to the first words of a file.

    .venv/bin/python tests/bench/packaged_start.py PROGRAM [--quick]

PROGRAM is `build/dist/jamak/jamak` or an installed one. Needs a display (Xvfb will do) and xdotool; as root
the first start is from a cold disk. The last line is one JSON object.
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

SAMPLE = Path(__file__).resolve().parent.parent.parent / "resources" / "sample.flac"
WORDS = b"the words appear on the page"
PATIENCE_S = 120.0


def main() -> None:
    parser = argparse.ArgumentParser(description="Time from start to window and to the first transcript.")
    parser.add_argument("program", type=Path)
    parser.add_argument("--quick", action="store_true", help="two warm starts instead of five")
    arguments = parser.parse_args()
    if not shutil.which("xdotool") or not os.environ.get("DISPLAY"):
        sys.exit("This needs a display and xdotool.")
    report: dict[str, float] = {}
    if os.geteuid() == 0:
        forget_files()
        report["window_cold_s"], report["words_cold_s"] = measure(arguments.program)
    else:
        measure(arguments.program)
    warm = [measure(arguments.program) for _ in range(2 if arguments.quick else 5)]
    report["window_warm_s"] = statistics.median(window_s for window_s, _ in warm)
    report["words_warm_s"] = statistics.median(words_s for _, words_s in warm)
    print(json.dumps({key: round(value, 2) for key, value in report.items()}))


def forget_files() -> None:
    """Have the system read every file from the disk again."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")


def measure(program: Path) -> tuple[float, float]:
    """Start it once with the sample in an empty home: seconds to a visible window, and to stored words."""
    with tempfile.TemporaryDirectory(prefix="jamak-start-") as folder:
        own = {f"JAMAK_{name}_DIR": str(Path(folder) / name) for name in ("DATA", "CACHE", "LOG", "RUNTIME")}
        data = Path(own["JAMAK_DATA_DIR"])
        data.mkdir()
        if not (program.resolve().parent / "_internal" / "models").is_dir():
            (data / "models").symlink_to(data_folder() / "models")
        began_s = time.monotonic()
        process = subprocess.Popen(
            [program, SAMPLE],
            env={**os.environ, **own},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            search = ["xdotool", "search", "--sync", "--onlyvisible", "--pid", str(process.pid)]
            subprocess.run([*search, "--name", "Jamak"], check=True, timeout=30, stdout=subprocess.DEVNULL)
            window_s = time.monotonic() - began_s
            wait_for_words(data, began_s + PATIENCE_S)
            words_s = time.monotonic() - began_s
        finally:
            process.terminate()
            process.wait()
        return window_s, words_s


def wait_for_words(data: Path, until_s: float) -> None:
    """Wait until the library's files hold the sample's words."""
    while not any(WORDS in path.read_bytes() for path in data.glob("library.db*")):
        if time.monotonic() > until_s:
            sys.exit("The program wrote nothing down.")
        time.sleep(0.02)


if __name__ == "__main__":
    main()
