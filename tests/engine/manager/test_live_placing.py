"""Tokens of live text lie in the recording where the model says, or where speech was heard."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.manager.confirm import Piece
from engine.manager.live import Plan
from engine.manager.placing import Reply, place_pieces
from engine.messages import ChunkKind, Finished, FinishReason, Spans
from engine.protocol.transcript import TimeSource

SECOND = 16_000


def finished(speech: Spans = (), times: Spans = (), guessed: tuple[int, ...] = ()) -> Finished:
    return Finished(
        reason=FinishReason.STOP,
        temperature=0.0,
        avg_logprob=-0.1,
        no_speech_prob=0.0,
        compression_ratio=1.0,
        num_samples=10 * SECOND,
        speech=speech,
        token_times=times,
        times_source=TimeSource.ALIGNED,
        guessed=guessed,
    )


def plan(*prefix: Piece, start_s: float = 5.0) -> Plan:
    start = round(start_s * SECOND)
    return Plan(0, ChunkKind.INTERIM, start, start + 10 * SECOND, "en", prefix, ())


def reply(*texts: str, attended_s: tuple[float, ...] = ()) -> Reply:
    pieces = [text.encode() for text in texts]
    return Reply(list(range(len(pieces))), pieces, [-0.1] * len(pieces), list(attended_s))


def spans(pieces: tuple[Piece, ...]) -> list[tuple[float, float]]:
    return [(piece.start / SECOND, piece.end / SECOND) for piece in pieces]


def test_without_times_of_the_model_words_lie_on_the_speech() -> None:
    placed = place_pieces(reply(" He", "llo", ",", " there"), finished(((1.0, 2.0), (4.0, 5.0))), plan())
    assert spans(placed)[0][0] == 6.0
    assert spans(placed)[2][1] == 7.0, "the first word ends with the first stretch of speech"
    assert spans(placed)[3] == (9.0, 10.0)
    assert {piece.time_source for piece in placed} == {TimeSource.VAD}


def test_what_is_confirmed_keeps_its_place() -> None:
    known = Piece(9, b" so", round(6.0 * SECOND), round(7.5 * SECOND), 0)
    placed = place_pieces(reply(" and", " on"), finished(((1.0, 5.0),)), plan(known))
    assert spans(placed)[0][0] == 7.5
    assert spans(placed)[-1][1] == 10.0
    assert {piece.time_source for piece in placed} == {TimeSource.INTERPOLATED}


def test_the_models_own_times_are_used_and_say_so() -> None:
    times = ((0.0, 1.0), (1.0, 2.0), (0.5, 3.0))
    placed = place_pieces(reply(" a", " b", " c"), finished(times=times, guessed=(1,)), plan())
    aligned, guessed = TimeSource.ALIGNED, TimeSource.INTERPOLATED
    assert [piece.time_source for piece in placed] == [aligned, guessed, guessed]
    assert spans(placed) == [(5.0, 6.0), (6.0, 7.0), (6.0, 8.0)]
    attended = place_pieces(reply(" a", attended_s=(2.5,)), finished(), plan())
    assert (spans(attended), attended[0].time_source) == ([(7.5, 7.5)], TimeSource.MODEL)


def test_where_nothing_was_heard_text_lies_over_all_that_is_left() -> None:
    placed = place_pieces(reply("", " a"), finished(), plan())
    assert spans(placed) == [(5.0, 5.0), (5.0, 15.0)]
    assert placed[1].time_source is TimeSource.INTERPOLATED


texts = st.lists(st.sampled_from(["", " a", " word", ".", "天气", "は", "한", "?"]), max_size=30)
steps = st.lists(st.tuples(st.floats(0.0, 2.0), st.floats(0.05, 3.0)), max_size=6)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(words=texts, heard=steps, reached_s=st.floats(5.0, 15.0))
def test_pieces_are_in_order_and_within_the_audio(
    words: list[str], heard: list[tuple[float, float]], reached_s: float
) -> None:
    speech: list[tuple[float, float]] = []
    for silence, length in heard:
        begin = (speech[-1][1] if speech else 0.0) + silence
        speech.append((begin, begin + length))
    known = Piece(9, b" so", 5 * SECOND, round(reached_s * SECOND), 0)
    placed = place_pieces(reply(*words), finished(tuple(speech)), plan(known))
    assert [piece.text.decode() for piece in placed] == words
    for piece in placed:
        assert 5 * SECOND <= piece.start <= piece.end <= 15 * SECOND
    for one, other in pairwise(placed):
        assert one.start <= other.start
