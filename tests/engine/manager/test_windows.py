"""Where a long window moves to."""

from __future__ import annotations

from engine.manager.confirm import Piece, text_of
from engine.manager.windows import Dips, moved_start
from engine.messages import SAMPLE_RATE_HZ

SECOND = SAMPLE_RATE_HZ


def said(*words: tuple[float, str]) -> list[Piece]:
    """Return words of 0.4 s that begin at these seconds; an empty one is special."""
    return [
        Piece(hash(text), text.encode(), round(at * SECOND), round((at + 0.4) * SECOND), round(at * SECOND))
        for at, text in words
    ]


def moved(opened: list[Piece], now_s: float) -> tuple[float, str] | None:
    found = moved_start(opened, 0, round(now_s * SECOND))
    return (found[0] / SECOND, text_of(opened[len(opened) - found[1] :])) if found else None


def test_a_short_window_stays() -> None:
    assert moved(said((1, " one."), (2, " two.")), 10) is None


def test_a_long_one_moves_to_the_latest_sentence() -> None:
    opened = said((1, " one."), (2, " two."), (5, " three"), (6, " four."))
    assert moved(opened, 20) == (3.7, " three four.")


def test_a_segment_of_the_model_ends_like_a_sentence() -> None:
    opened = said((1, " one"), (3, " two"), (3.5, ""), (4, " three"))
    assert moved(opened, 20) == (3.7, " three")


def test_it_keeps_a_little_of_its_past() -> None:
    opened = said((1, " one."), (2, " two"), (16.5, " three."), (17, " four"))
    assert moved(opened, 20) == (1.7, " two three. four")


def test_without_a_sentence_it_waits_and_then_takes_the_widest_gap() -> None:
    opened = said((1, " one"), (2, " two"), (8, " three"), (9, " four"), (9.5, "s"))
    assert moved(opened, 20) is None
    assert moved(opened, 24) == (5.2, " three fours")


def test_nothing_confirmed_leaves_it_where_it_is() -> None:
    assert moved([], 25) is None
    assert moved(said((1, " one")), 25) is None


def test_a_word_is_never_left_in_two() -> None:
    assert moved(said((1, " un"), (5, "believ"), (9, "able")), 25) is None


def test_a_silence_counts_only_if_what_was_heard_before_it_was_confirmed() -> None:
    dips = Dips()
    dips.note(3 * SECOND, said((1, " one"), (2, " tow")))
    dips.note(6 * SECOND, said((1, " one"), (2, " two"), (5, " three")))
    opened = said((1, " one"), (2, " two"), (5, " three"), (7, " four"))
    assert dips.moved_start(opened, 0, 20 * SECOND) == (6 * SECOND, 1)
    assert dips.moved_start(opened[:2], 0, 20 * SECOND) is None
    assert dips.moved_start(opened, 0, 9 * SECOND) is None


def test_silences_behind_the_new_start_are_known_by_what_was_said_since() -> None:
    dips = Dips()
    dips.note(3 * SECOND, said((1, " one")))
    dips.note(6 * SECOND, said((1, " one"), (5, " two")))
    dips.note(9 * SECOND, said((1, " one"), (5, " two"), (8, " three")))
    dips.move(6 * SECOND)
    opened = said((8, " three"), (10, " four"))
    assert dips.moved_start(opened, 6 * SECOND, 20 * SECOND) == (9 * SECOND, 1)
