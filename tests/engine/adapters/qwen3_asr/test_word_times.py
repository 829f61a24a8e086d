"""With a companion a transcript has words that were measured; without one, sentences where speech was."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
import soundfile

from engine.adapters.base import Admission, Decode, OutOfMemory, RuntimeOptions
from engine.adapters.qwen3_asr.adapter import Qwen3Adapter, load_adapter
from engine.adapters.qwen3_asr.aligner import Companion, Samples
from engine.adapters.qwen3_asr.aligning import TokenTimes
from engine.adapters.qwen3_asr.config import read_config
from engine.adapters.qwen3_asr.text import Qwen3Text
from engine.adapters.qwen3_asr.vocabulary import read_vocabulary
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey
from engine.protocol.transcript import Segment, TimeSource
from tests.helpers.tiny_aligner import TINY


class EvenAligner(Companion):
    """A companion that finds each token a tenth of a second long, the first two by guessing."""

    def __init__(self) -> None:
        super().__init__(None, RuntimeOptions())
        self.num_prepared = self.num_aligned = 0

    @property
    def is_ready(self) -> bool:
        return True

    def prepare(self) -> None:
        self.num_prepared += 1

    def align(self, pcm: Samples, pieces: Sequence[bytes], language: str | None) -> TokenTimes | None:
        assert all(pieces) and len(pcm) and language == "ko"
        self.num_aligned += 1
        spans = tuple((0.1 * place, 0.1 * place + 0.1) for place in range(len(pieces)))
        return TokenTimes(spans, (0, 1))


@pytest.fixture
def adapter() -> Qwen3Adapter:
    made = load_adapter(TINY, RuntimeOptions(device="cpu", dtype="float32", num_threads=1))
    made.companion = EvenAligner()
    return made


def chunk(kind: ChunkKind = ChunkKind.FILE, *, wants_words: bool = True) -> Chunk:
    pcm, _ = soundfile.read(TINY / "audio" / "ko1.wav", dtype="float32")
    return Chunk(
        key=RequestKey("job", 0),
        kind=kind,
        start_sample=0,
        pcm=pcm.astype("<f4").tobytes(),
        options=DecodingOptions(word_timestamps=wants_words),
        speech=((0.1, 1.2),),
    )


def decode(adapter: Qwen3Adapter, asked: Chunk) -> Decode:
    (running,) = adapter.admit([Admission(asked)])
    while running.outcome is None:
        adapter.step([running])
    adapter.release([running])
    return running


def segments(done: Decode) -> tuple[Segment, ...]:
    text = Qwen3Text(read_vocabulary(TINY, read_config(TINY)))
    assert isinstance(done.outcome, Finished)
    return text.segments(done.ids, done.logprobs, done.outcome)


def test_words_of_a_file_are_measured(adapter: Qwen3Adapter) -> None:
    done = decode(adapter, chunk())
    assert isinstance(done.outcome, Finished)
    assert done.outcome.times_source is TimeSource.ALIGNED
    assert len(done.outcome.token_times) == len(done.ids)
    found = segments(done)
    words = [word for segment in found for word in segment.words]
    assert len(words) > 1
    assert "".join(word.text for word in words) == "".join(segment.text for segment in found)
    assert {word.time_source for word in words} == {TimeSource.ALIGNED, TimeSource.INTERPOLATED}


@pytest.mark.parametrize(
    ("kind", "wants_words"), [(ChunkKind.FILE, False), (ChunkKind.INTERIM, True), (ChunkKind.CLOSING, True)]
)
def test_nothing_is_aligned_that_nobody_wants_or_that_is_live(
    adapter: Qwen3Adapter, kind: ChunkKind, wants_words: bool
) -> None:
    done = decode(adapter, chunk(kind, wants_words=wants_words))
    assert isinstance(done.outcome, Finished)
    assert done.outcome.token_times == ()
    assert isinstance(adapter.companion, EvenAligner)
    assert adapter.companion.num_prepared == 0, "it is not even loaded"


def test_words_are_measured_one_answer_a_step_so_that_nothing_else_waits_long(adapter: Qwen3Adapter) -> None:
    """Eight answers that end together would have kept a slow machine busy for longer than a hang lasts."""
    asked = [msgspec.structs.replace(chunk(), key=RequestKey("job", index)) for index in range(3)]
    running = adapter.admit([Admission(one) for one in asked])
    companion = adapter.companion
    assert isinstance(companion, EvenAligner)
    while not companion.num_aligned:
        adapter.step(running)
    ended = [decode for decode in running if decode.outcome is not None]
    assert (companion.num_aligned, len(ended)) == (1, 1)
    adapter.release([running[1]])
    rest = [decode for decode in running if decode.outcome is None and decode is not running[1]]
    adapter.step(rest)
    assert (companion.num_aligned, rest[0].outcome is not None) == (2, True)
    adapter.release([decode for decode in running if decode is not running[1]])


def test_an_answer_that_is_admitted_beside_one_that_fails_is_let_go(adapter: Qwen3Adapter) -> None:
    """It waited for its words already; the scheduler admits it again, as another."""
    foretold = tuple(decode(adapter, chunk()).ids)
    options = DecodingOptions(word_timestamps=True, language="ko")
    asked = msgspec.structs.replace(chunk(), options=options, draft_ids=foretold)
    adapter.resize(1)
    num_before = num_decodes()
    with pytest.raises(OutOfMemory):
        adapter.admit([Admission(asked), Admission(chunk())])
    assert num_decodes() == num_before
    assert decode(adapter, asked).ids == list(foretold)


def num_decodes() -> int:
    """Return how many decodings there are anywhere in memory."""
    gc.collect()
    return sum(type(found) is Decode for found in gc.get_objects())


def test_without_a_companion_a_sentence_lies_where_speech_was() -> None:
    runtime = RuntimeOptions(device="cpu", dtype="float32", num_threads=1)
    adapter = load_adapter(TINY, runtime)
    asked = chunk()
    done = decode(adapter, asked)
    assert isinstance(done.outcome, Finished)
    done.outcome = msgspec.structs.replace(done.outcome, speech=asked.speech)
    (segment,) = segments(done)
    assert (segment.start, segment.end, segment.time_source) == (0.1, 1.2, TimeSource.VAD)
    assert segment.words == ()


def test_a_companion_that_is_not_there_is_not_missed(tmp_path: Path) -> None:
    runtime = RuntimeOptions(
        device="cpu", dtype="float32", num_threads=1, companion_folder=str(tmp_path / "not there")
    )
    done = decode(load_adapter(TINY, runtime), chunk())
    assert isinstance(done.outcome, Finished)
    assert done.outcome.token_times == ()
