"""The files of a recording as one stretch of time: ours begin a new file every hour. No Qt."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

import msgspec

from engine.recording import parts_of, rate_of


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """Files that follow one another; `starts` are the seconds at which each begins."""

    parts: tuple[Path, ...]
    starts: tuple[float, ...] = (0.0,)
    length_s: float | None = None
    """Of all files together; None where it is found out when the file is opened."""

    def at(self, seconds: float) -> int:
        """Return the index of the file that is heard at `seconds`."""
        return max(0, bisect_right(self.starts, seconds) - 1)


def timeline_of(path: Path) -> Timeline:
    """Return the timeline of the recording at `path`, which may be any media file, or not there."""
    try:
        parts, rate_hz = parts_of(path), rate_of(path)
    except OSError:
        return Timeline(parts=(path,))
    if len(parts) < 2 or not rate_hz:
        return Timeline(parts=(path,))
    ends = [0]
    for part in parts:
        ends.append(ends[-1] + part.num_samples)
    return Timeline(
        parts=tuple(part.path for part in parts),
        starts=tuple(end / rate_hz for end in ends[:-1]),
        length_s=ends[-1] / rate_hz,
    )
