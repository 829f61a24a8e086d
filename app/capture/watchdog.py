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
"""Of the samples that the clock says there should be; blocks come in lumps, a busy computer's late."""
LONG_WINDOW_S: Final = 120.0
MIN_LONG_SHARE: Final = 0.995
"""Over so long lumps weigh nothing, and real clocks are within 0.1 %."""
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
    num_since_long_check: int
    """Samples since `long_check_s`."""
    long_check_s: float
    """At or before `check_s`."""
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
    """Return how many samples were lost unsaid over a whole window; 0 if about all have come.

    Everything since the long check, whichever window shows that something is wrong: it is told only once.
    """
    if vitals.last_block_s is None:
        return 0
    expected = round((vitals.last_block_s - vitals.check_s) * vitals.rate_hz)
    missing = expected - vitals.num_since_check
    least = LEAST_LOSS_S * vitals.rate_hz if vitals.has_overflowed else (1 - MIN_SHARE) * expected
    has_lost = now_s - vitals.check_s >= LOSS_WINDOW_S and missing > least

    long_expected = round((vitals.last_block_s - vitals.long_check_s) * vitals.rate_hz)
    long_missing = long_expected - vitals.num_since_long_check
    long_least = (1 - MIN_LONG_SHARE) * long_expected
    has_lost_slowly = now_s - vitals.long_check_s >= LONG_WINDOW_S and long_missing > long_least
    return max(missing, long_missing) if has_lost or has_lost_slowly else 0
