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
"""A tile of AMX. Rows go in blocks of this size, within which their sums come out the same whoever fills
the others, or in smaller ones where that is found to change nothing."""


class PackedLinear:
    """`x @ weight.T + bias`, then perhaps GELU, in bfloat16 for a CPU on which `can_pack()`."""

    def __init__(
        self, weight: Tensor, bias: Tensor | None, *, has_gelu: bool = False, num_threads: int | None = None
    ) -> None:
        """Copy `weight`, (out, in), which may be a mapped file. `num_threads` are for `rows`."""
        self._weight = _pack(weight)
        self._bias = None if bias is None else bias.to(torch.bfloat16)
        self._activation = "gelu" if has_gelu else "none"
        self._num_threads = num_threads
        self._num_outputs, self._num_inputs = weight.shape

    def window(self, x: Tensor) -> Tensor:
        """Return (rows, out) bfloat16 of (rows, in), all of one window or text."""
        return self._multiply(x.to(torch.bfloat16))

    def rows(self, x: Tensor) -> Tensor:
        """Return (rows, out) in the numbers of `x`, (rows, in), each with the same result in any company."""
        num_rows, numbers, x = x.shape[0], x.dtype, x.to(torch.bfloat16)
        if not _stands_alone(self._num_inputs, self._num_outputs):
            x = F.pad(x, (0, 0, 0, -num_rows % _BLOCK_ROWS))
        with use_threads(self._num_threads):
            if x.shape[0] <= _BLOCK_ROWS:
                product = self._multiply(x)
            else:
                product = torch.cat([self._multiply(block) for block in torch.split(x, _BLOCK_ROWS)])
        return product[:num_rows].to(numbers)

    def _multiply(self, x: Tensor) -> Tensor:
        return _multiply(x, self._weight, self._bias, self._activation)


def _multiply(x: Tensor, packed: Tensor, bias: Tensor | None, activation: str) -> Tensor:
    product: Tensor = torch.ops.mkldnn._linear_pointwise(x, packed, bias, activation, [], "none")
    return product


def _pack(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.to(torch.bfloat16).contiguous())
    return packed


@cache
def _stands_alone(num_inputs: int, num_outputs: int) -> bool:
    """Say whether for this shape a row's sums are the same, to the last bit, in a block of any size."""
    dice = torch.Generator().manual_seed(num_inputs)
    packed = _pack(torch.randn(num_outputs, num_inputs, generator=dice))
    x = torch.randn(_BLOCK_ROWS, num_inputs, generator=dice).to(torch.bfloat16)
    full = _multiply(x, packed, None, "none")
    sizes = range(1, _BLOCK_ROWS)
    return all(torch.equal(_multiply(x[:size], packed, None, "none"), full[:size]) for size in sizes)


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
