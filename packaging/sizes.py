"""Says how large a built program is, by part.

python packaging/sizes.py PROGRAM
"""

from __future__ import annotations

import sys
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

# The first pattern that fits a file's place in the program names its part.
PARTS: Final = (
    ("torch", "_internal/torch*"),
    ("Qt: window, player", "_internal/PySide6/*"),
    ("Qt: window, player", "_internal/shiboken6/*"),
    ("numpy", "_internal/numpy*"),
    ("onnxruntime", "_internal/onnxruntime/*"),
    ("FFmpeg, PyAV", "_internal/av/*"),
    ("FFmpeg, PyAV", "_internal/av.libs/*"),
    ("FFmpeg, PyAV", "_internal/libav*"),
    ("FFmpeg, PyAV", "_internal/libsw*"),
    ("tokenizers", "_internal/tokenizers/*"),
    ("model", "_internal/models/*"),
    ("licences", "licences/*"),
    ("licences", "_internal/*.dist-info/*"),
    ("Jamak's files", "_internal/resources/*"),
    ("Python: library and modules", "jamak"),
    ("Python: library and modules", "_internal/libpython*"),
    ("Python: library and modules", "_internal/*python3*"),
    ("Python: library and modules", "_internal/base_library.zip"),
    ("other libraries", "*"),
)


def main(arguments: list[str]) -> None:
    """Print a line for each part, the largest first."""
    sizes = part_sizes(Path(arguments[0]))
    for name, size_bytes in sizes.most_common():
        print(f"{size_bytes / 1e6:8.1f} MB  {name}")
    print(f"{sizes.total() / 1e6:8.1f} MB  in all")


def part_sizes(program: Path) -> Counter[str]:
    """Return the bytes of each part."""
    sizes: Counter[str] = Counter()
    for path in program.rglob("*"):
        if path.is_file() and not path.is_symlink():
            place = path.relative_to(program).as_posix()
            sizes[next(name for name, pattern in PARTS if fnmatch(place, pattern))] += path.stat().st_size
    return sizes


if __name__ == "__main__":
    main(sys.argv[1:])
