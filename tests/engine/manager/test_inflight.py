"""What is sent, sent again, and who is blamed when a process dies."""

from __future__ import annotations

from engine.manager.inflight import InFlight
from engine.messages import Chunk, ChunkKind, DecodingOptions, RequestKey


def chunk(job: str, index: int, num_samples: int = 4, kind: ChunkKind = ChunkKind.FILE) -> Chunk:
    return Chunk(
        key=RequestKey(job, index),
        kind=kind,
        start_sample=0,
        pcm=bytes(4 * num_samples),
        options=DecodingOptions(),
    )


def names(chunks: list[Chunk]) -> list[tuple[str, int]]:
    return [(item.key.job, item.key.chunk) for item in chunks]


def filled(*indices: int) -> InFlight:
    flight = InFlight()
    for index in indices:
        flight.add(chunk("a", index))
    return flight


def test_each_chunk_is_sent_once_and_in_order() -> None:
    flight = filled(0, 1)
    assert names(flight.take_sendable(8)) == [("a", 0), ("a", 1)]
    assert flight.take_sendable(8) == []
    flight.add(chunk("b", 0))
    assert names(flight.take_sendable(8)) == [("b", 0)]


def test_live_chunks_go_at_once_and_ahead_of_files() -> None:
    flight = filled(0, 1, 2)
    assert names(flight.take_sendable(2)) == [("a", 0), ("a", 1)]
    flight.add(chunk("l", 0, kind=ChunkKind.INTERIM))
    flight.add(chunk("l", 1, kind=ChunkKind.CLOSING))
    assert names(flight.take_sendable(2)) == [("l", 0), ("l", 1)]
    assert flight.take_sendable(2) == []
    assert names(flight.take_sendable(5)) == [("a", 2)]


def test_an_answer_counts_once() -> None:
    flight = filled(0)
    assert flight.answered("a", 0)
    assert not flight.answered("a", 0)
    assert len(flight) == 0


def test_bytes_are_counted_by_job() -> None:
    flight = filled(0, 1)
    flight.add(chunk("b", 0, num_samples=100))
    assert flight.num_bytes("a") == 32
    assert flight.num_bytes("b") == 400


def test_a_dropped_job_is_neither_sent_nor_awaited() -> None:
    flight = filled(0)
    flight.add(chunk("b", 0))
    flight.drop("a")
    assert ("a", 0) not in flight
    assert names(flight.take_sendable(8)) == [("b", 0)]
    assert flight.sent == [("b", 0)]


def test_suspects_of_a_death_go_out_one_at_a_time_before_anything_else() -> None:
    flight = filled(0, 1)
    flight.take_sendable(8)
    assert flight.process_died() == []
    flight.add(chunk("b", 0))
    assert names(flight.take_sendable(8)) == [("a", 0)]
    assert flight.take_sendable(8) == []
    flight.answered("a", 0)
    assert names(flight.take_sendable(8)) == [("a", 1)]
    flight.answered("a", 1)
    assert names(flight.take_sendable(8)) == [("b", 0)]


def test_only_the_chunk_alone_in_a_second_death_is_poison() -> None:
    flight = filled(0, 1, 2)
    flight.take_sendable(8)
    flight.process_died()
    flight.take_sendable(8)
    flight.answered("a", 0)
    flight.take_sendable(8)
    assert names(flight.process_died()) == [("a", 1)]
    assert names(flight.take_sendable(8)) == [("a", 2)]


def test_chunks_never_sent_are_not_suspected() -> None:
    flight = filled(0)
    flight.take_sendable(8)
    flight.add(chunk("a", 1))
    flight.process_died()
    flight.take_sendable(8)
    flight.process_died()
    assert names(flight.take_sendable(8)) == [("a", 1)]


def test_lost_answers_are_asked_for_again_without_suspicion() -> None:
    flight = filled(0, 1)
    flight.take_sendable(8)
    flight.send_again()
    assert names(flight.take_sendable(8)) == [("a", 0), ("a", 1)]


def test_only_so_many_are_out_at_once_and_jobs_take_turns() -> None:
    flight = filled(0, 1, 2)
    flight.add(chunk("b", 0))
    flight.add(chunk("b", 1))
    assert names(flight.take_sendable(3)) == [("a", 0), ("b", 0), ("a", 1)]
    assert flight.take_sendable(3) == []
    flight.answered("a", 0)
    flight.answered("b", 0)
    assert names(flight.take_sendable(3)) == [("b", 1), ("a", 2)]
