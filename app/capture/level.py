"""How loud it is, for a meter."""

from __future__ import annotations

from typing import Final

import msgspec

FLOOR_DB: Final = -90.0
QUIET_DB: Final = -45.0
"""A peak below this is no voice: speech at arm's length peaks 20 dB higher, a quiet room is 10 dB lower."""


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """Of the last tenth of a second, in decibels below full scale."""

    rms_db: float = FLOOR_DB
    peak_db: float = FLOOR_DB


SILENT: Final = Level()
