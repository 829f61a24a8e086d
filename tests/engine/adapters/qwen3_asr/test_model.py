"""The network's numbers: those of the reference, whatever the parts and the company they are computed in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.adapters.base import OutOfMemory
from engine.adapters.growing_kv import STEP_TOKENS, USUAL_TOKENS
from engine.adapters.qwen3_asr.features import log_mel_windows
from engine.adapters.qwen3_asr.model import Qwen3Asr, num_audio_tokens
from tests.helpers.qwen3_engine import load_engine
from tests.helpers.random_qwen3 import random_network, small_config
from tests.helpers.tiny_qwen3 import NATIVE, Samples, phrase

CLOSE = 2e-5
"""Of logits up to 15: the order of sums."""


@pytest.fixture(scope="module")
def network() -> Qwen3Asr:
    return load_engine(NATIVE).network


@pytest.fixture(scope="module")
def clips() -> list[Samples]:
    """Shorter than half a second, than a second, than a window, and longer than one."""
    joined = np.concatenate([phrase(name).pcm for name in ("en1", "ko2", "zh1", "en3")])
    return [joined[:3000], joined[:12_345], joined[:70_000], joined, joined[: 8 * 16_000]]


def hear(network: Qwen3Asr, pcm: Samples) -> Tensor:
    return torch.cat([network.encode(mel) for mel in log_mel_windows(torch.from_numpy(pcm))])


def prompt(network: Qwen3Asr, ids: Sequence[int], audio: Tensor) -> Tensor:
    """Return the states of a prompt with its audio in place."""
    x = network.embed(ids).clone()
    x[torch.tensor(ids) == network.config.audio_id] = audio.clone()
    return x


def read_all(network: Qwen3Asr, *parts: Tensor) -> Tensor:
    cache = network.new_cache(1)
    row = cache.allocate()
    return network.head(torch.cat([network.read(cache, row, part) for part in parts]))


def test_features_audio_and_logits_are_those_of_the_reference(
    network: Qwen3Asr, clips: list[Samples]
) -> None:
    from transformers import AutoModelForMultimodalLM, AutoProcessor

    model: Any = AutoModelForMultimodalLM.from_pretrained(
        NATIVE, attn_implementation="eager", dtype=torch.float32
    ).eval()
    processor: Any = AutoProcessor.from_pretrained(NATIVE)
    for pcm in clips:
        asked = processor.apply_transcription_request(audio=[pcm], language=None, prompt="Qwen")
        with torch.no_grad():
            features = asked["input_features"], asked["input_features_mask"]
            audio = model.get_audio_features(*features).pooler_output
            logits = model(**asked).logits[0]
        mel = torch.cat(log_mel_windows(torch.from_numpy(pcm)), dim=1)
        assert torch.equal(mel, asked["input_features"][0][:, : mel.shape[1]])
        heard = hear(network, pcm)
        assert torch.allclose(heard, audio, atol=2e-6)
        ours = read_all(network, prompt(network, asked["input_ids"][0].tolist(), heard))
        assert float((ours - logits).abs().max()) < CLOSE


def test_a_prompt_read_in_parts_is_the_same_prompt(network: Qwen3Asr, clips: list[Samples]) -> None:
    audio = hear(network, clips[3])
    x = torch.cat([network.embed(range(30)), audio, network.embed(range(40))])
    whole = read_all(network, x)
    for cuts in ((30, 134), (1, 2, 60), (17,)):
        parts = [x[first:last] for first, last in zip((0, *cuts), (*cuts, len(x)), strict=True)]
        assert float((read_all(network, *parts) - whole).abs().max()) < CLOSE


def test_tokens_depend_on_no_company() -> None:
    """To the last bit: in each step rows of other lengths come and go, in slots beside and apart.

    Not so in the tiny network, for which libraries take shortcuts; but in one as wide as Whisper base.
    """
    network = random_network(small_config(width=512, num_layers=2))
    generator = torch.Generator().manual_seed(3)
    lengths = (3, 40, 500, 129, 333, 322)
    texts = [torch.randint(0, 420, (length,), generator=generator).tolist() for length in lengths]
    said = [torch.randint(0, 420, (8,), generator=generator).tolist() for _ in texts]
    alone = [_say(network, [text], [ids])[0] for text, ids in zip(texts, said, strict=True)]
    together = _say(network, texts, said)
    for one, other in zip(alone, together, strict=True):
        assert torch.equal(one, other)


def _say(network: Qwen3Asr, texts: list[list[int]], said: list[list[int]]) -> list[Tensor]:
    """Read texts and say ids one by one, the n-th row from the n-th step on; return each row's logits."""
    cache = network.new_cache(8)
    rows: list[int] = []
    logits: list[list[Tensor]] = [[] for _ in texts]
    places = [0] * len(texts)
    step = 0
    while any(place < len(ids) for place, ids in zip(places, said, strict=True)):
        if step < len(texts):
            rows.append(cache.allocate())
            network.read(cache, rows[step], network.embed(texts[step]))
        running = [index for index in range(len(rows)) if places[index] < len(said[index])]
        step += 1
        if not running:
            continue
        scores = network.step(cache, [rows[n] for n in running], [said[n][places[n]] for n in running])
        for index, row in zip(running, scores, strict=True):
            logits[index].append(row)
            places[index] += 1
    return [torch.stack(row) for row in logits]


def test_a_long_text_makes_room_and_gives_it_back(network: Qwen3Asr) -> None:
    cache = network.new_cache(2)
    short, long = cache.allocate(), cache.allocate()
    with pytest.raises(OutOfMemory):
        cache.allocate()
    ids = [index % 420 for index in range(USUAL_TOKENS + 40)]
    network.read(cache, short, network.embed(ids[:50]))
    before = network.step(cache, [short], [7])
    cache.set_length(short, 50)
    network.read(cache, long, network.embed(ids))
    assert cache.capacity == USUAL_TOKENS + STEP_TOKENS
    assert torch.equal(network.step(cache, [short], [7]), before)
    cache.free([short, long])
    assert cache.capacity == USUAL_TOKENS


def test_what_a_row_remembers_can_be_copied_to_another(network: Qwen3Asr) -> None:
    cache = network.new_cache(2)
    first = cache.allocate()
    network.read(cache, first, network.embed(range(40)))
    network.read(cache, first, network.embed(range(100)))
    second = cache.allocate()
    for start, end in ((0, 40), (40, 140)):
        cache.copy_in(second, cache.copy_out(first, start, end))
    logits = network.step(cache, [first, second], [9, 9])
    assert torch.equal(logits[0], logits[1])


@pytest.mark.parametrize(("frames", "tokens"), [(1, 1), (8, 1), (9, 2), (100, 13), (101, 14), (800, 104)])
def test_audio_has_so_many_tokens(network: Qwen3Asr, frames: int, tokens: int) -> None:
    assert num_audio_tokens(frames) == tokens == len(network.encode(torch.zeros(128, frames)))
