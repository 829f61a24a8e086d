"""On another device than the CPU nothing of a pass is left behind on the CPU.

The device is torch's `meta`, which has no numbers, but refuses tensors of different devices or dtypes as
a graphics card does.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.adapters.base import RuntimeOptions
from engine.adapters.graphs import Plain, Recorder
from engine.adapters.kv import Move
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.rules import Allowed, TokenRules
from engine.adapters.whisper.sampling import likeliest, likeliest_few
from engine.adapters.whisper.vocabulary import read_vocabulary
from tests.helpers.checkpoints import write_large_v3_shaped, write_large_v3_tokenizer

pytestmark = pytest.mark.weights
NUM_BEAMS = 5


@pytest.fixture(scope="module")
def random_folder(whisper_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_large_v3_shaped(tmp_path_factory.mktemp("models") / "random")
    write_large_v3_tokenizer(whisper_base, folder)
    return folder


@pytest.mark.parametrize("recorder", [None, Plain()], ids=["ordinary", "fixed size"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_passes_rules_and_choices_stay_on_the_device(
    random_folder: Path, dtype: str, recorder: Recorder | None
) -> None:
    network = load_whisper(random_folder, RuntimeOptions(device="meta", dtype=dtype))
    network.record_with(recorder)
    cache = network.new_cache(8)
    states = network.encode(torch.zeros(3, network.config.dims.n_mels, 3000))
    assert (states.device.type, states.dtype) == ("meta", getattr(torch, dtype))
    rows = cache.allocate(3)
    beams = cache.allocate_beside(rows[0], NUM_BEAMS - 1)
    network.listen(cache, rows, states)
    first = network.prefill(cache, rows, [(1, 2, 3), (1, 2), (1,)], logits_at=[(0, -1)] * 3).logits
    assert (first.device.type, first.dtype, first.shape[0]) == ("meta", torch.float32, 6)
    cache.copy_text([Move(rows[0], beam) for beam in beams])
    logits = network.step(cache, [*rows, *beams], [5] * 7).logits
    assert (logits.device.type, logits.dtype, logits.shape[0]) == ("meta", torch.float32, 7)
    rules = TokenRules(read_vocabulary(random_folder), (5, 6, 7), (220,))
    with torch.inference_mode():
        masked = rules.apply(logits, [Allowed(0, 50)] * 7)
        assert likeliest(masked).device.type == "meta"
        assert likeliest_few(masked, NUM_BEAMS + 1).shape == (7, NUM_BEAMS + 1)
