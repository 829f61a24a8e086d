"""What a live session hears at a time: windows that move on, what leads them, and chunk-wise models."""

from __future__ import annotations

import numpy as np
import pytest

from engine.adapters.base import LocalAgreement, PrefixRollback
from engine.manager.confirm import paced, text_of
from engine.manager.live import LiveSession
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import SAMPLE_RATE_HZ, ChunkKind, FinishReason
from tests.helpers.speaker import MAX_WINDOW, Speaker


def test_an_utterance_late_in_a_window_gets_one_of_its_own() -> None:
    speaker = Speaker()
    for _ in range(6):
        speaker.speak(3)
        speaker.rest(1)
    assert max(plan.end - plan.start for plan in speaker.plans) <= 18 * SAMPLE_RATE_HZ
    speaker.finish()
    assert speaker.confirmed == speaker.spoken


def test_a_window_moves_on_and_never_grows_past_what_fits() -> None:
    speaker = Speaker()
    speaker.speak(120)
    speaker.rest(1)
    assert max(plan.end - plan.start for plan in speaker.plans) <= 25 * SAMPLE_RATE_HZ
    assert speaker.confirmed == speaker.spoken
    assert speaker.session.counts.num_forced == 0


def test_a_model_that_never_agrees_with_itself_is_confirmed_when_the_window_is_full() -> None:
    """The buffer must not grow for ever. (whisper_streaming#152: 39 minutes, #54)"""
    speaker = Speaker(confirmation=LocalAgreement(settled_s=60.0))
    speaker.mumbles = True
    speaker.speak(100)
    assert max(plan.end - plan.start for plan in speaker.plans) <= MAX_WINDOW
    assert speaker.session.counts.num_forced >= 3
    assert speaker.confirmed
    speaker.mumbles = False
    begun = len(speaker.confirmed)
    speaker.speak(20)
    speaker.finish()
    assert speaker.confirmed[begun:].endswith(f" w{speaker.said[-1][1]}.")


def test_a_model_that_never_agrees_with_itself_keeps_nobody_waiting() -> None:
    speaker = Speaker()
    speaker.mumbles = True
    speaker.speak(30)
    num_waiting = len(speaker.said) - speaker.confirmed.count(".")
    assert 0 < num_waiting <= 8
    assert speaker.session.counts.num_forced == 0
    assert speaker.session.num_revisions == 0


def test_no_text_is_carried_over_a_long_silence() -> None:
    """Context and silence together make a model invent. (antirez PR#10, SimulStreaming#8)"""
    speaker = Speaker()
    speaker.speak(3)
    speaker.rest(1)
    speaker.speak(1)
    assert text_of(speaker.plans[-1].prefix)
    speaker.rest(5)
    num_plans = len(speaker.plans)
    speaker.speak(1)
    assert speaker.plans[num_plans].prefix == ()
    assert speaker.plans[num_plans].start > 9 * SAMPLE_RATE_HZ


def test_confirmed_text_leads_the_next_decode_and_the_tail_is_its_draft() -> None:
    speaker = Speaker()
    speaker.speak(4)
    plan = speaker.plans[-1]
    assert speaker.spoken.startswith(text_of(plan.prefix) + text_of(plan.draft))
    assert plan.draft


def test_loops_throw_the_context_away() -> None:
    """The same phrase for minutes: its context is the cause. (WhisperLiveKit#283, Qwen3-ASR#129)"""
    speaker = Speaker()
    speaker.speak(4)
    before = speaker.confirmed
    assert before
    speaker.reason = FinishReason.LOOP
    speaker.speak(2)
    assert speaker.session.counts.num_reanchored == 1
    speaker.reason = FinishReason.STOP
    speaker.speak(2)
    assert speaker.plans[-3].start >= round(0.4 * len(before) / 4 * SAMPLE_RATE_HZ)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken


def test_context_that_makes_the_model_deaf_is_thrown_away() -> None:
    """Output must not stop after a pause or a change of language. (whisper_streaming#54, #106)"""
    speaker = Speaker()
    speaker.speak(4)
    speaker.is_deaf_behind_prefix = True
    speaker.speak(6)
    assert speaker.session.counts.num_reanchored == 1
    speaker.is_deaf_behind_prefix = False
    speaker.speak(2)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken


def test_a_long_backlog_is_worked_off_in_full_windows() -> None:
    """As after a restart: two minutes at once, cut where it is quiet."""
    speaker = Speaker(delay_s=0.0)
    for _ in range(24):
        speaker.speak(4.5)
        speaker.rest(0.5)
    backlog = Speaker(delay_s=0.0)
    backlog.said = list(speaker.said)
    frames = Frames(speaker.session.hearing._speech.copy(), speaker.session.hearing._loudness.copy())
    first = speaker.session.hearing.first
    backlog.session = LiveSession(
        first_sample=first, max_window=MAX_WINDOW, confirmation=LocalAgreement(), language="en"
    )
    backlog.session.hearing.hear(frames, speaker.now - first)
    backlog.finish()
    expected = "".join(f" w{number}." for start, number in speaker.said if start >= first)
    assert backlog.confirmed == expected


def test_every_window_of_a_backlog_is_full() -> None:
    speaker = Speaker(delay_s=0.0)
    frames = round(120 * SAMPLE_RATE_HZ / FRAME_SAMPLES)
    speech = np.arange(frames) % 150 < 140
    speaker.said = [
        (index * FRAME_SAMPLES, number)
        for number, index in enumerate(range(0, frames, 16))
        if speech[index : index + 16].all()
    ]
    speaker.session.hearing.hear(Frames(speech, np.zeros(frames, np.float32)), frames * FRAME_SAMPLES)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken
    assert len(speaker.plans) <= 6
    assert all(plan.kind is ChunkKind.CLOSING for plan in speaker.plans)


def test_chunk_wise_models_are_asked_chunk_by_chunk() -> None:
    speaker = Speaker(confirmation=PrefixRollback())
    speaker.speak(12)
    gaps = np.diff([plan.end for plan in speaker.plans]) / SAMPLE_RATE_HZ
    assert gaps == pytest.approx(np.full(len(gaps), 2.0), abs=0.2)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken


def test_a_chunk_wise_model_hears_short_chunks_where_they_are_chosen() -> None:
    speaker = Speaker(confirmation=paced(PrefixRollback(), 0.5))
    speaker.speak(6)
    gaps = np.diff([plan.end for plan in speaker.plans]) / SAMPLE_RATE_HZ
    assert gaps == pytest.approx(np.full(len(gaps), 0.5), abs=0.11)
    assert paced(PrefixRollback(), 0.1).pace_s == 0.5
    assert paced(LocalAgreement(), 0.5) == LocalAgreement()


def test_a_chunk_wise_window_begins_anew_at_a_short_silence_with_the_words_behind_it() -> None:
    """Its tokens have no times, so no word would be a safe place; a silence within speech is."""
    speaker = Speaker(confirmation=PrefixRollback(anchor_s=15.0))
    dips = []
    for _ in range(12):
        speaker.speak(5)
        dips.append((speaker.now, speaker.now + round(0.4 * SAMPLE_RATE_HZ)))
        speaker.rest(0.4)
    speaker.finish()
    assert speaker.confirmed == speaker.spoken
    assert max(plan.end - plan.start for plan in speaker.plans) <= 24 * SAMPLE_RATE_HZ
    carried = {plan.start for plan in speaker.plans if plan.start and plan.prefix}
    assert len(carried) >= 3
    assert all(any(begin <= start <= end for begin, end in dips) for start in carried)
    assert speaker.session.counts.num_forced == 0


def test_a_chunk_wise_window_without_any_silence_is_cut_when_it_is_full() -> None:
    speaker = Speaker(confirmation=PrefixRollback())
    speaker.speak(90)
    speaker.finish()
    assert max(plan.end - plan.start for plan in speaker.plans) <= MAX_WINDOW
    assert speaker.session.counts.num_forced >= 2
