"""Where a live window that has grown long may begin anew: at a boundary of its confirmed text; pure.

A model that knows when it said what is cut between two of its words. One that does not is cut at a short
silence of the past, of which it is known what had been said until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
MAX_DIPS: Final = 64
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


@dataclass(frozen=True, slots=True)
class _Dip:
    """A short silence, and the ids that had been said when it was heard."""

    sample: int
    said: tuple[int, ...]


class Dips:
    """The short silences of a window. Positions are samples of the recording."""

    def __init__(self) -> None:
        self._dips: list[_Dip] = []

    def note(self, sample: int, pieces: Sequence[Piece]) -> None:
        """Know that nobody spoke at `sample`, and that all that was said before it is `pieces`."""
        said = tuple(piece.id for piece in pieces if not piece.is_special)
        self._dips = [dip for dip in self._dips if dip.sample < sample][1 - MAX_DIPS :]
        self._dips.append(_Dip(sample, said))

    def moved_start(self, opened: Sequence[Piece], start: int, now: int) -> tuple[int, int] | None:
        """Return a new start for `[start, now)` and how many of the confirmed `opened` pieces stay.

        It is the latest dip that leaves some audio to go on from, if the words that were heard before it
        are the very ones that were confirmed later; None where there is no such dip.
        """
        places = [index for index, piece in enumerate(opened) if not piece.is_special]
        confirmed = tuple(opened[index].id for index in places)
        for dip in reversed(self._dips):
            is_behind = start < dip.sample <= now - KEPT_SAMPLES
            if is_behind and dip.said and confirmed[: len(dip.said)] == dip.said:
                return dip.sample, len(opened) - 1 - places[len(dip.said) - 1]
        return None

    def move(self, start: int) -> None:
        """Forget what lies before the window's new start; what was said since is all that is left."""
        gone = next((len(dip.said) for dip in self._dips if dip.sample == start), None)
        later = [dip for dip in self._dips if dip.sample > start]
        self._dips = [] if gone is None else [_Dip(dip.sample, dip.said[gone:]) for dip in later]
