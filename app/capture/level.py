"""How loud it is, for a meter; pure."""

from __future__ import annotations

import math
from typing import Final

import msgspec
import numpy as np

from app.capture.recording_file import Pcm

FLOOR_DB: Final = -90.0
_FULL_SCALE: Final = 32_768.0


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """Of the last tenth of a second, in decibels below full scale."""

    rms_db: float = FLOOR_DB
    peak_db: float = FLOOR_DB


SILENT: Final = Level()


def level_of(pcm: Pcm) -> Level:
    """Measure `pcm`; nothing is silence."""
    if not len(pcm):
        return SILENT
    values = pcm.astype(np.float32)
    return Level(rms_db=_db(math.sqrt(float(np.mean(values**2)))), peak_db=_db(float(np.max(np.abs(values)))))


def _db(value: float) -> float:
    return max(FLOOR_DB, 20 * math.log10(value / _FULL_SCALE)) if value > 0 else FLOOR_DB
