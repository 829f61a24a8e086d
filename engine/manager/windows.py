"""Where a live window that has grown long may begin anew: at a boundary of its confirmed text; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.manager.confirm import Piece
from engine.manager.cuts import legal_cuts
from engine.messages import SAMPLE_RATE_HZ

LONG_SAMPLES: Final = 18 * SAMPLE_RATE_HZ
"""A window so long moves at the end of a sentence or segment …"""
VERY_LONG_SAMPLES: Final = 23 * SAMPLE_RATE_HZ
"""… and one so long between any two words."""
KEPT_SAMPLES: Final = 4 * SAMPLE_RATE_HZ
"""So much of the past stays: the model hears better with something to go on from."""
_SENTENCE_ENDS: Final = (".", "?", "!", "。", "？", "！", "…")


def moved_start(opened: Sequence[Piece], start: int, now: int) -> tuple[int, int] | None:
    """Return the new start and how many of the `opened` pieces stay; None where the window stays.

    `opened` are the confirmed pieces of the window `[start, now)`, in samples.
    """
    if now - start < LONG_SAMPLES:
        return None
    places = [index for index, piece in enumerate(opened) if not piece.is_special]
    spoken = [opened[index] for index in places]
    cuts = legal_cuts([piece.text for piece in spoken])
    choices = [
        (_kind(opened, places[index - 1], places[index]), spoken[index].start - spoken[index - 1].end, index)
        for index in range(1, len(spoken))
        if cuts[index] and _is_allowed(spoken[index - 1], spoken[index], start, now)
    ]
    if now - start < VERY_LONG_SAMPLES:
        choices = [choice for choice in choices if choice[0]]
    if not choices:
        return None
    # Among sentence ends the latest, else the widest gap.
    best = max(choices, key=lambda choice: (choice[0], choice[2] if choice[0] else choice[1]))
    before, after = spoken[best[2] - 1], spoken[best[2]]
    return (before.end + after.start) // 2, len(opened) - places[best[2]]


def _is_allowed(before: Piece, after: Piece, start: int, now: int) -> bool:
    return before.end <= after.start and before.end > start and after.start <= now - KEPT_SAMPLES


def _kind(opened: Sequence[Piece], before: int, after: int) -> bool:
    """Say whether a sentence or a segment of the model's ends between two pieces."""
    text = opened[before].text.decode(errors="replace").rstrip()
    return after - before > 1 or text.endswith(_SENTENCE_ENDS)
