"""Recordings of any length, made by saying a shorter one again and again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from ours import Engine, descendants
from shares import PeakMemory, proportional_bytes

from engine.protocol.transcript import Options

LENGTHS_S = (600.0, 3600.0, 3 * 3600.0)
PAUSE_S = 1.0


def repeat(source: Path, target: Path, seconds: float) -> None:
    """Write `source` to `target`, a WAV file, again and again, until it is `seconds` long; mono."""
    samples, rate_hz = soundfile.read(source, dtype="int16", always_2d=True)
    once = np.concatenate([samples[:, 0], np.zeros(int(PAUSE_S * rate_hz), np.int16)])
    missing = int(seconds * rate_hz)
    with soundfile.SoundFile(target, "w", rate_hz, 1, "PCM_16") as file:
        while missing > 0:
            file.write(once[:missing])
            missing -= min(missing, len(once))


def measure_linearity(engine: Engine, options: Options, source: Path, folder: Path) -> list[dict[str, float]]:
    """Transcribe `source` repeated to each of the lengths: time and memory by length, an entry each."""
    found: list[dict[str, float]] = []
    for seconds in LENGTHS_S:
        path = folder / f"{seconds:.0f}s.wav"
        repeat(source, path, seconds)
        with PeakMemory(descendants) as peak:
            [result] = engine.transcribe([path], options)
        path.unlink()
        if result.failure:
            raise RuntimeError(result.failure)
        found.append(
            {
                "seconds": seconds,
                "rtf": result.elapsed_s / seconds,
                "first_segment_s": result.first_segment_s,
                "peak_mb": peak.bytes / 2**20,
                "after_mb": proportional_bytes(descendants()) / 2**20,
                "characters_per_s": len(result.text) / seconds,
            }
        )
        print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    return found


def linearity(found: list[dict[str, float]]) -> dict[str, Any]:
    """Return the entries, and how the longest compares with the shortest: 1.0 is linear and flat."""
    first, last = found[0], found[-1]
    return {
        "linearity": found,
        "rtf_growth": last["rtf"] / first["rtf"],
        "peak_growth": last["peak_mb"] / first["peak_mb"],
    }
