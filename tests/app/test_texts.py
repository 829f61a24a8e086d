"""Every failure and every text is there in both languages, with the same blanks to fill."""

from __future__ import annotations

import string
from collections.abc import Iterator

import pytest

from app import texts
from app.text_tables import ENGLISH, KOREAN, KOREAN_FAILURES
from engine.protocol.failures import SENTENCES, Failure, FailureKind, failure


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    texts.use_language("en")


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("kind", FailureKind)
def test_every_failure_has_a_sentence_and_a_remedy_in_both_languages(kind: FailureKind) -> None:
    told = failure(kind, "회의.wav")
    for language in texts.LANGUAGES:
        texts.use_language(language)
        sentence, remedy = texts.failure_text(told)
        assert sentence
        assert remedy
        assert "{" not in sentence + remedy
        assert ("회의.wav" in sentence) == ("{subject}" in SENTENCES[kind][0])
    assert blanks(KOREAN_FAILURES[kind][0]) == blanks(SENTENCES[kind][0])


@pytest.mark.parametrize("key", ENGLISH)
def test_every_text_is_there_in_both_languages(key: str) -> None:
    assert blanks(KOREAN[key]) == blanks(ENGLISH[key])
    assert KOREAN[key] != ENGLISH[key]


def test_no_text_is_korean_alone() -> None:
    assert KOREAN.keys() == ENGLISH.keys()


@pytest.mark.parametrize(
    ("code", "language"),
    [("ko", "ko"), ("ko_KR.UTF-8", "ko"), ("ko-KR", "ko"), ("KO", "ko"), ("C.UTF-8", "en"), ("fr_FR", "en")],
)
def test_a_language_is_known_by_any_of_its_codes(code: str, language: str) -> None:
    texts.use_language(code)
    assert texts.language() == language


def test_words_made_for_one_case_are_kept_in_any_language() -> None:
    texts.use_language("ko")
    own = Failure(kind=FailureKind.BAD_MEDIA, message="Just so.", hint="Do this.")
    assert texts.failure_line(own) == "Just so. Do this."


def test_an_unknown_key_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        texts.tr("no such text")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "about 1 s"),
        (42.4, "about 42 s"),
        (90, "about 2 min"),
        (3599, "about 60 min"),
        (8100, "about 2 h 15 min"),
    ],
)
def test_durations_are_no_more_exact_than_they_can_be(seconds: float, text: str) -> None:
    assert texts.duration(seconds) == text


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [(0, "0 kB"), (10, "1 kB"), (145_300_000, "145 MB"), (3_090_000_000, "3.1 GB")],
)
def test_sizes_read_as_in_a_file_manager(num_bytes: int, text: str) -> None:
    assert texts.size(num_bytes) == text


def test_the_system_language_is_asked_in_the_order_of_posix() -> None:
    assert texts.system_language({"LANG": "ko_KR.UTF-8"}) == "ko_KR.UTF-8"
    assert texts.system_language({"LANG": "ko_KR.UTF-8", "LC_ALL": "C"}) == "C"
    assert texts.system_language({"LC_ALL": ""})
