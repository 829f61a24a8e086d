"""On a CUDA card the network says what it says on the CPU, in recorded passes and in ordinary ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
import torch

from engine.adapters.base import Admission, Decode, RuntimeOptions
from engine.adapters.graphs import CudaRecorder
from engine.adapters.runtime import choose_runtime
from engine.adapters.whisper.adapter import WhisperAdapter, load_adapter
from engine.adapters.whisper.features import log_mel
from engine.adapters.whisper.load import load_whisper
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey
from engine.protocol.transcript import Mode
from tests.helpers.checkpoints import recorded_speech

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.weights,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device"),
]

SPEECH = recorded_speech()
PIECES = (SPEECH, SPEECH[20_000:90_000], SPEECH[60_000:140_000])
FAST = DecodingOptions(language="en", word_timestamps=True)
BEST = msgspec.structs.replace(FAST, mode=Mode.BEST)


@pytest.fixture(scope="module")
def card(whisper_base: Path) -> WhisperAdapter:
    return load_adapter(whisper_base, RuntimeOptions(device="cuda", num_slots=16))


@pytest.fixture(scope="module")
def exact(whisper_base: Path) -> WhisperAdapter:
    return load_adapter(whisper_base, RuntimeOptions(device="cpu", dtype="float32", num_slots=16))


def answers(adapter: WhisperAdapter, options: DecodingOptions, indices: Sequence[int]) -> list[Decode]:
    admissions = [
        Admission(
            Chunk(
                key=RequestKey("job", index),
                kind=ChunkKind.FILE,
                start_sample=0,
                pcm=PIECES[index].astype("<f4").tobytes(),
                options=options,
            )
        )
        for index in indices
    ]
    decodes = adapter.admit(admissions)
    while running := [decode for decode in decodes if decode.outcome is None]:
        adapter.step(running)
    adapter.release(decodes)
    return decodes


def text_ids(decode: Decode) -> list[int]:
    assert isinstance(decode.outcome, Finished)
    return [id_ for id_ in decode.ids if id_ < 50_257]


def test_the_card_is_chosen_by_itself_and_records_its_passes(card: WhisperAdapter) -> None:
    assert choose_runtime(RuntimeOptions()).device.type == "cuda"
    assert card.device.endswith("float16, CUDA graphs"), card.device


@pytest.mark.parametrize("options", [FAST, BEST], ids=["fast", "best"])
def test_the_card_says_what_the_cpu_says(
    card: WhisperAdapter, exact: WhisperAdapter, options: DecodingOptions
) -> None:
    for one, other in zip(answers(card, options, range(3)), answers(exact, options, range(3)), strict=True):
        assert text_ids(one) == text_ids(other)
        assert isinstance(one.outcome, Finished)
        assert isinstance(other.outcome, Finished)
        assert one.outcome.avg_logprob == pytest.approx(other.outcome.avg_logprob, abs=0.05)
        assert len(one.outcome.token_times) == len(one.ids)


def test_recorded_passes_say_what_ordinary_ones_say(whisper_base: Path, card: WhisperAdapter) -> None:
    ordinary = load_adapter(whisper_base, RuntimeOptions(device="cuda", num_slots=16))
    ordinary._network.record_with(None)
    for options in (FAST, BEST):
        for one, other in zip(
            answers(card, options, range(3)), answers(ordinary, options, range(3)), strict=True
        ):
            assert text_ids(one) == text_ids(other)


def test_windows_encoded_together_are_those_encoded_alone(whisper_base: Path) -> None:
    network = load_whisper(whisper_base, RuntimeOptions(device="cuda"))
    mel = log_mel([SPEECH[index * 9_000 :] for index in range(11)], network.config.dims.n_mels)
    together = network.encode(mel)
    alone = torch.cat([network.encode(mel[index : index + 1]) for index in range(11)])
    # A few states are forty times larger than most, and rounded as coarsely.
    assert (together - alone).float().norm() < 0.02 * alone.float().norm()
    exact = load_whisper(whisper_base, RuntimeOptions(device="cpu", dtype="float32"))
    assert (together[:2].float().cpu() - exact.encode(mel[:2])).abs().mean() < 0.01


def test_a_smaller_pool_is_recorded_anew(whisper_base: Path) -> None:
    adapter = load_adapter(whisper_base, RuntimeOptions(device="cuda", num_slots=16))
    before = answers(adapter, FAST, range(3))
    adapter.resize(4)
    again = answers(adapter, FAST, range(3))
    assert [text_ids(one) for one in again] == [text_ids(other) for other in before]


def test_a_pass_that_waits_for_the_device_is_not_recorded_and_leaves_the_stream_as_it_was() -> None:
    device = torch.device("cuda")
    value = torch.ones(4, device=device)
    stream = torch.cuda.current_stream()
    with torch.inference_mode(), pytest.raises(RuntimeError) as caught:
        CudaRecorder(device).record(lambda: print(value.sum().item()))
    assert "previous error" not in str(caught.value), "not why it failed, but that it did"
    assert torch.cuda.current_stream() == stream


def replace(target: torch.Tensor, source: torch.Tensor) -> None:
    target.copy_(source)


def test_what_was_recorded_is_done_again_on_the_same_tensors() -> None:
    device = torch.device("cuda")
    with torch.inference_mode():
        source, target = torch.zeros(4, device=device), torch.zeros(4, device=device)
        recorder = CudaRecorder(device)
        double = recorder.record(lambda: replace(target, source * 2))
        third = recorder.record(lambda: replace(target, source / 3))
        for value in (3.0, 9.0):
            source.fill_(value)
            double()
            assert target.tolist() == [2 * value] * 4
            third()
            assert target.tolist() == [value / 3] * 4
