"""Linear layers in 16-bit floats whose weights lie in memory as the processor reads them.

An ordinary layer puts its weight into that order, and its bias into its result, anew at every call;
done once, a window of Whisper base takes two thirds of the time. (CPU with AMX, 2 threads)
"""

from __future__ import annotations

from functools import cache
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.crew import use_threads
from engine.adapters.quantised import has_bfloat16

_BLOCK_ROWS: Final = 16
"""A tile of AMX; within one size of a block a row's sums come out the same whoever fills the others."""


class PackedLinear:
    """`x @ weight.T + bias`, then perhaps GELU, in bfloat16 for a CPU on which `can_pack()`."""

    def __init__(
        self, weight: Tensor, bias: Tensor | None, *, has_gelu: bool = False, num_threads: int | None = None
    ) -> None:
        """Copy `weight`, (out, in), which may be a mapped file. `num_threads` are for `rows`."""
        self._weight = torch.ops.mkldnn._reorder_linear_weight(weight.to(torch.bfloat16).contiguous())
        self._bias = None if bias is None else bias.to(torch.bfloat16)
        self._activation = "gelu" if has_gelu else "none"
        self._num_threads = num_threads

    def window(self, x: Tensor) -> Tensor:
        """Return (rows, out) bfloat16 of (rows, in), all of one window or text."""
        return self._multiply(x.to(torch.bfloat16))

    def rows(self, x: Tensor) -> Tensor:
        """Return (rows, out) float32 of (rows, in), each row with the same result in any company."""
        num_rows = x.shape[0]
        blocks = torch.split(F.pad(x.to(torch.bfloat16), (0, 0, 0, -num_rows % _BLOCK_ROWS)), _BLOCK_ROWS)
        with use_threads(self._num_threads):
            products = [self._multiply(block) for block in blocks]
        return (products[0] if len(products) == 1 else torch.cat(products))[:num_rows].float()

    def _multiply(self, x: Tensor) -> Tensor:
        product: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self._weight, self._bias, self._activation, [], "none"
        )
        return product


@cache
def can_pack() -> bool:
    """Say whether this processor multiplies 16-bit floats, and this torch lays out weights for it."""
    if not has_bfloat16():
        return False
    try:
        layer = PackedLinear(torch.eye(32), torch.ones(32), has_gelu=True)
        product = layer.window(torch.zeros(3, 32))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return torch.allclose(product.float(), F.gelu(torch.ones(3, 32)), atol=0.01)
