"""What can be done with the selected rows, and where they go."""

from __future__ import annotations

import pytest

from app.desk import Row
from app.library import Recording, RowState
from app.ui.row_actions import Possible, move_target, possible
from engine.protocol.transcript import Options


def row(recording_id: int, state: RowState, stored_until: float = 0.0) -> Row:
    return Row(
        recording=Recording(
            id=recording_id,
            path=f"/a/{recording_id}.wav",
            name=f"{recording_id}.wav",
            state=state,
            position=recording_id,
            options=Options(),
            stored_until=stored_until,
            added_at=0.0,
        )
    )


def test_nothing_can_be_done_with_no_row() -> None:
    assert possible([], [1, 2]) == Possible()


@pytest.mark.parametrize("state", [RowState.QUEUED, RowState.RUNNING])
def test_work_that_is_open_can_be_cancelled_but_not_retried(state: RowState) -> None:
    can = possible([row(1, state)], [1, 2])
    assert can.cancel
    assert not can.retry
    assert not can.relocate


@pytest.mark.parametrize("state", [RowState.DONE, RowState.FAILED, RowState.CANCELLED])
def test_work_that_has_ended_can_be_retried_but_not_cancelled(state: RowState) -> None:
    can = possible([row(1, state)], [1, 2])
    assert can.retry
    assert not can.cancel


@pytest.mark.parametrize("state", RowState)
@pytest.mark.parametrize("stored_until", [0.0, 3.0])
def test_another_model_is_offered_by_one_command(state: RowState, stored_until: float) -> None:
    """A failed row offered two: to retry with another model, and to transcribe again."""
    can = possible([row(1, state, stored_until)], [1, 2])
    has_ended = state in (RowState.DONE, RowState.FAILED, RowState.CANCELLED)
    assert can.retry_with + can.again == has_ended
    assert can.again == (has_ended and (state is RowState.DONE or stored_until > 0)), "text is never replaced"


def test_many_rows_are_tried_with_another_model_together() -> None:
    can = possible([row(1, RowState.DONE), row(2, RowState.FAILED)], [1, 2])
    assert can.retry_with
    assert not can.again


def test_only_rows_with_text_can_be_exported() -> None:
    assert not possible([row(1, RowState.FAILED)], [1]).export
    assert possible([row(1, RowState.FAILED, stored_until=3.0)], [1]).export


def test_many_rows_are_not_shown_in_a_folder_at_once() -> None:
    assert not possible([row(1, RowState.DONE), row(2, RowState.DONE)], [1, 2]).reveal


@pytest.mark.parametrize(
    ("ids", "up", "target"),
    [
        ([2], True, 0),
        ([2], False, 3),
        ([1], True, None),
        ([4], False, None),
        ([2, 3], True, 0),
        ([2, 3], False, 4),
        ([], True, None),
    ],
)
def test_a_step_stops_at_the_edge(ids: list[int], up: bool, target: int | None) -> None:
    assert move_target([1, 2, 3, 4], ids, up=up) == target
