"""The language of a session is found out once, and does not flip. (WhisperLiveKit#319, whisperX#567)"""

from __future__ import annotations

from engine.manager.language_lock import MAX_DOUBTS, LanguageLock
from engine.messages import SAMPLE_RATE_HZ

SECOND = SAMPLE_RATE_HZ


def test_a_chosen_language_is_never_doubted() -> None:
    lock = LanguageLock("ko")
    lock.detect("en", 1.0, 10 * SECOND, is_last=True)
    for _ in range(2 * MAX_DOUBTS):
        lock.confirm(0.0, 10 * SECOND)
    assert (lock.language, lock.probability) == ("ko", 1.0)


def test_a_sure_detection_is_believed_given_enough_speech() -> None:
    lock = LanguageLock(None)
    lock.detect("en", 0.95, SECOND // 2, is_last=False)
    assert lock.language is None
    lock.detect("en", 0.95, 2 * SECOND, is_last=False)
    assert (lock.language, lock.probability) == ("en", 0.95)


def test_a_likely_one_must_be_heard_twice() -> None:
    lock = LanguageLock(None)
    for language in ("en", "fr", "en"):
        lock.detect(language, 0.6, 2 * SECOND, is_last=False)
        assert lock.language is None
    lock.detect("en", 0.6, 2 * SECOND, is_last=False)
    assert lock.language == "en"


def test_the_end_of_an_utterance_settles_a_likely_one() -> None:
    lock = LanguageLock(None)
    lock.detect("de", 0.6, 2 * SECOND, is_last=True)
    assert lock.language == "de"


def test_after_long_speech_the_likeliest_is_taken() -> None:
    lock = LanguageLock(None)
    lock.detect("pt", 0.3, 6 * SECOND, is_last=False)
    assert lock.language == "pt"


def test_a_model_that_finds_no_language_settles_nothing() -> None:
    lock = LanguageLock(None)
    lock.detect(None, 0.0, 60 * SECOND, is_last=True)
    assert lock.language is None


def test_it_is_given_up_only_when_it_has_long_been_impossible() -> None:
    lock = LanguageLock(None)
    lock.detect("en", 0.95, 2 * SECOND, is_last=False)
    for probability in (*[0.001] * (MAX_DOUBTS - 1), 0.5, *[0.001] * (MAX_DOUBTS - 1)):
        lock.confirm(probability, 3 * SECOND)
        assert lock.language == "en"
    lock.confirm(0.001, SECOND // 2)
    assert lock.language == "en"
    lock.confirm(0.001, 3 * SECOND)
    assert lock.language is None
    lock.detect("fr", 0.95, 2 * SECOND, is_last=False)
    assert lock.language == "fr"
