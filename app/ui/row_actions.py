"""Decides what can be done with the selected rows, and where they go when moved; pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.desk import Row
from app.library import Recording, RowState

_OPEN = frozenset({RowState.QUEUED, RowState.RUNNING})
_BUSY = _OPEN | {RowState.RECORDING}


@dataclass(frozen=True)
class Possible:
    """Which actions make sense for the selected rows."""

    cancel: bool = False
    retry: bool = False
    remove: bool = False
    reveal: bool = False
    export: bool = False
    relocate: bool = False
    retry_with: bool = False
    """Be tried with another model, where no transcript need stay."""
    again: bool = False
    """Be transcribed once more, as another version."""
    move_up: bool = False
    move_down: bool = False


def possible(rows: Sequence[Row], order: Sequence[int]) -> Possible:
    """Decide which actions make sense for `rows`; `order` holds the ids of all rows."""
    if not rows:
        return Possible()
    states = {row.recording.state for row in rows}
    ids = [row.recording.id for row in rows]
    is_single = len(rows) == 1
    again = is_single and keeps_transcript(rows[0].recording)
    return Possible(
        cancel=bool(states & _OPEN),
        retry=bool(states - _BUSY),
        remove=RowState.RECORDING not in states,
        reveal=is_single,
        export=any(row.recording.stored_until > 0 for row in rows),
        relocate=is_single and not states & _BUSY,
        retry_with=bool(states - _BUSY) and not again,
        again=again,
        move_up=move_target(order, ids, up=True) is not None,
        move_down=move_target(order, ids, up=False) is not None,
    )


def keeps_transcript(recording: Recording) -> bool:
    """Say whether there is a transcript that stays when another is made: another model means another version.

    Where there is none, it means another try.
    """
    if recording.state in _BUSY:
        return False
    return recording.state is RowState.DONE or recording.stored_until > 0


def move_target(order: Sequence[int], ids: Collection[int], *, up: bool) -> int | None:
    """Return the index in `order` before which `ids` belong after one step; None at the edge."""
    places = [place for place, one in enumerate(order) if one in ids]
    if not places:
        return None
    if up:
        return places[0] - 1 if places[0] > 0 else None
    return places[-1] + 2 if places[-1] < len(order) - 1 else None
