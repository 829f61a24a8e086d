"""From a server's words to what an answer is made of."""

from __future__ import annotations

import hypothesis
import hypothesis.strategies as st
import pytest

from engine.protocol.transcript import TimeSource, Word
from engine.remote.hearsay import behind_prefix, newly_confirmed, place, segments_of, spaced, word_id
from engine.remote.shapes import Reply, ServerSegment, ServerWord

TEXTS = st.lists(st.sampled_from(["no", "yes", "and", "so"]), max_size=8)


def _words(*texts: str) -> list[Word]:
    return [
        Word(text=f" {text}", start=float(n), end=n + 1.0, probability=0.9) for n, text in enumerate(texts)
    ]


def _ids(*texts: str) -> list[int]:
    return [word_id(text) for text in texts]


def test_marks_and_capitals_do_not_make_another_word() -> None:
    assert word_id(" Hello,") == word_id("hello") == word_id("“HELLO”")
    assert word_id("낱말.") == word_id(" 낱말")
    assert word_id(" …") != word_id(" !")


def test_what_is_confirmed_is_left_out_even_where_it_is_heard_a_little_differently() -> None:
    words = _words("So", "what", "do", "we", "know?")
    assert behind_prefix(words, _ids("so", "what")) == words[2:]
    # A word was heard twice, left out, or as another one.
    assert behind_prefix(words, _ids("so", "so", "what")) == words[2:]
    assert behind_prefix(words, _ids("what")) == words[2:]
    assert behind_prefix(words, _ids("so", "that", "do")) == words[3:]
    assert behind_prefix(words, ()) == words


@hypothesis.given(TEXTS, TEXTS)
def test_a_text_that_only_goes_on_keeps_every_new_word(known: list[str], more: list[str]) -> None:
    words = _words(*known, *more)
    assert list(behind_prefix(words, _ids(*known))) == words[len(known) :]


@hypothesis.given(TEXTS, st.data())
def test_a_window_that_moves_on_adds_only_what_is_new(known: list[str], data: st.DataObject) -> None:
    known = [f"{text}{n}" for n, text in enumerate(known)]
    num_gone = data.draw(st.integers(0, len(known)))
    prefix = _ids(*known[num_gone:], "new", "words")
    added = list(newly_confirmed(_ids(*known), prefix))
    assert added == (_ids("new", "words") if num_gone < len(known) or not known else prefix)


def test_text_without_times_lies_where_speech_was_heard() -> None:
    [placed] = place(Reply(text="one two three four"), 10.0, ((1.0, 2.0), (8.0, 9.0)))
    assert (placed.start, placed.end) == (1.0, 9.0)
    assert [word.text for word in placed.words] == [" one", " two", " three", " four"]
    assert {word.time_source for word in placed.words} == {TimeSource.INTERPOLATED}
    middles = [(word.start + word.end) / 2 for word in placed.words]
    assert [middle < 5.0 for middle in middles] == [True, True, False, False]
    assert segments_of([placed], with_words=False)[0].time_source is TimeSource.VAD


def test_the_end_that_a_server_left_out_of_its_segments_is_kept() -> None:
    """(vllm#58029)"""
    segments = (ServerSegment(text=" Here we", start=0.0, end=1.0),)
    placed = place(Reply(text="Here we are, at last.", segments=segments), 3.0, ())
    assert [one.text for one in placed] == [" Here we", " are, at last."]
    assert [one.about.source for one in placed] == [TimeSource.MODEL, TimeSource.INTERPOLATED]
    assert (placed[1].start, placed[1].end) == (1.0, 3.0)


def test_segments_that_tell_another_text_are_not_believed() -> None:
    segments = (ServerSegment(text=" Something else", start=0.0, end=1.0),)
    [placed] = place(Reply(text="Here we are", segments=segments), 3.0, ())
    assert placed.text == " Here we are"


def test_words_the_server_timed_keep_their_times_and_the_texts_marks() -> None:
    words = (ServerWord("Hello", 0.2, 0.5), ServerWord("world", 0.9, 1.4))
    segments = (ServerSegment(text=" Hello, new world!", start=0.0, end=2.0),)
    [placed] = place(Reply(text="Hello, new world!", segments=segments, words=words), 2.0, ())
    told = {word.text: (word.start, word.end, word.time_source) for word in placed.words}
    assert told[" Hello,"][0] == 0.2
    assert told[" world!"][0] == 0.9
    assert told[" Hello,"][2] is TimeSource.MODEL
    assert told[" new"][2] is TimeSource.INTERPOLATED
    assert 0.5 <= told[" new"][0] < told[" new"][1] <= 0.9


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Hello", " Hello"), (" Hello ", " Hello"), ("안녕", " 안녕"), ("你好", "你好"), ("", "")],
)
def test_only_scripts_with_spaces_get_one(text: str, expected: str) -> None:
    assert spaced(text) == expected


@hypothesis.given(
    st.text(max_size=30),
    st.lists(st.tuples(st.text(max_size=9), st.floats(0, 40), st.floats(0, 40)), max_size=4),
    st.lists(st.tuples(st.text(max_size=5), st.floats(0, 40), st.floats(0, 40)), max_size=4),
)
def test_whatever_is_told_times_are_in_order_and_inside(
    text: str, segments: list[tuple[str, float, float]], words: list[tuple[str, float, float]]
) -> None:
    reply = Reply(
        text=text,
        segments=tuple(ServerSegment(text=t, start=a, end=max(a, b)) for t, a, b in segments),
        words=tuple(ServerWord(t.strip(), a, max(a, b)) for t, a, b in words if t.strip()),
    )
    for placed in place(reply, 30.0, ()):
        assert 0.0 <= placed.start <= placed.end <= 30.0
        assert "".join(word.text for word in placed.words) == placed.text
        assert all(one.start < one.end for one in placed.words)
        assert all(
            one.end <= two.start + 1e-9 for one, two in zip(placed.words, placed.words[1:], strict=False)
        )
