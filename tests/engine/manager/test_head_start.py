"""The first chunk of a long file runs alone; a short file is never held up."""

from __future__ import annotations

from engine.manager.head_start import LONG_S, HeadStart
from engine.messages import Chunk, ChunkKind, DecodingOptions, RequestKey


def chunks(first: int, last: int) -> list[Chunk]:
    return [
        Chunk(
            key=RequestKey("job", index),
            kind=ChunkKind.FILE,
            start_sample=index,
            pcm=bytes(4),
            options=DecodingOptions(),
        )
        for index in range(first, last)
    ]


def opened(duration_s: float | None) -> HeadStart:
    head_start = HeadStart()
    head_start.opened(duration_s)
    return head_start


def test_of_a_long_file_one_chunk_goes_until_it_is_answered_and_then_all_in_order() -> None:
    head_start = opened(LONG_S)
    many = chunks(0, 5)
    assert head_start.through([]) == []
    assert head_start.through(many[:2]) == many[:1]
    assert head_start.through(many[2:]) == []
    assert head_start.num_held_bytes == 4 * 4
    head_start.answered()
    more = chunks(5, 7)
    assert head_start.through(more) == many[1:] + more
    assert head_start.num_held_bytes == 0


def test_a_short_file_and_one_of_unknown_length_go_at_once() -> None:
    for duration_s in (LONG_S - 1, None):
        many = chunks(0, 5)
        assert opened(duration_s).through(many) == many


def test_an_answer_before_the_second_chunk_is_read_ends_the_head_start() -> None:
    head_start = opened(2 * LONG_S)
    head_start.through(chunks(0, 1))
    head_start.answered()
    many = chunks(1, 5)
    assert head_start.through(many) == many
