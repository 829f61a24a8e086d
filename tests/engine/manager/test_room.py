"""Which models are loaded, which make way, and how many chunks each is given: decided without a process."""

from __future__ import annotations

import pytest

from engine.manager.room import SPARE_CHUNKS, Room, has_had_its_time, num_sendable, room_for
from engine.manager.served_model import ModelSource, ServedModel
from engine.workers import Worker


def model(
    name: str, *jobs: str, live: str = "", is_loaded: bool = True, idle_since_s: float = 0.0
) -> ServedModel:
    made = ServedModel(ModelSource(name=name, family="Toy", folder=name))
    made.jobs = {*jobs, *([live] if live else [])}
    made.live_jobs = {live} if live else set()
    made.num_slots = 8
    made.idle_since_s = idle_since_s
    if is_loaded:
        # Nobody asks a process anything here.
        made.worker = Worker(name=name, role="scheduler", generation=1, address="", child=None)  # type: ignore[arg-type]
    return made


def wanted(name: str = "/wanted", live: str = "") -> ServedModel:
    return model(name, "job", live=live, is_loaded=False)


def test_a_model_is_loaded_beside_others_up_to_the_limit() -> None:
    asked, other = wanted(), model("/other", "busy")
    assert room_for(asked, [asked, other], 2) == Room(True)
    assert room_for(asked, [asked, other], 1) == Room(False)


def test_the_one_that_was_idle_longest_makes_way() -> None:
    asked, busy = wanted(), model("/busy", "busy")
    early, late = model("/early", idle_since_s=10.0), model("/late", idle_since_s=20.0)
    assert room_for(asked, [late, early, busy, asked], 3).leaving is early


def test_who_is_listened_to_does_not_wait_for_room() -> None:
    asked, busy = wanted(live="live"), model("/busy", "busy")
    assert room_for(asked, [busy, asked], 1) == Room(True)


def test_a_model_elsewhere_needs_no_room_and_takes_none() -> None:
    elsewhere = model("http://gpu.lan/v1", "far")
    asked = wanted()
    assert room_for(asked, [elsewhere, asked], 1) == Room(True)
    assert room_for(wanted("http://other.lan/v1"), [model("/busy", "busy")], 1) == Room(True)


def test_beside_a_live_session_other_models_get_one_chunk_at_a_time() -> None:
    live, other = model("/live", live="live"), model("/other", "busy")
    far = model("http://gpu.lan/v1", "far")
    models = [live, other, far]
    assert [num_sendable(one, models) for one in models] == [8 + SPARE_CHUNKS, 1, 8 + SPARE_CHUNKS]
    assert num_sendable(other, [other, far]) == 8 + SPARE_CHUNKS


def test_a_live_session_elsewhere_hinders_nobody() -> None:
    far, other = model("http://gpu.lan/v1", live="live"), model("/other", "busy")
    assert num_sendable(other, [far, other]) == 8 + SPARE_CHUNKS


@pytest.mark.parametrize(
    ("one", "goes"),
    [
        (model("/idle"), True),
        (model("/young", idle_since_s=50.0), False),
        (model("/busy", "busy"), False),
        (model("/gone", is_loaded=False), False),
    ],
)
def test_an_idle_model_goes_after_a_while(one: ServedModel, goes: bool) -> None:
    assert has_had_its_time(one, 100.0, 60.0) is goes
