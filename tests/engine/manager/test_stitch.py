"""What two chunks share is said once: no word lost, none doubled."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.manager.stitch import Stitched, stitch
from engine.protocol.transcript import Segment, TimeSource, Word


def segment(text: str, start: float, end: float) -> Segment:
    return Segment(start=start, end=end, text=text, tokens=(1, 2, 3))


def joined(result: Stitched) -> str:
    return "".join(s.text for s in (*result.first, *result.second))


def test_words_that_both_heard_are_said_once() -> None:
    result = stitch(
        [segment(" The quick brown fox jumps over the", 0.0, 10.0)],
        [segment(" fox jumps over the lazy dog.", 8.0, 16.0)],
        overlap_start_s=8.0,
        overlap_end_s=10.0,
    )
    assert joined(result) == " The quick brown fox jumps over the lazy dog."
    assert 8.0 <= result.cut_s <= 10.0


def test_a_word_cut_in_half_at_either_edge_is_not_kept() -> None:
    result = stitch(
        [segment(" one two three four five sev", 0.0, 10.0)],
        [segment(" er four five seven eight nine ten", 8.0, 18.0)],
        overlap_start_s=7.0,
        overlap_end_s=10.0,
    )
    assert joined(result) == " one two three four five seven eight nine ten"


def test_case_and_punctuation_do_not_hide_that_words_are_the_same() -> None:
    result = stitch(
        [segment(" we went home early.", 0.0, 10.0)],
        [segment(" Home, early and tired.", 8.0, 14.0)],
        overlap_start_s=7.5,
        overlap_end_s=10.0,
    )
    assert re.findall(r"\w+", joined(result).casefold()) == ["we", "went", "home", "early", "and", "tired"]


def test_scripts_without_spaces_are_matched_by_character() -> None:
    result = stitch(
        [segment("今天天气很好我们去公", 0.0, 10.0)],
        [segment("我们去公园散步", 7.0, 14.0)],
        overlap_start_s=7.0,
        overlap_end_s=10.0,
    )
    assert joined(result) == "今天天气很好我们去公园散步"


def test_where_nothing_agrees_the_middle_of_the_overlap_decides() -> None:
    first = segment(" aaa bbb ccc ddd", 0.0, 10.0)
    second = segment(" www xxx yyy zzz", 8.0, 16.0)
    result = stitch([first], [second], overlap_start_s=8.0, overlap_end_s=10.0)
    kept = joined(result).split()
    assert kept == ["aaa", "bbb", "ccc", "ddd", "www", "xxx", "yyy", "zzz"] or "yyy" in kept
    assert kept[0] == "aaa" and kept[-1] == "zzz"


def test_one_side_without_text_leaves_the_other_alone() -> None:
    only = (segment(" alone", 8.5, 9.5),)
    assert stitch(only, (), overlap_start_s=8.0, overlap_end_s=12.0).first == only
    assert stitch((), only, overlap_start_s=6.0, overlap_end_s=8.0).second == only


def test_word_times_are_used_and_go_with_their_words() -> None:
    words = [(" red", 6.0, 7.0), (" green", 8.2, 9.0), (" blue", 9.1, 9.9)]
    first = Segment(
        start=6.0,
        end=9.9,
        text=" red green blue",
        words=tuple(Word(text=t, start=a, end=b, probability=1.0) for t, a, b in words),
    )
    second = segment(" green blue yellow", 8.0, 12.0)
    result = stitch([first], [second], overlap_start_s=8.0, overlap_end_s=10.0)
    assert joined(result) == " red green blue yellow"
    for part in result.first:
        assert "".join(word.text for word in part.words) == part.text


def test_ids_are_dropped_only_where_text_was() -> None:
    early, late = segment(" hello there.", 0.0, 4.0), segment(" over the hills", 5.0, 10.0)
    result = stitch(
        [early, late], [segment(" the hills far away", 8.0, 14.0)], overlap_start_s=8.0, overlap_end_s=10.0
    )
    assert result.first[0] == early
    assert joined(result) == " hello there. over the hills far away"
    assert result.second[0].tokens == ()


WORDS = [f"w{n}" for n in range(60)]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    num_words=st.integers(6, 60),
    split=st.floats(0.3, 0.7),
    shared=st.integers(0, 6),
)
def test_true_words_with_true_times_always_come_out_whole(num_words: int, split: float, shared: int) -> None:
    """Both chunks hear every word within their range; together they are the whole, each word once."""
    middle = int(num_words * split)
    words = WORDS[:num_words]
    first_words = words[: min(num_words, middle + shared)]
    second_words = words[max(0, middle - shared) :]
    result = stitch(
        [segment("".join(f" {w}" for w in first_words), 0.0, float(len(first_words)))],
        [
            segment(
                "".join(f" {w}" for w in second_words), float(num_words - len(second_words)), float(num_words)
            )
        ],
        overlap_start_s=float(max(0, middle - shared)),
        overlap_end_s=float(min(num_words, middle + shared)),
    )
    assert joined(result).split() == words


texts = st.text(st.sampled_from("ab .,é界 "), max_size=20)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(first=st.lists(texts, max_size=4), second=st.lists(texts, max_size=4))
def test_text_is_only_left_out_at_the_seam(first: list[str], second: list[str]) -> None:
    result = stitch(
        [segment(text, index * 2.0, index * 2.0 + 2) for index, text in enumerate(first)],
        [segment(text, 6 + index * 2.0, 8 + index * 2.0) for index, text in enumerate(second)],
        overlap_start_s=6.0,
        overlap_end_s=8.0,
    )
    bare = re.compile(r"\s+")
    kept_first = bare.sub("", "".join(s.text for s in result.first))
    kept_second = bare.sub("", "".join(s.text for s in result.second))
    assert bare.sub("", "".join(first)).startswith(kept_first)
    assert bare.sub("", "".join(second)).endswith(kept_second)
    assert all(s.text.strip() for s in result.second if s.tokens == ())


def test_a_segment_that_was_cut_without_knowing_its_words_has_guessed_times() -> None:
    first = [segment(" one two three", 0.0, 3.0), segment(" four five six", 5.0, 9.0)]
    result = stitch(first, [segment(" five six seven", 7.0, 10.0)], overlap_start_s=6.5, overlap_end_s=9.0)
    assert [s.time_source for s in result.first] == [TimeSource.MODEL, TimeSource.INTERPOLATED]
    assert [s.time_source for s in result.second] == [TimeSource.INTERPOLATED]


def test_a_segment_cut_between_known_words_is_as_sure_as_they_are() -> None:
    aligned = TimeSource.ALIGNED
    words = tuple(
        Word(text=f" w{n}", start=n, end=n + 0.9, probability=1.0, time_source=aligned) for n in range(10)
    )
    text = "".join(word.text for word in words)
    whole = Segment(start=0.0, end=9.9, text=text, words=words, time_source=aligned)
    late = Segment(start=8.0, end=9.9, text=" w8 w9", words=words[8:], time_source=aligned)
    result = stitch([whole], [late], overlap_start_s=7.5, overlap_end_s=10.0)
    assert joined(result) == text
    assert {s.time_source for s in (*result.first, *result.second)} == {aligned}
