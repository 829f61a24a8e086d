"""Passes of fixed size say what the ordinary ones say, whatever records them, and give way where none can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from engine.adapters.base import Admission, Decode, RuntimeOptions
from engine.adapters.graphs import Plain, Recorder, Work
from engine.adapters.whisper.adapter import WhisperAdapter
from engine.adapters.whisper.features import log_mel
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.rules import Allowed, TokenRules
from engine.adapters.whisper.vocabulary import read_vocabulary
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey
from engine.protocol.transcript import Mode
from tests.helpers.checkpoints import recorded_speech, write_large_v3_shaped, write_large_v3_tokenizer

pytestmark = [pytest.mark.weights, pytest.mark.slow]

SPEECH = recorded_speech()
PIECES = (SPEECH, SPEECH[20_000:90_000], SPEECH[60_000:140_000], SPEECH[:30_000])
FAST = DecodingOptions(language="en", word_timestamps=True)
BEST = msgspec.structs.replace(FAST, mode=Mode.BEST)


class Tape:
    """Records as a graph does: what is played is what was recorded, on the same tensors, nothing else.

    `allowed` recordings succeed, then the device refuses.
    """

    def __init__(self, allowed: int = 10**6) -> None:
        self.num_recorded = 0
        self.num_played = 0
        self._allowed = allowed

    def record(self, work: Work) -> Work:
        if self.num_recorded >= self._allowed:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nmore lines")
        self.num_recorded += 1
        work()

        def play() -> None:
            self.num_played += 1
            work()

        return play


def load(folder: Path, recorder: Recorder | None) -> WhisperAdapter:
    network = load_whisper(folder, RuntimeOptions(device="cpu", dtype="float32", num_threads=1))
    if recorder is not None:
        network.record_with(recorder)
    return WhisperAdapter(network, read_vocabulary(folder), folder.name, 12)


@pytest.fixture(scope="module")
def random_folder(whisper_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_large_v3_shaped(tmp_path_factory.mktemp("models") / "random")
    write_large_v3_tokenizer(whisper_base, folder)
    return folder


def admission(index: int, options: DecodingOptions, attempt: int) -> Admission:
    pcm = PIECES[index].astype("<f4").tobytes()
    chunk = Chunk(key=RequestKey("job", index), kind=ChunkKind.FILE, start_sample=0, pcm=pcm, options=options)
    return Admission(chunk, attempt)


def answers(adapter: WhisperAdapter, attempt: int = 0) -> list[Decode]:
    """Let single rows and beams come and go, and return what each said."""

    def finish(decodes: Sequence[Decode]) -> None:
        while running := [decode for decode in decodes if decode.outcome is None]:
            adapter.step(running)

    first = adapter.admit([admission(0, FAST, attempt), admission(1, BEST, attempt)])
    for _ in range(3):
        adapter.step([decode for decode in first if decode.outcome is None])
    second = adapter.admit([admission(2, FAST, attempt), admission(3, FAST, attempt)])
    finish([*first, *second])
    adapter.release(first)
    third = adapter.admit([admission(1, FAST, attempt)])
    finish(third)
    adapter.release([*second, *third])
    return [*first, *second, *third]


def assert_same(ours: Sequence[Decode], theirs: Sequence[Decode]) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(one.outcome, Finished)
        assert isinstance(other.outcome, Finished)
        assert one.ids == other.ids
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-3)
        assert np.allclose(one.outcome.token_times, other.outcome.token_times, atol=0.05)


@pytest.mark.parametrize("make", [Plain, Tape])
def test_random_weights_say_the_same(random_folder: Path, make: Callable[[], Recorder]) -> None:
    # The attempt behind the last one is accepted whatever the guards say.
    assert_same(answers(load(random_folder, make()), 1), answers(load(random_folder, None), 1))


def test_recorded_speech_says_the_same(whisper_base: Path) -> None:
    tape = Tape()
    adapter = load(whisper_base, tape)
    assert_same(answers(adapter), answers(load(whisper_base, None)))
    assert adapter.device.endswith("CUDA graphs")
    assert tape.num_recorded < 12 < tape.num_played


def test_windows_are_encoded_together_as_alone(random_folder: Path) -> None:
    network = load_whisper(random_folder, RuntimeOptions(device="cpu", dtype="float32", num_threads=1))
    mel = log_mel([SPEECH[index * 9_000 :] for index in range(9)], network.config.dims.n_mels)
    alone = network.encode(mel)
    tape = Tape()
    network.record_with(tape)
    assert torch.allclose(network.encode(mel), alone, atol=1e-4)
    assert torch.allclose(network.encode(mel[3:4]), alone[3:4], atol=1e-4)
    assert tape.num_recorded == 2


def test_where_nothing_can_be_recorded_the_ordinary_pass_goes_on_and_says_why(random_folder: Path) -> None:
    adapter = load(random_folder, Tape(allowed=0))
    assert "without CUDA graphs (CUDA error: operation not permitted" in adapter.device
    assert "more lines" not in adapter.device
    assert_same(answers(adapter, 1), answers(load(random_folder, None), 1))


def test_a_device_that_refuses_later_is_asked_no_more(random_folder: Path) -> None:
    tape = Tape(allowed=3)
    adapter = load(random_folder, tape)
    assert adapter.device.endswith(", CUDA graphs")
    assert_same(answers(adapter, 1), answers(load(random_folder, None), 1))
    assert "without CUDA graphs" in adapter._network.described


def test_a_smaller_pool_is_recorded_anew(random_folder: Path) -> None:
    """A graph of the tensors that were given back would write into memory of somebody else."""
    tape = Tape()
    adapter = load(random_folder, tape)
    before = answers(adapter, 1)
    num_recorded = tape.num_recorded
    adapter.resize(8)
    assert_same(answers(adapter, 1), before)
    assert tape.num_recorded > num_recorded


def test_rules_for_all_rows_at_once_are_the_rules_for_each(whisper_base: Path) -> None:
    vocabulary = read_vocabulary(whisper_base)
    rules = TokenRules(vocabulary, (), (220, vocabulary.special.end))
    allowed = [
        Allowed(0, 50, text=text, end=end, is_start=is_start)
        for text in (True, False)
        for end in (True, False)
        for is_start in (True, False)
    ]
    logits = torch.randn(len(allowed), 51_865)
    together, apart = logits.clone(), logits.clone()
    rules.forbid_at_once(together, allowed)
    rules.forbid_one_by_one(apart, allowed)
    assert torch.equal(together, apart)
