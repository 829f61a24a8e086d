"""Text comes out whole, once, and in the end is exactly what decoding everything at once gives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.adapters.base import AsrText
from engine.adapters.whisper.text import WhisperText
from engine.adapters.whisper.vocabulary import read_vocabulary
from engine.detokenizer.incremental import DecodeStatus, ShowRules
from tests.helpers.toy import STOP_ID, ToyText

TOY = ToyText()


class Stream:
    """A request's way through a DecodeStatus, portion by portion; `shown` holds every delta."""

    def __init__(
        self, text: AsrText = TOY, rules: ShowRules | None = None, prefix: Sequence[int] = ()
    ) -> None:
        self.text = text
        self.rules = rules or ShowRules(hidden_ids=text.special_ids, stop_ids=text.stop_ids)
        self.status = DecodeStatus(self.rules, prefix)
        self.shown: list[str] = []
        self.num_decoded = 0

    def feed(self, ids: Sequence[int], *, is_final: bool = False) -> str:
        offset = self.status.sent_offset
        self.status.extend(ids)
        if self.status.is_pending:
            before, window = self.status.windows()
            self.status.advance(
                self.decode(before), self.decode(window), is_final=is_final, decode=self.decode
            )
        self.shown.append(self.status.take(is_final=is_final))
        assert self.status.sent_offset >= offset
        assert self.status.sent_offset == len("".join(self.shown))
        return self.shown[-1]

    def feed_all(self, portions: Sequence[Sequence[int]]) -> str:
        for portion in portions:
            self.feed(portion)
        self.feed([], is_final=True)
        return "".join(self.shown)

    def decode(self, ids: Sequence[int]) -> str:
        self.num_decoded += len(ids)
        return self.text.decode([ids], skip_special=not (self.text.special_ids - self.rules.hidden_ids))[0]


def _bytes(text: str) -> list[int]:
    return list(text.encode())


def _one_by_one(ids: Sequence[int]) -> list[list[int]]:
    return [[id_] for id_ in ids]


def test_a_character_is_shown_when_its_last_byte_is_there() -> None:
    stream = Stream()
    shown = [stream.feed([byte]) for byte in _bytes("aé낱😀")]
    assert shown == ["a", "", "é", "", "", "낱", "", "", "", "😀"]


def test_a_character_is_shown_once_after_it_was_incomplete() -> None:
    """Another detokenizer showed the text before an incomplete sequence a second time."""
    stream = Stream()
    stream.feed(_bytes("hello 낱")[:-1])
    stream.feed(_bytes("낱")[-1:])
    stream.feed(_bytes("!"), is_final=True)
    assert "".join(stream.shown) == "hello 낱!"


def test_what_was_never_completed_is_shown_at_the_end() -> None:
    stream = Stream()
    assert stream.feed([*_bytes("a"), 0xE2, 0x82]) == ""
    assert stream.feed([], is_final=True) == "a\ufffd"


def test_bytes_that_are_no_text_do_not_hold_the_text_for_ever() -> None:
    stream = Stream()
    for _ in range(20):
        stream.feed([0xFF])
    assert len("".join(stream.shown)) >= 14
    assert stream.feed(_bytes("a"), is_final=True).endswith("\ufffda")
    assert "".join(stream.shown) == "\ufffd" * 20 + "a"


@pytest.mark.parametrize("never_text", [[0xFF], [0x80], [0xE2, 0x82], [0xF0, 0x9F, 0x98], [0xC3]])
def test_endless_broken_text_costs_the_same_for_every_id(never_text: list[int]) -> None:
    """Another detokenizer decoded everything since the last whole character again for each id."""
    costs = []
    for num_ids in (300, 600, 1200):
        stream = Stream()
        ids = (never_text * num_ids)[:num_ids]
        assert stream.feed_all(_one_by_one(ids)) == TOY.decode([ids], skip_special=True)[0]
        costs.append(stream.num_decoded / num_ids)
    assert max(costs) < 40
    assert max(costs) - min(costs) < 1


def test_whole_text_costs_the_same_for_every_id() -> None:
    costs = []
    for num_words in (100, 400):
        stream = Stream()
        ids = _bytes("낱말 word 😀 " * num_words)
        stream.feed_all(_one_by_one(ids))
        costs.append(stream.num_decoded / len(ids))
    assert max(costs) < 12
    assert max(costs) - min(costs) < 1


def test_a_long_portion_that_ends_within_a_character_is_shown_up_to_it() -> None:
    stream = Stream()
    assert stream.feed(_bytes("a long portion 😀")[:-1]) == "a long portion "


def test_hidden_ids_between_the_bytes_of_a_character_do_not_break_it() -> None:
    first, second = _bytes("é")
    assert Stream().feed_all([[first], *[[300 + index] for index in range(9)], [second]]) == "é"


def test_ids_without_text_after_an_incomplete_character_let_it_go() -> None:
    """Ids that a vocabulary does not have read as nothing."""

    class Holes(ToyText):
        special_ids = frozenset()

        def decode(self, batch: Sequence[Sequence[int]], *, skip_special: bool) -> list[str]:
            return super().decode([[id_ for id_ in ids if id_ < 256] for ids in batch], skip_special=True)

    stream = Stream(Holes(), ShowRules())
    assert stream.feed([0xE2]) == ""
    for _ in range(4):
        stream.feed([400])
    assert "".join(stream.shown) == "\ufffd"
    assert stream.feed(_bytes("a"), is_final=True) == "a"


class Straddling(ToyText):
    """Id n holds the last byte of character n and the first two of the next: none ends where one ends."""

    special_ids = frozenset()
    text = "감사합니다정말좋아요오늘날씨가" * 8
    size = len(text) * 3

    def decode(self, batch: Sequence[Sequence[int]], *, skip_special: bool) -> list[str]:
        whole = self.text.encode()
        parts = [b"".join(whole[max(0, 3 * id_ - 1) : 3 * id_ + 2] for id_ in ids) for ids in batch]
        return [part.decode(errors="replace") for part in parts]


def test_ids_that_each_end_within_a_character_are_shown_as_far_as_they_are_whole() -> None:
    """A byte-level vocabulary may have such ids; U+FFFD was shown for each, though all was text."""
    stream = Stream(Straddling(), ShowRules())
    for id_ in range(60):
        stream.feed([id_])
    shown = "".join(stream.shown)
    assert shown == Straddling.text[: len(shown)]
    assert len(shown) >= 55


def test_the_forced_prefix_is_never_shown() -> None:
    assert Stream(prefix=_bytes("Before. ")).feed_all(_one_by_one(_bytes("after"))) == "after"


def test_a_character_that_the_prefix_began_is_shown() -> None:
    first, second = _bytes("é")
    assert Stream(prefix=[*_bytes("x"), first]).feed_all([[second], _bytes("a")]) == "éa"


def test_a_prefix_that_ends_within_a_character_nobody_completes_stays_unseen() -> None:
    assert Stream(prefix=[0xE2]).feed_all([_bytes("a")]) == "a"
    assert Stream(prefix=[0xE2]).feed_all([[0x82]]) == ""


def test_special_ids_are_shown_on_request() -> None:
    stream = Stream(rules=ShowRules(stop_ids=TOY.stop_ids))
    assert stream.feed_all(_one_by_one([300, *_bytes(" a"), STOP_ID])) == "<|300|> a"


def test_a_stop_id_ends_the_text() -> None:
    stream = Stream()
    assert stream.feed([*_bytes("ab"), STOP_ID, *_bytes("c")]) == "ab"
    assert stream.feed(_bytes("d"), is_final=True) == ""


def test_a_stop_id_lets_go_of_what_waits() -> None:
    stream = Stream()
    assert stream.feed([0xE2, STOP_ID]) == "\ufffd"


def test_a_stop_id_is_kept_on_request() -> None:
    stream = Stream(rules=ShowRules(stop_ids=TOY.stop_ids, keep_stop=True))
    assert stream.feed_all([[*_bytes("ab"), STOP_ID], _bytes("c")]) == "ab<|256|>"


def _stopping(*stops: str, keep: bool = False) -> Stream:
    return Stream(rules=ShowRules(stop_strings=stops, keep_stop=keep))


def test_a_stop_string_is_found_across_portions() -> None:
    """Another detokenizer had shown the beginning of the stop string before it was complete."""
    stream = _stopping("STOP")
    assert [stream.feed(_bytes(part)) for part in ("go on S", "TO", "P here", "after")] == [
        "go on ",
        "",
        "",
        "",
    ]
    assert stream.status.is_stopped
    assert stream.status.text == "go on "


def test_what_only_looked_like_a_stop_string_is_shown() -> None:
    stream = _stopping("STOP")
    assert [stream.feed(_bytes(part)) for part in ("aSS", "T", "x")] == ["aS", "", "STx"]
    assert stream.feed(_bytes("ST"), is_final=True) == "ST"


def test_a_stop_string_is_kept_on_request() -> None:
    assert _stopping("<e>", keep=True).feed_all(_one_by_one(_bytes("ab<e>cd"))) == "ab<e>"


def test_the_stop_string_that_is_complete_first_counts() -> None:
    for portions in ([_bytes("xabcd")], _one_by_one(_bytes("xabcd"))):
        assert _stopping("abcd", "bc").feed_all(portions) == "xa"


def test_an_empty_stop_string_stops_nothing() -> None:
    assert _stopping("").feed_all([_bytes("ab")]) == "ab"


@given(st.data())
@settings(max_examples=200, deadline=None, derandomize=True)
def test_stop_strings_cut_the_same_in_whatever_portions_text_comes(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.sampled_from([*b"ab", *"é".encode(), 0xFF]), max_size=30))
    stops = data.draw(st.lists(st.text("abé", min_size=1, max_size=4), min_size=1, max_size=3))
    keep = data.draw(st.booleans())
    whole = _stopping(*stops, keep=keep).feed_all([ids])
    assert _stopping(*stops, keep=keep).feed_all(_portions(data, ids)) == whole
    text = _text(ids)
    ends = [(start + len(stop), start) for stop in stops if (start := text.find(stop)) >= 0]
    assert whole == (text[: min(ends)[0 if keep else 1]] if ends else text)


def _text(ids: Sequence[int]) -> str:
    return TOY.decode([ids], skip_special=True)[0]


def _portions(data: st.DataObject, ids: list[int]) -> list[list[int]]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(ids)), max_size=len(ids))))
    return [ids[start:end] for start, end in zip([0, *cuts], [*cuts, len(ids)], strict=True)]


# Bytes that begin, continue and break sequences of every length.
_AWKWARD = [
    0x41,
    0x7F,
    0x80,
    0x9F,
    0xA0,
    0xBF,
    0xC0,
    0xC3,
    0xE0,
    0xE2,
    0xED,
    0xEF,
    0xF0,
    0xF4,
    0xF5,
    0xFF,
    300,
]


@given(st.data())
@settings(max_examples=500, deadline=None, derandomize=True)
def test_random_bytes_join_to_what_they_are_at_once(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.sampled_from(_AWKWARD), max_size=40))
    prefix = data.draw(st.lists(st.sampled_from(_AWKWARD), max_size=4))
    portions = _portions(data, ids)
    assert Stream().feed_all(portions) == _text(ids)
    whole, known = _text([*prefix, *ids]), _text(prefix)
    shared = next((i for i, char in enumerate(known) if whole[i : i + 1] != char), len(known))
    assert Stream(prefix=prefix).feed_all(portions) == whole[shared:]


@pytest.fixture(scope="module")
def whisper_text(whisper_base: Path) -> WhisperText:
    return WhisperText(read_vocabulary(whisper_base))


@pytest.mark.weights
@pytest.mark.parametrize("is_special_shown", [False, True])
def test_random_ids_of_the_real_vocabulary_join_to_what_they_are_at_once(
    whisper_text: WhisperText, is_special_shown: bool
) -> None:
    rules = ShowRules(hidden_ids=frozenset() if is_special_shown else whisper_text.special_ids)
    random = Random(20_260)
    kinds = (list(_partial_ids(whisper_text)), range(51_865), sorted(whisper_text.special_ids))
    for _ in range(1_000):
        ids = [random.choice(random.choice(kinds)) for _ in range(random.randrange(80))]
        stream = Stream(whisper_text, rules)
        whole = whisper_text.decode([ids], skip_special=not is_special_shown)[0]
        assert stream.feed_all(_random_portions(random, ids)) == whole
        assert stream.num_decoded <= 20 * (len(ids) + 1)


@pytest.mark.weights
def test_real_text_in_many_scripts_streams_unharmed(whisper_base: Path, whisper_text: WhisperText) -> None:
    vocabulary = read_vocabulary(whisper_base)
    for text in (
        "Hello, world!",
        " 안녕하세요, 여러분.",
        " 今日は良い天気です。",
        " Привет 👩‍👩‍👧‍👦 نعم ᚠᛇᚻ",
    ):
        ids = vocabulary.encode(text)
        assert Stream(whisper_text).feed_all(_one_by_one(ids)) == text


def _random_portions(random: Random, ids: list[int]) -> list[list[int]]:
    portions = []
    while ids:
        size = random.choice((1, 1, 1, 2, 5, 30))
        portions.append(ids[:size])
        ids = ids[size:]
    return portions


def _partial_ids(text: WhisperText) -> Iterator[int]:
    """Yield the ids that are no whole characters of their own."""
    for id_, piece in enumerate(text.pieces(range(51_865))):
        try:
            piece.decode()
        except UnicodeDecodeError:
            yield id_
