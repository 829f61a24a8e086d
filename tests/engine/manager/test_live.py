"""When a live session decodes, driven by frames and answers alone: no clock, no audio, no model."""

from __future__ import annotations

import numpy as np
import pytest

from engine.adapters.base import Confirmation, LocalAgreement, PrefixRollback
from engine.manager.confirm import Piece, Update, paced, text_of
from engine.manager.live import Answer, LiveSession, Plan
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import SAMPLE_RATE_HZ, ChunkKind, FinishReason

MAX_WINDOW = 29 * SAMPLE_RATE_HZ
SLACK = 2 * FRAME_SAMPLES
WORD_SAMPLES = SAMPLE_RATE_HZ // 2


class Speaker:
    """A session, somebody who speaks a numbered word each half second, and a model that hears them all.

    `speak` and `rest` let time go by in tenths of a second; a decode that was asked for is answered
    after `delay_s` by what was said in its audio, unless the speaker is told to `mumble`.
    """

    def __init__(
        self,
        *,
        language: str | None = "en",
        delay_s: float = 0.3,
        confirmation: Confirmation | None = None,
        first_sample: int = 0,
    ) -> None:
        self.session = LiveSession(
            first_sample=first_sample,
            max_window=MAX_WINDOW,
            confirmation=confirmation or LocalAgreement(),
            language=language,
        )
        self.plans: list[Plan] = []
        self.confirmed = ""
        self.said: list[tuple[int, int]] = []
        """Start sample and number of each word."""
        self.delay_s = delay_s
        self.mumbles = False
        """Every answer is different from the one before."""
        self.reason = FinishReason.STOP
        self.is_deaf_behind_prefix = False
        self.language, self.probability = "en", 0.99
        self._due: list[tuple[int, Plan]] = []
        self._next_word = 0

    @property
    def now(self) -> int:
        return self.session.received

    @property
    def spoken(self) -> str:
        return "".join(f" w{number}." for _, number in self.said)

    def speak(self, seconds: float) -> None:
        self._go(seconds, has_speech=True)

    def rest(self, seconds: float) -> None:
        self._go(seconds, has_speech=False)

    def finish(self) -> None:
        """Flush, and wait for the answers."""
        self.session.flush()
        self._ask()
        while self._due:
            self._answer(self._due.pop(0)[1])
            self._ask()

    def _go(self, seconds: float, *, has_speech: bool) -> None:
        end = self.now + round(seconds * SAMPLE_RATE_HZ)
        if has_speech:
            self._next_word = max(self.now, self._next_word)
        while self.now < end:
            step = min(SAMPLE_RATE_HZ // 10, end - self.now)
            # A word counts as said when half of it is.
            while has_speech and self._next_word + WORD_SAMPLES // 2 <= self.now + step:
                self.said.append((self._next_word, len(self.said) + 1))
                self._next_word += WORD_SAMPLES
            num_frames = (self.now + step) // FRAME_SAMPLES - self.now // FRAME_SAMPLES
            flags = np.full(num_frames, has_speech, np.bool_)
            self.session.hearing.hear(Frames(flags, np.zeros(num_frames, np.float32)), step)
            self._ask()
            while self._due and self._due[0][0] <= self.now:
                self._answer(self._due.pop(0)[1])
                self._ask()

    def _ask(self) -> None:
        while (found := self.session.next()) is not None:
            if isinstance(found, Plan):
                self.plans.append(found)
                self._due.append((self.now + round(self.delay_s * SAMPLE_RATE_HZ), found))
            else:
                self._take(found)

    def _answer(self, plan: Plan) -> None:
        update = self.session.answer(
            Answer(
                index=plan.index,
                pieces=self._hear(plan),
                reason=self.reason,
                is_suspect=self.reason is not FinishReason.STOP,
                language=plan.language or self.language,
                language_probability=self.probability,
            )
        )
        if update is not None:
            self._take(update)

    def _take(self, update: Update) -> None:
        self.confirmed += update.confirmed_delta

    def _hear(self, plan: Plan) -> tuple[Piece, ...]:
        if plan.prefix and self.is_deaf_behind_prefix:
            return ()
        reached = plan.prefix[-1].end if plan.prefix else plan.start
        heard = []
        for start, number in self.said:
            end = start + WORD_SAMPLES
            if reached - SLACK <= start and plan.start <= start and start + WORD_SAMPLES // 2 <= plan.end:
                name = f" w{number}." if not self.mumbles else f" m{plan.index}."
                end = min(end, plan.end)
                heard.append(Piece(hash(name), name.encode(), start, end, (start + end) // 2, -0.1))
        return tuple(heard)


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


def test_an_utterance_late_in_a_window_gets_one_of_its_own() -> None:
    speaker = Speaker()
    for _ in range(6):
        speaker.speak(3)
        speaker.rest(1)
    assert max(plan.end - plan.start for plan in speaker.plans) <= 18 * SAMPLE_RATE_HZ
    speaker.finish()
    assert speaker.confirmed == speaker.spoken


def test_a_knock_is_not_decoded() -> None:
    speaker = Speaker()
    speaker.rest(1)
    speaker.speak(0.1)
    speaker.rest(3)
    speaker.finish()
    assert speaker.plans == []


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


def test_a_window_moves_on_and_never_grows_past_what_fits() -> None:
    speaker = Speaker()
    speaker.speak(120)
    speaker.rest(1)
    assert max(plan.end - plan.start for plan in speaker.plans) <= 25 * SAMPLE_RATE_HZ
    assert speaker.confirmed == speaker.spoken
    assert speaker.session.counts.num_forced == 0


def test_a_model_that_never_agrees_with_itself_is_confirmed_when_the_window_is_full() -> None:
    """The buffer must not grow for ever. (whisper_streaming#152: 39 minutes, #54)"""
    speaker = Speaker()
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
