"""Live chunks: whatever is remembered, drafted or forgotten on the way, each chunk says the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.adapters.base import Admission, Decode, OutOfMemory, PrefixRollback
from engine.adapters.quantised import is_exact
from engine.adapters.qwen3_asr.adapter import MEMORY, Qwen3Adapter
from engine.adapters.qwen3_asr.listening import MemoryLimits
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.manager.confirm import Hypothesis, Piece, confirmer_for
from engine.manager.live import Answer, LiveSession, Plan
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import SAMPLE_RATE_HZ, ChunkKind
from tests.helpers.qwen3_engine import NO_MEMORY, Engine, chunk_of, finished, load_engine, with_memory
from tests.helpers.tiny_qwen3 import NATIVE, Samples, phrases

WINDOW_BYTES = 104 * 2 * 2 * 2 * 32 * 4
"""Keys and values of a window in the tiny network."""
ONE_WINDOW = MemoryLimits(encoded_bytes=104 * 128 * 4, read_bytes=WINDOW_BYTES + 10_000)


@dataclass(frozen=True)
class Heard:
    """What came of one chunk."""

    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    confirmed: str
    tail: str


@pytest.fixture(scope="module")
def engine() -> Engine:
    return load_engine(NATIVE)


def stream(
    engine: Engine,
    pcm: Samples,
    ends: Sequence[int],
    language: str | None,
    *,
    drafts: bool,
    forget: frozenset[int] = frozenset(),
) -> list[Heard]:
    """Hear audio chunk by chunk as a live session does; before some chunks all memory is lost."""
    confirmer = confirmer_for(PrefixRollback(unfixed_s=2.0))
    confirmed = ""
    heard: list[Heard] = []
    for index, end in enumerate(ends):
        if index in forget:
            engine = with_memory(engine, MEMORY["cpu"])
        is_last = end == ends[-1]
        chunk = chunk_of(
            pcm[:end],
            kind=ChunkKind.CLOSING if is_last else ChunkKind.INTERIM,
            index=index,
            language=language,
            prefix=[piece.id for piece in confirmer.open],
            draft=[piece.id for piece in confirmer.tail] if drafts else (),
        )
        (decode,) = engine.answer(chunk)
        hypothesis = Hypothesis((*confirmer.open, *_pieces(engine, decode, end)), end)
        update = confirmer.finish(hypothesis) if is_last else confirmer.update(hypothesis)
        confirmed += update.confirmed_delta
        heard.append(Heard(tuple(decode.ids), tuple(decode.logprobs), confirmed, update.tail_text))
    return heard


def _pieces(engine: Engine, decode: Decode, end: int) -> tuple[Piece, ...]:
    texts = engine.text.pieces(decode.ids)
    return tuple(Piece(id_, text, end, end, end) for id_, text in zip(decode.ids, texts, strict=True))


@st.composite
def sounds(draw: st.DrawFn) -> Samples:
    """Draw phrases at levels that rise and fall, with silence, digital or not, between them."""
    spoken = phrases()
    parts: list[Samples] = []
    noise = np.random.default_rng(draw(st.integers(0, 99)))
    for _ in range(draw(st.integers(2, 5))):
        gain = draw(st.sampled_from([0.01, 0.1, 0.5, 1.0, 1.9]))
        parts.append(draw(st.sampled_from(spoken)).pcm * gain)
        silence = np.zeros(draw(st.integers(0, 3)) * 8000)
        hiss = noise.normal(size=len(silence)) * draw(st.sampled_from([0.0, 1e-5, 1e-3]))
        parts.append((silence + hiss).astype(np.float32))
    return np.clip(np.concatenate(parts), -1.0, 1.0).astype(np.float32)


@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(
    pcm=sounds(),
    steps=st.lists(st.sampled_from([0.5, 1.0, 2.0, 2.3, 4.1]), min_size=1, max_size=4),
    language=st.sampled_from([None, "en", "ko", "zh"]),
    forget=st.frozensets(st.integers(0, 12), max_size=4),
)
def test_memory_and_drafts_never_change_the_text(
    engine: Engine, pcm: Samples, steps: list[float], language: str | None, forget: frozenset[int]
) -> None:
    ends: list[int] = []
    while not ends or ends[-1] < len(pcm):
        step = round(steps[len(ends) % len(steps)] * SAMPLE_RATE_HZ)
        ends.append(min(len(pcm), (ends[-1] if ends else 0) + step))
    plain = stream(with_memory(engine, NO_MEMORY), pcm, ends, language, drafts=False)
    remembered = stream(with_memory(engine, MEMORY["cpu"]), pcm, ends, language, drafts=False)
    # To the last bit: the parts are read in the same way whether or not they are remembered.
    assert remembered == plain
    small = stream(with_memory(engine, ONE_WINDOW), pcm, ends, language, drafts=False, forget=forget)
    assert small == plain
    for memory, lost in (
        (NO_MEMORY, frozenset[int]()),
        (MEMORY["cpu"], frozenset[int]()),
        (ONE_WINDOW, forget),
    ):
        drafted = stream(with_memory(engine, memory), pcm, ends, language, drafts=True, forget=lost)
        for with_draft, without in zip(drafted, plain, strict=True):
            assert with_draft.ids == without.ids
            assert (with_draft.confirmed, with_draft.tail) == (without.confirmed, without.tail)
            assert with_draft.logprobs == pytest.approx(without.logprobs, abs=1e-4)


def joined(*names: str) -> Samples:
    known = {one.name: one.pcm for one in phrases()}
    return np.concatenate([known[name] for name in names])


@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
def test_memory_changes_no_bit_in_other_formats_either(dtype: str) -> None:
    if dtype == "int8" and not is_exact():
        pytest.skip("this processor does not multiply bytes exactly")
    engine = load_engine(NATIVE, dtype=dtype)
    pcm = joined("zh1", "ko1", "en1", "zh2", "ko2")
    ends = [*range(24_000, len(pcm), 24_000), len(pcm)]
    plain = stream(with_memory(engine, NO_MEMORY), pcm, ends, None, drafts=False)
    assert stream(with_memory(engine, MEMORY["cpu"]), pcm, ends, None, drafts=False) == plain


def test_confirmed_text_only_grows_and_has_no_broken_characters(engine: Engine) -> None:
    for language, names in (("ko", ("ko1", "ko2", "ko3")), ("zh", ("zh1", "zh2")), ("en", ("en1", "en3"))):
        pcm = joined(*names)
        ends = [*range(8000, len(pcm), 8000), len(pcm)]
        heard = stream(with_memory(engine, MEMORY["cpu"]), pcm, ends, language, drafts=True)
        for before, after in pairwise(heard):
            assert after.confirmed.startswith(before.confirmed)
        assert not any("\ufffd" in chunk.confirmed + chunk.tail for chunk in heard)
        assert heard[-1].tail == ""


def mel_seconds(engine: Engine, pcm: Samples, *ends_s: float) -> list[float]:
    """Return how many seconds of audio went through the encoder for each chunk of a stream."""
    counts = []
    for end_s in ends_s:
        before = engine.adapter.work.num_mel_frames
        chunk = chunk_of(pcm[: round(end_s * SAMPLE_RATE_HZ)], kind=ChunkKind.INTERIM, language="en")
        engine.answer(chunk)
        counts.append((engine.adapter.work.num_mel_frames - before) / 100)
    return counts


def test_what_was_heard_is_not_heard_again(engine: Engine) -> None:
    pcm = joined("en1", "ko1", "zh1", "en3", "zh2", "en2", "ko3", "zh3")
    # Nothing louder than its beginning, so nothing of what is far below that changes.
    pcm[:1600] = np.random.default_rng(0).normal(size=1600)
    assert mel_seconds(with_memory(engine, MEMORY["cpu"]), pcm, 10, 12, 14, 17) == [10, 4, 6, 9]
    assert mel_seconds(with_memory(engine, NO_MEMORY), pcm, 10, 12, 14, 17) == [10, 12, 14, 17]


def test_a_window_whose_numbers_change_is_heard_again(engine: Engine) -> None:
    """What is far below the loudest point is cut off: a louder sound that comes later changes the past."""
    hiss = np.random.default_rng(2).normal(size=20 * SAMPLE_RATE_HZ).astype(np.float32) * 1e-3
    hiss[: 4 * SAMPLE_RATE_HZ] *= 1e-3
    pcm = hiss.copy()
    pcm[12 * SAMPLE_RATE_HZ : 13 * SAMPLE_RATE_HZ] *= 900
    assert mel_seconds(with_memory(engine, MEMORY["cpu"]), hiss, 10, 14) == [10, 6]
    assert mel_seconds(with_memory(engine, MEMORY["cpu"]), pcm, 10, 14, 15) == [10, 14, 7]


def test_sessions_with_the_same_prompt_share_what_they_heard(engine: Engine) -> None:
    shared = with_memory(engine, MEMORY["cpu"])
    pcm = joined("en1", "ko1", "zh1", "en3", "zh2")
    first, second = (
        chunk_of(pcm, kind=ChunkKind.INTERIM, language="en", hotwords="Qwen", index=index) for index in (0, 1)
    )
    shared.answer(first)
    read = shared.adapter.work.num_read
    shared.answer(second)
    again = shared.adapter.work.num_read - read
    assert again < read - 104
    shared.answer(chunk_of(pcm, kind=ChunkKind.INTERIM, language="en", hotwords="other"))
    # Another prompt stands in front: nothing of what was read can be shared, but what was encoded can.
    assert shared.adapter.work.num_read - read - again >= read


def test_memory_is_bounded_in_bytes(engine: Engine) -> None:
    limits = MemoryLimits(encoded_bytes=3 * 104 * 128 * 4, read_bytes=3 * WINDOW_BYTES)
    bounded = with_memory(engine, limits)
    noise = np.random.default_rng(1).normal(size=40 * SAMPLE_RATE_HZ).astype(np.float32) * 0.1
    for seconds in (9, 17, 25, 33, 40):
        chunk = chunk_of(noise[: seconds * SAMPLE_RATE_HZ], kind=ChunkKind.INTERIM)
        bounded.adapter.release(bounded.adapter.admit([Admission(chunk)]))
        kept = bounded.adapter.num_kept_bytes
        assert WINDOW_BYTES < kept <= limits.encoded_bytes + limits.read_bytes


def test_what_does_not_fit_is_forgotten_from_its_end(engine: Engine) -> None:
    """A window is of no use without all that stands in front of it: that must not be the first to go."""
    limits = MemoryLimits(encoded_bytes=0, read_bytes=2 * WINDOW_BYTES + 20_000)
    bounded = with_memory(engine, limits)
    pcm = np.random.default_rng(1).normal(size=33 * SAMPLE_RATE_HZ).astype(np.float32) * 0.1
    recalled = []
    for _ in range(4):
        before = bounded.adapter.work.num_recalled
        bounded.answer(chunk_of(pcm, kind=ChunkKind.INTERIM, language="en"))
        recalled.append(bounded.adapter.work.num_recalled - before)
    assert recalled[0] == 0
    assert min(recalled[1:]) > 104


class Cramped(Qwen3Asr):
    """A network on a device that has little room beside what is remembered."""

    adapter: Qwen3Adapter
    room_bytes: int

    @classmethod
    def like(cls, network: Qwen3Asr, room_bytes: int) -> Cramped:
        cramped = cls.__new__(cls)
        vars(cramped).update(vars(network))
        cramped.room_bytes = room_bytes
        return cramped

    def encode(self, mel: Tensor) -> Tensor:
        if self.adapter.num_kept_bytes > self.room_bytes:
            raise OutOfMemory
        return super().encode(mel)


def test_what_is_remembered_goes_before_anybody_is_turned_away(engine: Engine) -> None:
    network = Cramped.like(engine.network, room_bytes=2 * WINDOW_BYTES)
    adapter = Qwen3Adapter(network, engine.vocabulary, "tiny", 2, MEMORY["cpu"])
    network.adapter = adapter
    cramped = Engine(network, adapter, engine.vocabulary, engine.text)
    for names in (("en1", "ko1", "zh1", "en3"), ("ko1", "en1", "en3", "zh2"), ("zh1", "zh2", "ko1", "en1")):
        chunk = chunk_of(joined(*names)[: 10 * SAMPLE_RATE_HZ], kind=ChunkKind.INTERIM, language="en")
        (decode,) = cramped.answer(chunk)
        assert decode.ids == engine.answer(chunk)[0].ids
    too_long = chunk_of(joined(*["en1"] * 20)[: 26 * SAMPLE_RATE_HZ], kind=ChunkKind.INTERIM, language="en")
    with pytest.raises(OutOfMemory):
        adapter.admit([Admission(too_long)])
    assert cramped.hear(joined("ko1"), language="ko") == engine.hear(joined("ko1"), language="ko")


def test_a_stream_that_begins_anew_on_the_way_loses_and_repeats_nothing(engine: Engine) -> None:
    """The window moves to a short silence of the past and goes on with the words behind it as its prefix."""
    spoken = [one for name in ("ko1", "ko3", "ko2", "ko0") * 3 for one in phrases() if one.name == name]
    session = LiveSession(
        first_sample=0,
        max_window=14 * SAMPLE_RATE_HZ,
        confirmation=PrefixRollback(pace_s=1.0, unfixed_s=2.0, anchor_s=9.0),
        language="ko",
    )
    gap = np.zeros(round(0.1 * SAMPLE_RATE_HZ), np.float32)
    pcm = np.concatenate([part for one in spoken for part in (one.pcm, gap)])
    listening = with_memory(engine, MEMORY["cpu"])
    plans: list[Plan] = []
    told = ""
    for first in range(0, len(pcm), FRAME_SAMPLES * 4):
        told += _go_on(session, listening, pcm, min(len(pcm), first + FRAME_SAMPLES * 4), plans)
    session.flush()
    told += _go_on(session, listening, pcm, len(pcm), plans)
    assert told == "".join(one.told for one in spoken)
    assert len({plan.start for plan in plans if plan.start and plan.prefix}) >= 2
    assert session.counts.num_forced == 0


def _go_on(session: LiveSession, engine: Engine, pcm: Samples, end: int, plans: list[Plan]) -> str:
    """Let a session hear audio up to `end`, answer what it asks for, and return what it confirms."""
    heard = session.received
    frames = np.abs(pcm[heard : heard + (end - heard) // FRAME_SAMPLES * FRAME_SAMPLES])
    loud = frames.reshape(-1, FRAME_SAMPLES).max(axis=1) > 0.01
    session.hearing.hear(Frames(loud, np.zeros(len(loud), np.float32)), end - heard)
    told = ""
    while (found := session.next()) is not None:
        if isinstance(found, Plan):
            plans.append(found)
            update = session.answer(_answer(engine, pcm, found))
        else:
            update = found
        told += update.confirmed_delta if update is not None else ""
    return told


def _answer(engine: Engine, pcm: Samples, plan: Plan) -> Answer:
    chunk = chunk_of(
        pcm[plan.start : plan.end],
        kind=plan.kind,
        index=plan.index,
        language=plan.language,
        prefix=[piece.id for piece in plan.prefix],
        draft=[piece.id for piece in plan.draft],
    )
    (decode,) = engine.answer(chunk)
    done = finished(decode)
    pieces = _pieces(engine, decode, plan.end)
    return Answer(plan.index, pieces, done.reason, done.is_suspect, decode.language, 1.0)
