"""Whether an open stream still does what it should; pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

FIRST_BLOCK_S: Final = 3.0
"""Sources that sleep need up to two seconds for the first block."""
STALL_S: Final = 1.0
LOSS_WINDOW_S: Final = 10.0
MIN_SHARE: Final = 0.98
"""Of the samples that the clock says there should be; real clocks are within 0.1 %."""
LEAST_LOSS_S: Final = 0.05
"""Where the system itself says that samples were lost, so few missing are believed."""


class Verdict(StrEnum):
    """What is the matter with a stream."""

    FINE = "fine"
    ENDED = "ended"
    """The system ended it: the device or the sound server is gone."""
    STALLED = "stalled"
    """It is open, and nothing comes."""
    LOSING = "losing"
    """Less comes than the clock says."""
    MOVED = "moved"
    """It captures from another device by now."""


class Vitals(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an open stream, in seconds of one clock and in samples."""

    opened_s: float
    first_block_s: float | None
    last_block_s: float | None
    num_since_check: int
    """Samples since `check_s`."""
    check_s: float
    rate_hz: int
    has_overflowed: bool = False
    """The system said so since `check_s`."""
    is_active: bool = True
    is_elsewhere: bool = False


def judge(vitals: Vitals, now_s: float) -> Verdict:
    """Say how the stream is at `now_s`."""
    if vitals.is_elsewhere:
        return Verdict.MOVED
    if not vitals.is_active:
        return Verdict.ENDED
    if vitals.last_block_s is None:
        return Verdict.STALLED if now_s - vitals.opened_s > FIRST_BLOCK_S else Verdict.FINE
    if now_s - vitals.last_block_s > STALL_S:
        return Verdict.STALLED
    return Verdict.LOSING if num_missing(vitals, now_s) else Verdict.FINE


def num_missing(vitals: Vitals, now_s: float) -> int:
    """Return how many samples were lost unsaid over a whole window; 0 if about all have come."""
    if vitals.last_block_s is None or now_s - vitals.check_s < LOSS_WINDOW_S:
        return 0
    expected = round((vitals.last_block_s - vitals.check_s) * vitals.rate_hz)
    missing = expected - vitals.num_since_check
    least = LEAST_LOSS_S * vitals.rate_hz if vitals.has_overflowed else (1 - MIN_SHARE) * expected
    return missing if missing > least else 0
