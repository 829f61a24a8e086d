"""The aligner says what transformers' classes say, in both layouts, and is taken for nothing else."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.adapters.qwen3_asr.aligner import Companion, ForcedAligner, load_aligner
from engine.adapters.qwen3_asr.aligning import token_times, units_of
from engine.adapters.qwen3_asr.config import Kind
from engine.adapters.qwen3_asr.load import load_network
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.qwen3_asr.vocabulary import read_vocabulary
from engine.protocol.failures import FailureError, FailureKind
from tests.helpers.tiny_aligner import TINY, make_native_aligner, make_original_aligner

RUNTIME = RuntimeOptions(device="cpu", dtype="float32", num_threads=1)
TEXTS = (
    "The cat sat on the mat. Hello world, it's fine!",
    "오늘 날씨가 좋아요. 내일 봐요!",
    "请打开窗户。OK吗？",
    "one two three four five six seven eight nine ten " * 3,
)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_native_aligner(tmp_path_factory.mktemp("aligner"))


@pytest.fixture(scope="module")
def original(native: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_original_aligner(native, tmp_path_factory.mktemp("original") / "aligner")


@pytest.fixture(scope="module")
def aligner(native: Path) -> ForcedAligner:
    return load_aligner(native, RUNTIME)


@pytest.fixture(scope="module")
def reference(native: Path) -> tuple[Any, Any]:
    from transformers import Qwen3ASRForTokenClassification, Qwen3ASRProcessor

    model = Qwen3ASRForTokenClassification.from_pretrained(native, dtype=torch.float32).eval()
    return model, Qwen3ASRProcessor.from_pretrained(native)


def speech(num_phrases: int) -> np.ndarray:
    files = sorted((TINY / "audio").glob("*.wav"))[:num_phrases]
    return np.concatenate([soundfile.read(file, dtype="float32")[0] for file in files])


def pieces_of(text: str) -> list[bytes]:
    """Cut into tokens of two characters, whatever they are."""
    return [text[place : place + 2].encode() for place in range(0, len(text), 2)]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("num_phrases", [1, 8])
def test_words_lie_where_the_reference_puts_them(
    aligner: ForcedAligner, reference: tuple[Any, Any], text: str, num_phrases: int
) -> None:
    model, processor = reference
    pcm = speech(num_phrases)
    inputs, word_lists = processor.prepare_forced_aligner_inputs(pcm, text)
    with torch.inference_mode():
        logits = model(**inputs).logits
    (expected,) = processor.decode_forced_alignment(
        logits, inputs["input_ids"], word_lists, model.config.timestamp_token_id
    )
    pieces = [character.encode() for character in text]
    units = units_of(pieces)
    assert [unit.text for unit in units] == [word["text"] for word in expected]
    said = aligner.times(pcm, [unit.text for unit in units])
    assert said is not None
    assert len(set(said)) > 1, "a network that says the same everywhere proves nothing"
    times = token_times(len(pieces), units, [1000 * time for time in said])
    found = [(times.spans[unit.first][0], times.spans[unit.last][1]) for unit in units]
    assert found == [pytest.approx((word["start_time"], word["end_time"])) for word in expected]


def test_both_layouts_say_the_same(aligner: ForcedAligner, original: Path) -> None:
    other = load_aligner(original, RUNTIME)
    pcm = speech(3)
    words = TEXTS[0].split()
    assert aligner.times(pcm, words) == other.times(pcm, words)


def test_an_aligner_is_no_recogniser_and_a_recogniser_no_aligner(native: Path, original: Path) -> None:
    for folder in (native, original):
        with pytest.raises(FailureError) as refused:
            load_network(folder, RUNTIME, Kind.RECOGNISER)
        assert refused.value.failure.kind is FailureKind.MODEL_IS_ALIGNER
        assert "aligner" in refused.value.failure.message
    with pytest.raises(FailureError) as refused:
        load_aligner(TINY, RUNTIME)
    assert refused.value.failure.kind is FailureKind.MODEL_NO_ALIGNER


def test_text_without_words_and_audio_without_end_are_not_aligned(aligner: ForcedAligner) -> None:
    assert aligner.align(speech(1), [b" ", b"...", "♪".encode()]) is None
    assert aligner.align(np.zeros(0, np.float32), [b"a"]) is None


def test_an_aligner_of_another_vocabulary_is_refused(native: Path, tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for path in native.iterdir():
        (folder / path.name).symlink_to(path)
    config = json.loads((native / "config.json").read_text())
    (folder / "config.json").unlink()
    (folder / "config.json").write_text(json.dumps(config | {"timestamp_token_id": 7}))
    with pytest.raises(FailureError) as refused:
        load_aligner(folder, RUNTIME)
    assert refused.value.failure.kind is FailureKind.MODEL_UNSUPPORTED


class Ears(Qwen3Asr):
    """A network that keeps what it hears."""

    heard: list[torch.Tensor]

    def encode(self, mel: torch.Tensor) -> torch.Tensor:
        self.heard.append(mel)
        return super().encode(mel)


class Full(Qwen3Asr):
    """A network on a device that has no room for the last product."""

    def head(self, states: torch.Tensor) -> torch.Tensor:
        raise torch.OutOfMemoryError


def aligner_of(network: Qwen3Asr, native: Path) -> ForcedAligner:
    """Return an aligner of a network that is otherwise like the one in the folder."""
    vars(network).update(vars(load_network(native, RUNTIME, Kind.ALIGNER)))
    vocabulary = read_vocabulary(native, network.config)
    assert vocabulary.marks.timestamp is not None
    return ForcedAligner(network, vocabulary, vocabulary.marks.timestamp)


def test_sound_beyond_full_scale_is_heard_as_where_the_network_was_trained(native: Path) -> None:
    ears = Ears.__new__(Ears)
    aligner = aligner_of(ears, native)
    ears.heard = []
    loud = speech(1) * np.float32(40.0)
    for pcm in (loud, loud / np.abs(loud).max()):
        aligner.times(pcm, ["one"])
    assert torch.equal(*ears.heard)


def test_words_that_find_no_room_are_not_aligned(native: Path) -> None:
    aligner = aligner_of(Full.__new__(Full), native)
    with pytest.raises(OutOfMemory):
        aligner.times(speech(1), ["one"])


def test_times_that_make_no_sense_are_not_told(aligner: ForcedAligner) -> None:
    """This network's weights are random, and what it says lies all over ten seconds."""
    assert aligner.align(speech(1), pieces_of(TEXTS[3])) is None


def test_a_companion_is_used_once_it_is_there_for_languages_it_knows(native: Path, tmp_path: Path) -> None:
    folder = tmp_path / "aligner"
    companion = Companion(folder, RUNTIME)
    # A single word's times are in order whatever they are, and silence is long enough for all of them.
    pcm, pieces = np.zeros(10 * 16_000, np.float32), [b" one"]
    companion.prepare()
    assert companion.align(pcm, pieces, "en") is None, "it is not there yet"
    folder.symlink_to(native)
    companion.prepare()
    assert companion.align(pcm, pieces, "en") is not None
    assert companion.align(pcm, pieces, "th") is None
    assert companion.align(pcm, pieces, None) is None


def test_a_companion_that_does_not_work_costs_no_transcript(caplog: pytest.LogCaptureFixture) -> None:
    companion = Companion(TINY, RUNTIME)
    with caplog.at_level(logging.WARNING):
        companion.prepare()
        companion.prepare()
    assert companion.align(speech(1), [b"a"], "en") is None
    assert len(caplog.records) == 1
    caplog.clear()
