"""Text that says the same over and over is noticed, and no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.adapters.loops import LOOP_MIN_IDS, LOOP_MIN_REPEATS, find_loop, num_whole


@given(
    st.lists(st.integers(0, 9), max_size=30),
    st.lists(st.integers(10, 99), min_size=1, max_size=20, unique=True),
)
def test_a_loop_is_found_as_soon_as_it_is_one(text: list[int], unit: list[int]) -> None:
    repeats = max(LOOP_MIN_REPEATS, -(-LOOP_MIN_IDS // len(unit)))
    ids = text + unit * repeats
    loop = find_loop(ids)
    assert loop is not None
    assert (loop.unit_ids, loop.repeats) == (len(unit), repeats)
    assert find_loop(ids[:-1]) is None


def test_a_word_said_often_is_no_loop() -> None:
    assert find_loop([5] * (LOOP_MIN_IDS - 1)) is None
    assert find_loop(list(range(100))) is None


def test_a_cut_never_leaves_half_a_character() -> None:
    """Where a character is several ids, a loop that was cut by ids ended in a replacement character."""
    pieces = [bytes([byte]) for byte in "정말 한".encode()]
    whole = [num_whole(pieces[:count]) for count in range(len(pieces) + 1)]
    assert whole == [0, 0, 0, 3, 3, 3, 6, 7, 7, 7, 10]
    assert num_whole([b" ab", "말".encode()]) == 2
