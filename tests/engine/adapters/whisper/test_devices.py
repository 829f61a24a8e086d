"""On another device than the CPU nothing of a pass is left behind on the CPU.

The device is torch's `meta`, which has no numbers; what a graphics card would refuse is refused here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from engine.adapters.base import RuntimeOptions
from engine.adapters.graphs import Plain, Recorder
from engine.adapters.kv import Move
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.model import Whisper
from engine.adapters.whisper.rules import Allowed, TokenRules
from engine.adapters.whisper.sampling import likeliest, likeliest_few
from engine.adapters.whisper.vocabulary import read_vocabulary
from tests.helpers.checkpoints import write_large_v3_shaped, write_large_v3_tokenizer

pytestmark = pytest.mark.weights
NUM_BEAMS = 5
COPIES = ("copy_", "_to_copy", "to", "type_as")
PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "matmul", "linear", "layer_norm", "native_layer_norm")


class Card(TorchDispatchMode):
    """Refuses what a card does, or what would wait for it in a recording: mixed devices, and mixed numbers
    in a product."""

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = func.overloadpacket.__name__
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor) and leaf.ndim]
        if name not in COPIES and len({tensor.device.type for tensor in tensors}) > 1:
            raise RuntimeError(f"{func} of tensors on different devices")
        if name in PRODUCTS and len({tensor.dtype for tensor in tensors}) > 1:
            raise RuntimeError(f"{func} of different numbers")
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "work",
    [
        lambda card: card.index_select(0, torch.zeros(2, dtype=torch.int64)),
        lambda card: card @ torch.zeros(4, 4, device="meta"),
        lambda card: card + torch.zeros(4),
    ],
)
def test_a_mixture_is_refused(work: Any) -> None:
    with torch.inference_mode(), Card(), pytest.raises(RuntimeError):
        work(torch.zeros(4, 4, dtype=torch.float16, device="meta"))


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
    rules = TokenRules(read_vocabulary(random_folder), (5, 6, 7), (220,))
    with Card():
        pass_through(network, rules, recorder, dtype)


def pass_through(network: Whisper, rules: TokenRules, recorder: Recorder | None, dtype: str) -> None:
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
    with torch.inference_mode():
        masked = rules.apply(logits, [Allowed(0, 50)] * 7)
        assert likeliest(masked).device.type == "meta"
        assert likeliest_few(masked, NUM_BEAMS + 1).shape == (7, NUM_BEAMS + 1)
