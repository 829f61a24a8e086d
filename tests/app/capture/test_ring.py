"""The ring keeps every sample that fits, in order, and says exactly what did not."""

from __future__ import annotations

import threading

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from app.capture.ring import Ring, Samples
from tests.helpers.fake_sound import numbered


def drained(ring: Ring) -> Samples:
    """Everything in the ring, losses as zeros."""
    pieces: list[Samples] = []
    while True:
        samples, num_lost = ring.read()
        if not len(samples) and not num_lost:
            return np.concatenate([*pieces, np.zeros(0, np.float32)])
        pieces += [samples, np.zeros(num_lost, np.float32)]


def test_what_was_written_comes_out_once_and_in_order() -> None:
    ring = Ring(10)
    for first in (1, 7, 13):
        ring.write(numbered(6, first))
        assert (ring.read().samples == numbered(6, first)).all()
    assert not len(ring.read().samples)


def test_a_block_that_does_not_fit_is_counted_where_it_is_missing() -> None:
    ring = Ring(8)
    ring.write(numbered(6))
    ring.write(numbered(6, 7))
    samples, num_lost = ring.read()
    ring.write(numbered(4, 13))
    assert (samples == numbered(6)).all()
    assert num_lost == ring.num_lost == 6
    assert (ring.read().samples == numbered(4, 13)).all()


@given(st.lists(st.integers(0, 9), max_size=40), st.data())
def test_no_order_of_writing_and_reading_loses_or_moves_a_sample(
    sizes: list[int], data: st.DataObject
) -> None:
    ring = Ring(16)
    written: list[Samples] = []
    heard: list[Samples] = []
    first = 1
    for size in sizes:
        lost = ring.num_lost
        ring.write(numbered(size, first))
        written.append(np.zeros(size, np.float32) if ring.num_lost > lost else numbered(size, first))
        first += size
        if data.draw(st.booleans()):
            heard.append(drained(ring))
    heard.append(drained(ring))
    expected = np.concatenate([*written, np.zeros(0, np.float32)])
    assert np.array_equal(np.concatenate(heard), expected)


def test_two_threads_share_it_without_a_lock() -> None:
    ring = Ring(100_000)
    is_done = threading.Event()

    def speak() -> None:
        for first in range(1, 20_001, 100):
            ring.write(numbered(100, first))
        is_done.set()

    speaker = threading.Thread(target=speak)
    speaker.start()
    heard: list[Samples] = []
    while not is_done.is_set():
        heard.append(ring.read().samples)
    speaker.join()
    heard.append(ring.read().samples)
    assert np.array_equal(np.concatenate(heard), numbered(20_000))
