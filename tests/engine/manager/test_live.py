"""When a live session decodes, driven by frames and answers alone: no clock, no audio, no model."""

from __future__ import annotations

import numpy as np
import pytest

from engine.manager.confirm import text_of
from engine.manager.live import Answer
from engine.messages import SAMPLE_RATE_HZ, ChunkKind, FinishReason
from tests.helpers.speaker import Speaker


def seconds(samples: int) -> float:
    return samples / SAMPLE_RATE_HZ


def test_a_silent_room_costs_nothing() -> None:
    """No decode, no window that grows, nothing to show as backlog."""
    speaker = Speaker()
    speaker.rest(60)
    assert speaker.plans == []
    assert speaker.session.decoded == speaker.now
    assert speaker.now - speaker.session.start < 3 * SAMPLE_RATE_HZ


def test_speech_is_decoded_while_it_lasts_and_confirmed_word_by_word() -> None:
    speaker = Speaker()
    speaker.rest(1)
    speaker.speak(5)
    assert len(speaker.plans) >= 8
    assert all(plan.kind is ChunkKind.INTERIM for plan in speaker.plans)
    assert speaker.confirmed.count("w") >= 7
    assert speaker.spoken.startswith(speaker.confirmed)


def test_first_words_are_not_cut() -> None:
    """The window begins before the detector says so. (speaches#411)"""
    speaker = Speaker()
    speaker.rest(10)
    speaker.speak(2)
    lead = 10 * SAMPLE_RATE_HZ - speaker.plans[0].start
    assert 0.3 <= seconds(lead) <= 0.5


def test_a_pause_confirms_everything_said() -> None:
    """At the end of speech nothing is left in the tail. (WhisperLiveKit#65, whisper_streaming finish())"""
    speaker = Speaker()
    speaker.speak(3)
    speaker.rest(1)
    assert speaker.confirmed == speaker.spoken
    assert speaker.session.tail == ()


def test_a_pause_needs_no_decode_of_its_own_where_one_has_heard_everything() -> None:
    speaker = Speaker()
    speaker.speak(3)
    speaker.rest(2)
    assert all(plan.kind is ChunkKind.INTERIM for plan in speaker.plans)
    num_plans = len(speaker.plans)
    speaker.rest(20)
    assert len(speaker.plans) == num_plans


def test_stopping_decodes_the_last_word_too() -> None:
    """In the middle of speech, with a decode on its way. (buzz PR#1560, whisper.cpp#2901)"""
    speaker = Speaker(delay_s=1.0)
    speaker.speak(3.4)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken
    assert speaker.plans[-1].kind is ChunkKind.CLOSING
    assert speaker.plans[-1].end == speaker.now
    assert speaker.session.is_settled


def test_flushing_silence_asks_for_nothing() -> None:
    speaker = Speaker()
    speaker.rest(3)
    speaker.finish()
    assert speaker.plans == []
    assert speaker.session.is_settled


def test_a_session_goes_on_after_a_flush() -> None:
    speaker = Speaker()
    speaker.speak(2)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken
    speaker.speak(2)
    speaker.rest(1)
    assert speaker.confirmed == speaker.spoken


def test_speech_that_goes_on_during_a_flush_is_not_lost() -> None:
    """The button is pressed and somebody still speaks: what follows belongs to what follows."""
    speaker = Speaker(delay_s=0.5)
    speaker.speak(2.1)
    speaker.session.flush()
    flushed_at = speaker.now
    speaker.speak(2.1)
    closing = [plan for plan in speaker.plans if plan.kind is ChunkKind.CLOSING]
    assert [plan.end for plan in closing] == [flushed_at]
    speaker.finish()
    assert speaker.confirmed.endswith(f" w{speaker.said[-1][1]}.")
    assert abs(speaker.confirmed.count("w") - len(speaker.said)) <= 1


def test_a_knock_is_not_decoded() -> None:
    speaker = Speaker()
    speaker.rest(1)
    speaker.speak(0.1)
    speaker.rest(3)
    speaker.finish()
    assert speaker.plans == []


def test_a_slow_machine_decodes_less_often_and_loses_nothing() -> None:
    """Latency must not spiral. (WhisperLiveKit#388, RealtimeSTT drops audio)"""
    fast, slow = Speaker(delay_s=0.2), Speaker(delay_s=3.0)
    for speaker in (fast, slow):
        speaker.speak(30)
        speaker.rest(4)
        speaker.finish()
        assert speaker.confirmed == speaker.spoken
    assert len(slow.plans) < len(fast.plans) / 3


def test_one_decode_is_asked_for_at_a_time_until_it_takes_too_long() -> None:
    """Then a newer one is offered: should the older still wait, it is replaced."""
    speaker = Speaker(delay_s=100.0)
    speaker.speak(6.5)
    ends = [seconds(plan.end) for plan in speaker.plans]
    assert np.diff(ends) == pytest.approx([2.0, 2.0], abs=0.15)


def test_a_superseded_decode_is_no_answer() -> None:
    speaker = Speaker(delay_s=100.0)
    speaker.speak(3.5)
    first, second = speaker.plans
    assert speaker.session.ended(first.index, is_superseded=True) is None
    assert not speaker.session.awaits(first.index)
    assert speaker.session.awaits(second.index)
    assert speaker.session.counts.num_superseded == 1


def test_a_decode_that_failed_costs_its_audio_and_not_what_was_heard() -> None:
    speaker = Speaker()
    speaker.speak(3)
    waiting = speaker.plans[-1]
    update = speaker.session.ended(waiting.index, is_superseded=False)
    assert update is not None
    speaker.confirmed += update.confirmed_delta
    assert speaker.spoken.startswith(speaker.confirmed)
    assert speaker.session.start == waiting.end
    begun = len(speaker.confirmed)
    speaker.speak(3)
    speaker.finish()
    assert speaker.confirmed[begun:].endswith(f" w{speaker.said[-1][1]}.")


def test_answers_nobody_waits_for_change_nothing() -> None:
    speaker = Speaker()
    speaker.speak(2)
    stranger = Answer(99, (), FinishReason.STOP, is_suspect=False, language="en", language_probability=1.0)
    assert speaker.session.answer(stranger) is None
    assert speaker.session.ended(99, is_superseded=False) is None


def test_times_are_samples_of_the_recording_wherever_a_session_begins() -> None:
    """No offset is added twice. (WhisperLiveKit#195, #365; vllm#32588)"""
    first = 1_000_000
    speaker = Speaker(first_sample=first)
    speaker.speak(3)
    speaker.finish()
    assert speaker.plans[0].start == first
    assert speaker.confirmed == speaker.spoken


def test_nothing_is_confirmed_before_the_language_is_sure_and_then_it_stays() -> None:
    """(WhisperLiveKit#319, screenpipe#6157: the language flips)"""
    speaker = Speaker(language=None)
    speaker.probability = 0.4
    speaker.speak(2.5)
    assert speaker.confirmed == ""
    assert text_of(speaker.session.tail)
    speaker.probability = 0.9
    speaker.speak(2)
    assert speaker.session.lock.language == "en"
    assert speaker.plans[-1].language == "en"
    assert speaker.spoken.startswith(speaker.confirmed)
    speaker.language = "fr"
    speaker.speak(5)
    speaker.finish()
    assert speaker.session.lock.language == "en"
    assert speaker.confirmed == speaker.spoken


def test_whoever_goes_on_in_another_language_is_followed_and_loses_no_word() -> None:
    """(whisper_streaming#54: nothing more came after a change of language)"""
    speaker = Speaker(language=None)
    speaker.speak(3)
    assert speaker.session.lock.language == "en"
    speaker.language, speaker.probability = "ko", 0.001
    while speaker.session.lock.language == "en":
        assert speaker.now < 30 * SAMPLE_RATE_HZ, "it is never doubted"
        speaker.speak(0.1)
    speaker.probability = 0.95
    speaker.speak(4)
    speaker.finish()
    assert speaker.session.lock.language == speaker.plans[-1].language == "ko"
    assert speaker.confirmed == speaker.spoken


def test_a_language_can_be_chosen_while_it_runs() -> None:
    speaker = Speaker(language="en")
    speaker.speak(2)
    speaker.session.set_language("ko")
    speaker.speak(1)
    assert speaker.plans[-1].language == "ko"
    speaker.session.set_language(None)
    speaker.speak(2)
    assert None in [plan.language for plan in speaker.plans]
    assert speaker.session.lock.language == "en"


def test_decoded_never_goes_back_and_ends_at_what_was_received() -> None:
    speaker = Speaker()
    reached = []
    for _ in range(20):
        speaker.speak(1)
        reached.append(speaker.session.decoded)
        speaker.rest(0.4)
        reached.append(speaker.session.decoded)
    assert reached == sorted(reached)
    speaker.finish()
    assert speaker.session.decoded == speaker.now
