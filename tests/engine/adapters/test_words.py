"""Words as a reader counts them, each with a time that can be played."""

from __future__ import annotations

import pytest

from engine.adapters.words import MARK_S, TimedPiece, group_words, spread
from engine.protocol.transcript import TimeSource


def words_of(*pieces: str | bytes, step_s: float = 0.5) -> list[str]:
    timed = [
        TimedPiece(
            piece.encode() if isinstance(piece, str) else piece, index * step_s, (index + 1) * step_s, -0.1
        )
        for index, piece in enumerate(pieces)
    ]
    return [word.text for word in group_words(timed, 0.0, len(pieces) * step_s)]


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ((" Hel", "lo", ",", " world", "!"), [" Hello,", " world!"]),
        ((" well", "-", "known", " O", "'", "Neil", "'s"), [" well-known", " O'Neil's"]),
        ((' "', "Hi", '."', " (", "so", ")"), [' "Hi."', " (so)"]),
        ((" -", " Yes", "."), [" - Yes."]),
        ((" $", "12", ".", "5", "0"), [" $12.50"]),
        ((" 안", "녕", "하세요", " 여러", "분"), [" 안녕하세요", " 여러분"]),
        (("こん", "にちは", "。", "「", "東京", "」", "です"), ["こん", "にちは。", "「東京」", "です"]),
        ((" Tokyo", "東京", " is"), [" Tokyo", "東京", " is"]),
        (("ก", "ั", "น"), ["กั", "น"]),
        ((" end", " ..."), [" end ..."]),
        (("♪",), ["♪"]),
    ],
)
def test_words_end_where_their_script_says(pieces: tuple[str, ...], words: list[str]) -> None:
    assert words_of(*pieces) == words


def test_a_character_cut_into_pieces_is_one_word() -> None:
    first, second = "語".encode()[:2], "語".encode()[2:]
    assert words_of("日", first, second) == ["日", "語"]


def test_bytes_that_never_complete_a_character_lose_nothing_else() -> None:
    assert "".join(words_of(b" a", b"\xe6", b" b", b"\xe6")) == (b" a\xe6 b\xe6").decode(errors="replace")


def test_punctuation_does_not_stretch_a_word_into_the_pause() -> None:
    pieces = [TimedPiece(b" Hi", 1.0, 1.3, -0.1), TimedPiece(b".", 1.3, 4.0, -0.1)]
    (word,) = group_words(pieces, 0.0, 5.0)
    assert (word.start, word.end) == (1.0, 1.3 + MARK_S)


def test_words_said_at_one_moment_get_a_step_each() -> None:
    spans = spread([(1.0, 1.0), (1.0, 1.0), (1.0, 2.0)], 0.0, 5.0)
    assert spans == [(1.0, 1.02), (1.02, 1.04), (1.04, 2.0)]


def test_more_words_than_steps_share_the_time_there_is() -> None:
    spans = spread([(0.0, 0.0)] * 10, 0.0, 0.1)
    assert all(start < end for start, end in spans)
    assert spans[-1][1] <= 0.1 + 1e-9


def test_words_that_had_to_move_and_guessed_ones_say_so() -> None:
    aligned, guessed = TimeSource.ALIGNED, TimeSource.INTERPOLATED
    pieces = [
        TimedPiece(b" one", 1.0, 1.5, -0.1, aligned),
        TimedPiece(b" tw", 1.5, 1.7, -0.1, guessed),
        TimedPiece(b"o", 1.7, 2.0, -0.1, aligned),
        TimedPiece(b".", 2.0, 3.0, -0.1, guessed),
        TimedPiece(b" three", 2.0, 2.5, -0.1, aligned),
        TimedPiece(b" four", 2.5, 4.5, -0.1, aligned),
        TimedPiece(b" five", 6.0, 6.5, -0.1, aligned),
    ]
    words = group_words(pieces, 0.0, 4.0)
    assert [word.text for word in words] == [" one", " two.", " three", " four", " five"]
    assert [word.time_source for word in words] == [aligned, guessed, aligned, aligned, guessed]


def test_a_word_that_reaches_out_of_its_segment_ends_with_it_and_is_still_measured() -> None:
    """The mark behind the last word makes it a little longer than the model's own end of the segment."""
    pieces = [TimedPiece(b" Bible", 1.0, 1.6, -0.1), TimedPiece(b",", 1.6, 2.0, -0.1)]
    (word,) = group_words(pieces, 0.0, 1.7)
    assert (word.end, word.time_source) == (1.7, TimeSource.MODEL)
