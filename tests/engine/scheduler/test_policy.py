"""Who is admitted next: urgency, fairness between files, and what is kept for live work."""

from __future__ import annotations

from collections.abc import Sequence

from engine.adapters.base import Decode
from engine.messages import Chunk, ChunkKind, DecodingOptions, RequestKey
from engine.scheduler.policy import Limits, admit_next, superseded_by
from engine.scheduler.ticket import Ticket

FILE, INTERIM, CLOSING = ChunkKind.FILE, ChunkKind.INTERIM, ChunkKind.CLOSING


def _ticket(
    name: str, kind: ChunkKind = FILE, *, rows: int = 1, arrival: int = 0, is_suspect: bool = False
) -> Ticket:
    """Make a ticket from a name like `a3`: job a, chunk 3."""
    chunk = Chunk(
        key=RequestKey(name[0], int(name[1:])), kind=kind, start_sample=0, pcm=b"", options=DecodingOptions()
    )
    return Ticket(chunk=chunk, rows=rows, arrival=arrival, is_suspect=is_suspect)


def _names(tickets: Sequence[Ticket]) -> list[str]:
    return [f"{ticket.job}{ticket.chunk.key.chunk}" for ticket in tickets]


def _limits(
    *,
    slots: int = 8,
    max_newcomers: int = 8,
    is_live_open: bool = False,
    may_files_enter: bool = True,
    may_interims_enter: bool = True,
) -> Limits:
    return Limits(
        slots=slots,
        max_newcomers=max_newcomers,
        is_live_open=is_live_open,
        may_files_enter=may_files_enter,
        may_interims_enter=may_interims_enter,
    )


def _queue(job: str, num_chunks: int) -> list[Ticket]:
    return [_ticket(f"{job}{index}") for index in range(num_chunks)]


def test_closing_comes_before_interim_and_interim_before_files() -> None:
    queues = [
        [_ticket("a0")],
        [_ticket("l5", INTERIM, arrival=2)],
        [_ticket("m1", CLOSING, arrival=4), _ticket("m2", INTERIM, arrival=1)],
    ]
    assert _names(admit_next(queues, [], _limits())) == ["m1", "m2", "l5", "a0"]


def test_an_interim_waits_while_its_session_is_decoded_so_that_a_newer_may_replace_it() -> None:
    queues = [[_ticket("l5", INTERIM)], [_ticket("m1", INTERIM)]]
    assert _names(admit_next(queues, [_ticket("l4", INTERIM)], _limits())) == ["m1"]
    assert _names(admit_next([[_ticket("l6", CLOSING)]], [_ticket("l4", INTERIM)], _limits())) == ["l6"]


def test_in_the_files_turn_interims_wait_and_closing_decodes_do_not() -> None:
    queues = [[_ticket("l5", INTERIM)], [_ticket("m1", CLOSING)], [_ticket("a0")]]
    assert _names(admit_next(queues[:1] + queues[2:], [], _limits(may_interims_enter=False))) == ["a0"]
    assert "m1" in _names(admit_next(queues, [], _limits(may_interims_enter=False)))


def test_in_the_live_turn_no_file_enters() -> None:
    queues = [[_ticket("l5", INTERIM)], [_ticket("a0")]]
    assert _names(admit_next(queues, [], _limits(may_files_enter=False))) == ["l5"]


def test_files_take_turns() -> None:
    chosen = admit_next([_queue("a", 4), _queue("b", 2), _queue("c", 4)], [], _limits())
    assert _names(chosen) == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "c2"]


def test_a_file_that_comes_late_catches_up_with_the_one_that_holds_the_slots() -> None:
    running = [_ticket(f"a{index}") for index in range(4)]
    chosen = admit_next([_queue("a", 9)[4:], _queue("b", 9)], running, _limits(slots=7))
    assert _names(chosen) == ["b0", "b1", "b2"]


def test_a_turn_takes_no_more_newcomers_than_allowed() -> None:
    assert _names(admit_next([_queue("a", 9)], [], _limits(max_newcomers=3))) == ["a0", "a1", "a2"]


def test_nothing_is_taken_that_does_not_fit() -> None:
    assert admit_next([_queue("a", 2)], _queue("b", 3), _limits(slots=3)) == []


def test_a_large_decoding_is_not_overtaken_by_small_ones() -> None:
    queues = [[_ticket("a0", rows=5)], [_ticket("b0")]]
    assert admit_next(queues, _queue("c", 4), _limits()) == []


def test_a_live_decoding_that_does_not_fit_is_not_overtaken_by_a_file() -> None:
    queues = [[_ticket("l0", CLOSING, rows=5)], [_ticket("b0")]]
    assert admit_next(queues, _queue("c", 4), _limits()) == []


def test_files_leave_a_slot_free_while_a_live_session_is_open() -> None:
    live = _limits(slots=3, is_live_open=True)
    assert _names(admit_next([_queue("a", 5)], _queue("b", 1), live)) == ["a0"]
    assert admit_next([_queue("a", 5)], _queue("b", 2), live) == []
    assert _names(admit_next([[_ticket("l0", INTERIM)]], _queue("b", 2), live)) == ["l0"]


def test_one_window_a_turn_is_encoded_for_files_while_a_live_session_is_open() -> None:
    queues = [_queue("a", 5), [_ticket("l0", INTERIM)], _queue("b", 5)]
    assert _names(admit_next(queues, [], _limits(is_live_open=True))) == ["l0", "a0"]


def test_a_single_slot_is_not_kept_from_files_for_ever() -> None:
    assert _names(admit_next([_queue("a", 2)], [], _limits(slots=1, is_live_open=True))) == ["a0"]
    whole = [_ticket("a0", rows=5)]
    assert _names(admit_next([whole], [], _limits(slots=5, is_live_open=True))) == ["a0"]


def test_a_suspect_runs_alone() -> None:
    suspect = _ticket("a0", is_suspect=True)
    assert _names(admit_next([[suspect, _ticket("a1")]], [], _limits())) == ["a0"]
    assert admit_next([[_ticket("a1")]], [suspect], _limits()) == []
    assert admit_next([[suspect]], [_ticket("b0")], _limits()) == []


def test_a_newer_live_decoding_makes_the_interims_before_it_pointless() -> None:
    waiting = [_ticket("l1", CLOSING), _ticket("l2", INTERIM), _ticket("m2", INTERIM), _ticket("l9", INTERIM)]
    assert _names(superseded_by(_ticket("l3", INTERIM), waiting)) == ["l2"]
    assert _names(superseded_by(_ticket("l3", CLOSING), waiting)) == ["l2"]
    assert superseded_by(_ticket("l3", FILE), waiting) == []


def test_an_interim_that_runs_may_end_unless_a_closing_decoding_comes() -> None:
    running = _ticket("l2", INTERIM)
    running.decode = Decode(chunk=running.chunk, key=running.key)
    assert superseded_by(_ticket("l3", INTERIM), [running]) == []
    assert _names(superseded_by(_ticket("l3", CLOSING), [running])) == ["l2"]
    assert superseded_by(_ticket("m3", CLOSING), [running]) == []
