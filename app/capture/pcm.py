"""Samples as they are kept in files: 16 bit; pure."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.capture.level import FLOOR_DB, SILENT, Level
from app.capture.mixer import soft
from app.capture.ring import Samples

Pcm = NDArray[np.int16]

_FULL_SCALE: Final = 32_768.0


def to_pcm(samples: Samples) -> Pcm:
    """Return 16-bit samples: exactly those a 16-bit source had; what is too loud is bent, not cut off."""
    if len(samples) and float(np.max(np.abs(samples))) > 1.0:
        samples = soft(samples)
    pcm: Pcm = np.clip(np.rint(samples * _FULL_SCALE), -_FULL_SCALE, _FULL_SCALE - 1).astype(np.int16)
    return pcm


def from_pcm(pcm: Pcm) -> Samples:
    """Return the same as float32, full scale being 1."""
    samples: Samples = pcm.astype(np.float32) / np.float32(_FULL_SCALE)
    return samples


def level_of(pcm: Pcm) -> Level:
    """Measure `pcm`; nothing is silence."""
    if not len(pcm):
        return SILENT
    values = pcm.astype(np.float32)
    return Level(rms_db=_db(math.sqrt(float(np.mean(values**2)))), peak_db=_db(float(np.max(np.abs(values)))))


def _db(value: float) -> float:
    return max(FLOOR_DB, 20 * math.log10(value / _FULL_SCALE)) if value > 0 else FLOOR_DB
