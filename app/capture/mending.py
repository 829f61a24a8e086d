"""Makes recordings whole whose writer was killed; needs nothing but the file."""

from __future__ import annotations

from pathlib import Path

from engine.recording import HEADER_BYTES, SAMPLE_BYTES, header, parts_of, rate_of


def mend(path: Path) -> int:
    """Make the headers of a recording whose writer was killed say its whole length; return that in samples.

    Returns 0 for a file that is no recording of ours. Raises OSError.
    """
    rate_hz = rate_of(path)
    parts = parts_of(path)
    for part in parts:
        with part.path.open("r+b", buffering=0) as file:
            expected = header(rate_hz or 0, part.num_samples)
            if file.read(HEADER_BYTES) != expected:
                file.truncate(HEADER_BYTES + part.num_samples * SAMPLE_BYTES)
                file.seek(0)
                file.write(expected)
    return sum(part.num_samples for part in parts)
