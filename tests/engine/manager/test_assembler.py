"""Answers in any order become one story: append-only, in time order, the same text twice told."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.manager.assembler import Assembler, Told
from engine.messages import Finished, FinishReason, MediaChunk, RequestKey, StrOutput
from engine.protocol.events import Confirmed, SegmentDone, Tail
from engine.protocol.transcript import Segment, Word

JOB = "job"
SECOND = 16_000
FINISHED = Finished(
    reason=FinishReason.STOP,
    temperature=0.0,
    avg_logprob=-0.1,
    no_speech_prob=0.0,
    compression_ratio=1.0,
    num_samples=30 * SECOND,
)


def chunk(index: int, start_s: float, end_s: float, *, overlap_s: float = 0, next_s: float = 0) -> MediaChunk:
    return MediaChunk(
        job=JOB,
        index=index,
        start_sample=int(start_s * SECOND),
        overlap_samples=int(overlap_s * SECOND),
        next_overlap_samples=int(next_s * SECOND),
        pcm=bytes(4 * int((end_s - start_s) * SECOND)),
        speech_samples=SECOND,
    )


def partial(index: int, delta: str, attempt: int = 0, *, is_first: bool = False) -> StrOutput:
    return StrOutput(key=RequestKey(JOB, index, attempt), delta=delta, is_first=is_first)


def answer(index: int, *segments: tuple[str, float, float], attempt: int = 0, delta: str = "") -> StrOutput:
    return StrOutput(
        key=RequestKey(JOB, index, attempt),
        delta=delta,
        segments=tuple(Segment(text=text, start=start, end=end) for text, start, end in segments),
        finished=FINISHED,
    )


def deltas(told: list[Told]) -> str:
    return "".join(event.delta for event in told if isinstance(event, Confirmed))


def segments_of(told: list[Told]) -> list[Segment]:
    return [event.segment for event in told if isinstance(event, SegmentDone)]


def test_text_streams_as_the_tail_and_is_confirmed_when_the_chunk_is_answered() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 2.0, 10.0))
    assert assembler.answer(partial(0, " Hel")) == [Tail(job=JOB, text=" Hel")]
    assert assembler.answer(partial(0, "lo")) == [Tail(job=JOB, text=" Hello")]
    told = assembler.answer(answer(0, (" Hello.", 0.5, 3.0)))
    assert told == [
        Confirmed(job=JOB, delta=" Hello."),
        SegmentDone(job=JOB, segment=Segment(text=" Hello.", start=2.5, end=5.0, seek=200)),
        Tail(job=JOB, text=""),
    ]
    assert not assembler.is_complete
    assert assembler.end(1, 20 * SECOND) == []
    assert assembler.is_complete
    assert assembler.done_samples == 20 * SECOND


def test_a_later_answer_waits_for_the_earlier_one() -> None:
    assembler = Assembler(JOB)
    for index in range(3):
        assembler.add_chunk(chunk(index, 10.0 * index, 10.0 * index + 10))
    assert assembler.answer(answer(2, (" c", 0, 1))) == []
    assert assembler.answer(partial(1, " b?")) == []
    told = assembler.answer(answer(0, (" a", 0, 1)))
    assert deltas(told) == " a"
    assert told[-1] == Tail(job=JOB, text=" b?")
    assert assembler.done_samples == 10 * SECOND
    assert deltas(assembler.skip(1)) == " c"
    assert assembler.done_samples == 30 * SECOND


def test_a_retry_replaces_what_was_streamed() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 0, 10))
    assembler.answer(partial(0, " loop loop loop"))
    assert assembler.answer(partial(0, " Now", attempt=1)) == [Tail(job=JOB, text=" Now")]
    assert deltas(assembler.answer(answer(0, (" Now right.", 0, 2), attempt=1))) == " Now right."


def test_a_chunk_that_is_sent_again_starts_its_text_again() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 0, 10))
    assembler.answer(partial(0, " half a"))
    assert assembler.restart(0) == [Tail(job=JOB, text="")]
    assert assembler.answer(partial(0, " half", is_first=True)) == [Tail(job=JOB, text=" half")]


def test_doubled_late_and_unknown_answers_are_ignored() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 0, 10))
    assembler.add_chunk(chunk(1, 10, 20))
    assembler.answer(answer(0, (" a", 0, 1)))
    assert assembler.answer(answer(0, (" a", 0, 1))) == []
    assert assembler.answer(partial(0, " late")) == []
    assert assembler.answer(answer(7, (" never", 0, 1))) == []
    assert assembler.skip(0) == assembler.restart(0) == []
    assembler.answer(answer(1, (" b", 0, 1)))
    assert assembler.skip(1) == []


def test_text_without_segments_is_one_segment_over_the_chunk() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 1, 3))
    (only,) = segments_of(assembler.answer(answer(0, delta=" Yes.")))
    assert (only.text, only.start, only.end) == (" Yes.", 1.0, 3.0)


def test_a_silent_chunk_is_told_by_nothing_but_progress() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 0, 10))
    assert assembler.answer(answer(0, ("  ", 0, 1))) == []
    assert assembler.done_samples == 10 * SECOND


def test_silence_moves_progress_only_when_nothing_waits() -> None:
    assembler = Assembler(JOB)
    assembler.nothing_until(5 * SECOND)
    assert assembler.done_samples == 5 * SECOND
    assembler.add_chunk(chunk(0, 6, 10))
    assembler.nothing_until(40 * SECOND)
    assert assembler.done_samples <= 6 * SECOND
    assembler.skip(0)
    assert assembler.done_samples == 40 * SECOND


def test_an_empty_recording_is_complete_at_its_end() -> None:
    assembler = Assembler(JOB)
    assert assembler.end(0, SECOND) == []
    assert assembler.is_complete


def test_a_word_over_a_forced_cut_is_told_once() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 0, 10, next_s=2))
    assembler.add_chunk(chunk(1, 8, 16, overlap_s=2))
    held = assembler.answer(answer(0, (" one two three four", 0, 10)))
    assert deltas(held) == ""
    assert held[-1] == Tail(job=JOB, text=" one two three four")
    told = assembler.answer(answer(1, (" three four five", 0, 8)))
    assert deltas(told) == " one two three four five"
    first, second = segments_of(told)
    assert first.end <= second.start
    assert assembler.end(2, 16 * SECOND) == []
    assert assembler.is_complete


def test_a_forced_cut_whose_second_half_never_came_is_told_at_the_end() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 0, 10, next_s=2))
    assembler.answer(answer(0, (" one two", 0, 10)))
    assert deltas(assembler.end(1, 10 * SECOND)) == " one two"


def test_times_that_go_back_and_forth_are_resumed_like_any_other() -> None:
    """A resumed job once told segments again: their times had been moved by one that was stitched away."""
    chunks = [chunk(0, 0.0, 4.0, next_s=2.0), chunk(1, 2.0, 8.0, overlap_s=2.0)]
    answers = [answer(0), answer(1, (" a", 0.0, 3.0), (" b", 0.0, 0.0), (" c", 0.0, 3.0))]
    recording = Recording(chunks, answers, 9 * SECOND)
    whole = segments_of(play(recording, 0))
    boundary = round(whole[-1].end * SECOND)
    assert segments_of(play(recording, 0, resume_at_sample=boundary)) == []


def test_words_keep_their_place_in_the_recording() -> None:
    assembler = Assembler(JOB)
    assembler.add_chunk(chunk(0, 5, 15))
    word = Word(text=" hi", start=1.0, end=1.5, probability=0.9)
    output = StrOutput(
        key=RequestKey(JOB, 0),
        delta="",
        segments=(Segment(text=" hi", start=1.0, end=1.6, words=(word,)),),
        finished=FINISHED,
    )
    (only,) = segments_of(assembler.answer(output))
    assert (only.words[0].start, only.words[0].end) == (6.0, 6.5)


def test_after_a_resume_only_what_follows_the_boundary_is_told() -> None:
    assembler = Assembler(JOB, resume_at_sample=int(33.0 * SECOND))
    assert assembler.done_samples == 33 * SECOND
    assembler.add_chunk(chunk(4, 30, 60))
    assert assembler.answer(partial(4, " old new")) == []
    told = assembler.answer(answer(4, (" old", 0.0, 3.0), (" new", 3.0, 6.0)))
    assert deltas(told) == " new"
    assert segments_of(told)[0].start == pytest.approx(33.0)
    assembler.end(5, 60 * SECOND)
    assert assembler.is_complete


def test_a_resume_behind_the_last_chunk_has_nothing_to_tell() -> None:
    assembler = Assembler(JOB, resume_at_sample=60 * SECOND)
    assembler.nothing_until(30 * SECOND)
    assert assembler.end(3, 61 * SECOND) == []
    assert assembler.is_complete
    assert assembler.done_samples == 61 * SECOND


@dataclass(frozen=True, repr=False)
class Recording:
    """A made-up recording: chunks, some overlapping, and what each is answered with."""

    chunks: list[MediaChunk]
    answers: list[StrOutput]
    num_samples: int

    def __repr__(self) -> str:
        return "\n".join(
            f"{c.start_sample / SECOND:.2f}+{len(c.pcm) / 4 / SECOND:.2f} next {c.next_overlap_samples}: "
            f"{[(s.text, s.start, s.end) for s in a.segments]}"
            for c, a in zip(self.chunks, self.answers, strict=True)
        )


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    chunks, answers = [], []
    position = 0.0
    overlap = 0.0
    count = draw(st.integers(0, 7))
    word = 0
    for index in range(count):
        length = draw(st.sampled_from([0.3, 4.0, 12.0, 30.0]))
        following = 0.0 if index == count - 1 or length < 4 else draw(st.sampled_from([0.0, 0.0, 2.0]))
        start = position - overlap
        end = position + length
        chunks.append(chunk(index, start, end, overlap_s=overlap, next_s=following))
        parts = []
        for _ in range(draw(st.integers(0, 4))):
            at = draw(st.floats(-1.0, end - start + 1))
            parts.append((f" w{word} x{word}", at, at + draw(st.floats(-0.5, 6.0))))
            word += 1
        answers.append(answer(index, *parts))
        overlap = following
        position = end if following else end + draw(st.sampled_from([0.0, 3.0]))
    return Recording(chunks, answers, int((position + 1) * SECOND))


def play(recording: Recording, seed: int, resume_at_sample: int = 0) -> list[Told]:
    """Tell the chunks in order and their answers in any, with partial text, retries and doubles."""
    shuffle = random.Random(seed)
    assembler = Assembler(JOB, resume_at_sample=resume_at_sample)
    told: list[Told] = []
    waiting: list[StrOutput] = []
    coming = [c for c in recording.chunks if c.start_sample + len(c.pcm) // 4 + 8000 > resume_at_sample]
    done = 0
    while coming or waiting:
        if coming and (not waiting or shuffle.random() < 0.5):
            next_chunk = coming.pop(0)
            told += assembler.add_chunk(next_chunk)
            waiting.append(recording.answers[next_chunk.index])
        else:
            output = waiting.pop(shuffle.randrange(len(waiting)))
            index = output.key.chunk
            text = "".join(segment.text for segment in output.segments)
            if shuffle.random() < 0.3:
                told += assembler.answer(partial(index, text[:5], attempt=1))
            told += assembler.answer(partial(index, text[:3], is_first=True))
            told += assembler.answer(output)
            if shuffle.random() < 0.3:
                told += assembler.answer(output)
        assert assembler.done_samples >= done
        done = assembler.done_samples
    told += assembler.end(len(recording.chunks), recording.num_samples)
    assert assembler.is_complete
    return told


@settings(max_examples=150, deadline=None, derandomize=True)
@given(recording=recordings(), seed=st.integers(0, 1000))
def test_whatever_the_order_the_story_is_the_same_and_sound(recording: Recording, seed: int) -> None:
    told = play(recording, seed)
    segments = segments_of(told)
    assert deltas(told) == "".join(segment.text for segment in segments)
    for segment in segments:
        assert 0 <= segment.start < segment.end <= recording.num_samples / SECOND
    for one, other in pairwise(segments):
        assert one.end <= other.start
    for one, other in pairwise(told):
        assert isinstance(other, SegmentDone) == isinstance(one, Confirmed)
    tails = [event.text for event in told if isinstance(event, Tail)]
    assert not tails or tails[-1] == ""
    assert segments == segments_of(play(recording, seed + 1))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(recording=recordings(), seed=st.integers(0, 1000), place=st.floats(0, 1))
def test_a_resumed_story_goes_on_where_the_stored_one_ended(
    recording: Recording, seed: int, place: float
) -> None:
    whole = segments_of(play(recording, seed))
    num_stored = int(place * len(whole))
    boundary = round(whole[num_stored - 1].end * SECOND) if num_stored else 0
    resumed = segments_of(play(recording, seed + 1, resume_at_sample=boundary))
    assert [s.text for s in whole[:num_stored] + resumed] == [s.text for s in whole]
    if resumed and num_stored:
        assert whole[num_stored - 1].end <= resumed[0].start + 0.001
