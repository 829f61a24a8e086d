"""In 8-bit integers the network says what the exact one says, and to each row the same in any company."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.adapters.base import Admission, Decode, RuntimeOptions
from engine.adapters.kv import KVCache
from engine.adapters.quantised import is_exact
from engine.adapters.whisper.adapter import WhisperAdapter, load_adapter
from engine.adapters.whisper.features import log_mel
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.model import Whisper
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, RequestKey
from tests.helpers.checkpoints import recorded_speech

pytestmark = [
    pytest.mark.weights,
    pytest.mark.slow,
    pytest.mark.skipif(not is_exact(), reason="this processor does not multiply bytes exactly"),
]
PROMPT = (50_258, 50_259, 50_359)
SPEECH = recorded_speech()
PIECES = (SPEECH, SPEECH[20_000:90_000], SPEECH[:30_000], SPEECH[60_000:], SPEECH[40_000:120_000])


def options(dtype: str, cache_folder: Path | None = None) -> RuntimeOptions:
    folder = str(cache_folder) if cache_folder else None
    return RuntimeOptions(device="cpu", dtype=dtype, num_threads=2, num_slots=5, cache_folder=folder)


@pytest.fixture(scope="module")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def adapter(whisper_base: Path, cache_folder: Path) -> WhisperAdapter:
    return load_adapter(whisper_base, options("int8", cache_folder))


def forced_logits(network: Whisper, ids: list[int]) -> Tensor:
    """Return the logits, (len(ids), vocabulary), behind each of `ids` said to the whole sample."""
    cache = network.new_cache(1)
    rows = cache.allocate(1)
    network.listen(cache, rows, network.encode(log_mel([SPEECH], network.config.dims.n_mels)))
    tokens = [*PROMPT, *ids]
    return network.prefill(cache, rows, [tokens], logits_at=[range(len(PROMPT), len(tokens))]).logits


def admission(index: int) -> Admission:
    key, pcm = RequestKey("job", index), PIECES[index].astype("<f4").tobytes()
    asked = DecodingOptions(language="en", word_timestamps=True)
    return Admission(Chunk(key=key, kind=ChunkKind.FILE, start_sample=0, pcm=pcm, options=asked))


def finish(adapter: WhisperAdapter, decodes: list[Decode]) -> None:
    while running := [decode for decode in decodes if decode.outcome is None]:
        adapter.step(running)
    adapter.release(decodes)


def answers(adapter: WhisperAdapter, indices: list[int]) -> list[tuple[list[int], list[float], Finished]]:
    decodes = adapter.admit([admission(index) for index in indices])
    finish(adapter, decodes)
    told = []
    for decode in decodes:
        assert isinstance(decode.outcome, Finished)
        told.append((decode.ids, decode.logprobs, decode.outcome))
    return told


def test_int8_hears_what_the_exact_network_hears(
    whisper_base: Path, adapter: WhisperAdapter, record_property: Callable[[str, object], None]
) -> None:
    exact = load_adapter(whisper_base, options("float32"))
    [(ids, logprobs, _)] = answers(exact, [0])
    [(int8_ids, int8_logprobs, _)] = answers(adapter, [0])
    assert int8_ids == ids
    largest = max(abs(ours - theirs) for ours, theirs in zip(int8_logprobs, logprobs, strict=True))

    expected = forced_logits(load_whisper(whisper_base, options("float32")), ids)
    logits = forced_logits(load_whisper(whisper_base, options("int8")), ids)
    divergence = torch.nn.functional.kl_div(
        logits.log_softmax(-1), expected.log_softmax(-1), log_target=True, reduction="none"
    ).sum(-1)
    record_property("max_logprob_difference", largest)
    record_property("max_divergence", divergence.max().item())
    print(f"log-probabilities differ by {largest:.3f}, distributions by {divergence.max().item():.4f} nats")
    assert largest < 0.3
    assert divergence.mean() < 0.02


def test_alone_and_among_neighbours_that_come_and_go_a_chunk_is_bit_equal(adapter: WhisperAdapter) -> None:
    lonely = [answers(adapter, [index])[0] for index in range(len(PIECES))]
    assert answers(adapter, list(range(len(PIECES)))) == lonely

    early = adapter.admit([admission(index) for index in (3, 0, 4)])
    for _ in range(4):
        adapter.step(early)
    adapter.release([early[0]])
    late = adapter.admit([admission(1), admission(2)])
    finish(adapter, [early[1], *late, early[2]])
    for decode, index in zip([early[1], early[2], *late], (0, 4, 1, 2), strict=True):
        assert (decode.ids, decode.logprobs, decode.outcome) == lonely[index]


def test_from_the_cache_come_the_same_numbers(whisper_base: Path, cache_folder: Path) -> None:
    """The fixture has filled the folder, if it has been asked for; else the first load does."""
    first = load_whisper(whisper_base, options("int8", cache_folder))
    again = load_whisper(whisper_base, options("int8", cache_folder))
    assert len(list(cache_folder.rglob("*.safetensors"))) == 1
    ids = [50_364, 440, 2_221]
    assert torch.equal(forced_logits(first, ids), forced_logits(again, ids))


def test_a_row_that_comes_twice_in_a_step_has_the_numbers_of_two_steps(adapter: WhisperAdapter) -> None:
    network, ids = adapter._network, (50_364, 639, 307)
    states = network.encode(log_mel([SPEECH, PIECES[1], PIECES[2]], network.config.dims.n_mels))

    def listening() -> tuple[KVCache, list[int]]:
        cache = network.new_cache(3)
        rows = cache.allocate(3)
        network.listen(cache, rows, states)
        network.prefill(cache, rows, [PROMPT, (*PROMPT, 50_364), PROMPT])
        return cache, rows

    cache, rows = listening()
    steps = [network.step(cache, rows, [id_] * 3, with_attention=True) for id_ in ids[:2]]
    cache, rows = listening()
    order = [rows[1], rows[0], rows[1], rows[2], rows[0]]
    both = network.step(cache, order, [ids[0], ids[0], ids[1], ids[0], ids[1]], with_attention=True)
    wanted = [(0, 1), (0, 0), (1, 1), (0, 2), (1, 0)]
    assert torch.equal(both.logits, torch.stack([steps[step].logits[row] for step, row in wanted]))
    attended = [step.attention for step in steps if step.attention is not None]
    assert both.attention is not None
    assert torch.equal(both.attention, torch.stack([attended[step][row] for step, row in wanted]))
    assert [cache.length(row) for row in rows] == [5, 6, 4]
