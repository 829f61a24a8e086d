"""Places of a recording become marks: joined where they touch, and each handed out once."""

from __future__ import annotations

from app.capture.marks import MarkBook
from app.capture.notices import Mark, MarkKind

GAP, LOST, PAUSE = MarkKind.GAP, MarkKind.LOST, MarkKind.PAUSE


def mark(kind: MarkKind, start: float, end: float) -> Mark:
    return Mark(kind=kind, start=start, end=end)


def test_pieces_that_touch_are_one_mark_once_nothing_can_join_them() -> None:
    book = MarkBook(10)
    book.add(GAP, 10, 20)
    book.reach(20)
    book.add(GAP, 20, 30)
    book.reach(30)
    assert book.take() == []
    book.reach(31)
    assert book.take() == [mark(GAP, 1.0, 3.0)]
    assert book.take() == []


def test_gaps_of_two_sources_are_one_where_they_overlap() -> None:
    book = MarkBook(10)
    book.add(GAP, 10, 20)
    book.add(GAP, 40, 50)
    book.add(GAP, 15, 45)
    book.add(GAP, 60, 70)
    book.close()
    assert book.take() == [mark(GAP, 1.0, 5.0), mark(GAP, 6.0, 7.0)]


def test_a_loss_within_a_gap_stays_a_loss() -> None:
    book = MarkBook(10)
    book.add(GAP, 10, 50)
    book.add(LOST, 20, 30)
    book.close()
    assert book.take() == [mark(GAP, 1.0, 5.0), mark(LOST, 2.0, 3.0)]


def test_nothing_is_marked_before_a_pause_that_is_over_nor_before_the_recording() -> None:
    book = MarkBook(10)
    book.add(GAP, -10, 5)
    book.add(PAUSE, 20, 20)
    book.close()
    book.add(GAP, 10, 25)
    book.add(LOST, 10, 20)
    book.close()
    assert book.take() == [mark(GAP, 0.0, 0.5), mark(PAUSE, 2.0, 2.0), mark(GAP, 2.0, 2.5)]
