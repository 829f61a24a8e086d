"""Captions can be read: short lines, one at a time, long enough, in any script."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.captions import Cue, SubtitleRules, columns, cues
from engine.protocol.transcript import Segment, Transcript, Word
from tests.helpers.engine_stories import segment

RULES = SubtitleRules()

ENGLISH = (
    " Printing, in the only sense with which we are at present concerned, differs from most if not from all "
    "the arts and crafts represented in the Exhibition."
)
JAPANESE = (
    "日本語の録音を書き起こすときは、一行に十六文字までにしなければなりません。"
    "そうしないと読みにくいです。「はい」"
)
KOREAN = (
    " 한국어 회의록은 한 줄에 열여섯 글자까지 쓰는 것이 읽기에 좋고, 두 줄을 넘지 않아야 합니다. 그렇지요?"
)
CHINESE = "我们今天开会讨论语音识别的问题，请大家先看一下文件，然后再发表意见。谢谢大家的参与！"
ARABIC = " هذا نص طويل باللغة العربية مكتوب من اليمين إلى اليسار، ويجب أن يبقى ترتيب الكلمات كما هو."


def transcript(*segments: Segment) -> Transcript:
    return Transcript(segments=segments)


def captions(*segments: Segment, rules: SubtitleRules = RULES) -> list[Cue]:
    result = cues(transcript(*segments), rules)
    check(result, rules)
    return result


def check(result: list[Cue], rules: SubtitleRules) -> None:
    """What is true of all captions."""
    for cue in result:
        assert 0 <= cue.start < cue.end
        assert cue.end - cue.start <= rules.max_duration_s + 0.001
        assert 1 <= len(cue.lines) <= rules.max_lines
        assert all(line and line == line.strip() for line in cue.lines)
        assert all(columns(line) <= rules.max_line_width for line in cue.lines)
    for cue, following in itertools.pairwise(result):
        assert cue.end <= following.start


def text(result: list[Cue]) -> str:
    return "".join("".join("".join(cue.lines).split()) for cue in result)


@pytest.mark.parametrize("spoken", [ENGLISH, JAPANESE, KOREAN, CHINESE, ARABIC])
def test_a_long_segment_is_cut_without_losing_a_character(spoken: str) -> None:
    result = captions(segment(spoken, 0, 12))
    assert len(result) > 1
    assert text(result) == "".join(spoken.split())


@pytest.mark.parametrize("spoken", [JAPANESE, KOREAN, CHINESE])
def test_full_width_lines_have_at_most_sixteen_characters(spoken: str) -> None:
    for cue in captions(segment(spoken, 0, 12)):
        assert all(columns(line) <= 32 for line in cue.lines)


def test_japanese_lines_begin_and_end_as_they_should() -> None:
    for cue in captions(segment(JAPANESE, 0, 12)):
        for line in cue.lines:
            assert line[0] not in "。、」"
            assert line[-1] not in "「"


def test_korean_words_are_not_torn_apart() -> None:
    words = KOREAN.split()
    for cue in captions(segment(KOREAN, 0, 12)):
        for line in cue.lines:
            assert all(word in words for word in line.split())


def test_captions_end_with_sentences_and_clauses_where_they_can() -> None:
    ends = [cue.lines[-1][-1] for cue in captions(segment(ENGLISH, 0, 12))]
    assert ends[0] == ","
    assert ends[-1] == "."


def test_two_lines_are_about_equally_long() -> None:
    (cue,) = captions(segment(" one two three four five six seven eight nine ten", 0, 5))
    first, second = map(len, cue.lines)
    assert abs(first - second) < 10


def test_a_caption_that_fits_one_line_stays_on_one() -> None:
    (cue,) = captions(segment(" Hello there.", 1, 3))
    assert cue == Cue(start=1, end=3, lines=("Hello there.",))


def test_nothing_said_gives_no_caption() -> None:
    assert captions() == []
    assert captions(segment("", 0, 5), segment("  \n ", 5, 6)) == []


def test_line_breaks_and_control_characters_in_a_text_are_spaces() -> None:
    (cue,) = captions(segment(" one\n\ntwo\x00\tthree\r\n", 0, 3))
    assert cue.lines == ("one two three",)


def test_one_long_held_word_does_not_stay_for_ever() -> None:
    (cue,) = captions(segment(" word", 10, 60))
    assert (cue.start, cue.end) == (10, 17)


def test_a_segment_of_no_length_is_still_shown_long_enough() -> None:
    (cue,) = captions(segment(" word", 10, 10))
    assert (cue.start, cue.end) == (10, 11)


def test_short_captions_are_joined_with_the_next() -> None:
    (cue,) = captions(segment(" Yes.", 0, 0.3), segment(" No.", 0.3, 0.5), segment(" Maybe.", 0.5, 3))
    assert " ".join(cue.lines) == "Yes. No. Maybe."
    assert (cue.start, cue.end) == (0, 3)


def test_joined_text_gets_a_space_only_where_the_script_has_one() -> None:
    (cue,) = captions(segment("はい。", 0, 0.3), segment("そうです。", 0.3, 3))
    assert cue.lines == ("はい。そうです。",)


def test_many_segments_at_one_moment_do_not_overlap() -> None:
    crowd = [segment(f" sentence {n} that is quite long and needs its own caption", 5, 5) for n in range(8)]
    assert text(captions(*crowd)) == "".join("".join(s.text.split()) for s in crowd)


def test_captions_that_touch_get_a_gap() -> None:
    first, second = captions(segment(" First one here.", 0, 2), segment(" Second one here.", 2, 4))
    assert first.end == pytest.approx(1.92)
    assert second.start == 2


def test_a_word_longer_than_a_line_is_cut() -> None:
    word = "a" * 130
    assert text(captions(segment(" " + word, 0, 6))) == word


def test_word_times_decide_when_a_cut_caption_begins() -> None:
    """The speaker pauses for four seconds in the middle of the segment."""
    names = [f" word{n:02}" for n in range(24)]
    words = tuple(
        Word(
            text=name,
            start=n * 0.25 + (4 if n >= 12 else 0),
            end=n * 0.25 + 0.25 + (4 if n >= 12 else 0),
            probability=1,
        )
        for n, name in enumerate(names)
    )
    spoken = Segment(start=0, end=10, text="".join(names), words=words)
    starts = {cue.lines[0].split()[0]: cue.start for cue in captions(spoken)}
    at = {word.text.strip(): word.start for word in words}
    assert all(start == pytest.approx(at[name]) for name, start in starts.items())
    assert "word12" in starts, "no caption stands through the pause"


def test_words_that_do_not_spell_the_text_are_not_believed() -> None:
    """After a correction the words are still those that were recognised."""
    words = (Word(text=" wrong", start=0, end=9, probability=1),)
    (cue,) = captions(Segment(start=0, end=4, text=" right", words=words))
    assert (cue.start, cue.end) == (0, 4)


def test_combining_characters_take_no_room() -> None:
    assert columns("e\u0301") == 1
    assert columns("한e") == 3


def test_the_rules_can_be_chosen() -> None:
    rules = SubtitleRules(max_line_width=20, max_lines=1, max_duration_s=3)
    result = captions(segment(ENGLISH, 0, 20), rules=rules)
    assert text(result) == "".join(ENGLISH.split())


TEXTS = st.text(st.sampled_from("ab .,。、「」日本한국어 \n\u0301\u200dع🎙️-->&<"), min_size=0, max_size=120)


@given(st.lists(st.tuples(TEXTS, st.floats(0, 4), st.floats(0, 30)), max_size=6))
def test_anything_gives_captions_that_can_be_read(parts: list[tuple[str, float, float]]) -> None:
    at = 0.0
    segments = []
    for words, pause, length in parts:
        segments.append(segment(words, at + pause, at + pause + length))
        at += pause + length
    result = cues(transcript(*segments))
    check(result, RULES)
    spoken = "".join(c for s in segments for c in s.text if not c.isspace())
    assert text(result) == spoken
