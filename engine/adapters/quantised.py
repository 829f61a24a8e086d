"""Linear layers in 8-bit integers, whose results do not depend on who shares the batch.

Weights have one scale for each output, activations one for each row. Integer sums are exact, so a row
gives the same numbers in any company, whatever order a library sums in; layers that take one scale
over the whole input do not have this.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.crew import use_threads
from engine.adapters.sizes import pad_rows

LARGEST: Final = 127
_ZERO: Final = 128
"""What an unsigned activation of 0 is stored as. Unsigned, because VNNI multiplies unsigned by signed
bytes; oneDNN is a thousand times slower with two signed ones where the processor has no AMX."""
_SHARED_ROWS: Final = 4
"""Fewer are multiplied sooner by one thread. (512 → 51865, 2 cores: 1 row 1.3 ms on one thread, 2.3 on
two; 8 rows 1.34 and 1.26) Sums are exact, so it may depend on the company."""
_SMALLEST_SCALE: Final = 1e-12
"""A row of zeros has no scale of its own."""


@dataclass(frozen=True, slots=True)
class Quantised:
    """A weight as it is stored."""

    weight: Tensor
    """(out, in) int8"""
    scale: Tensor
    """(out,) float32: what one step of each output is worth."""


def quantise(weight: Tensor) -> Quantised:
    """Round a float `weight`, (out, in), to 255 steps for each output, evenly around 0."""
    weight = weight.float()
    scale = weight.abs().amax(dim=1).clamp_min_(_SMALLEST_SCALE) / LARGEST
    steps = (weight / scale[:, None]).round_().clamp_(-LARGEST, LARGEST)
    return Quantised(steps.to(torch.int8), scale)


class QuantisedLinear:
    """`x @ weight.T + bias`, then perhaps GELU, in 8-bit integers for a CPU on which `is_exact()`.

    Exchangeable with a float layer: takes and gives float32.
    """

    def __init__(
        self,
        quantised: Quantised,
        bias: Tensor | None,
        *,
        has_gelu: bool = False,
        num_threads: int | None = None,
    ) -> None:
        """Put the weight into the order that the processor likes best; `quantised` may be a mapped file.

        `num_threads` are for `rows`.
        """
        self.num_outputs = quantised.weight.shape[0]
        self._weight = torch.ops.onednn.qlinear_prepack(quantised.weight, None)
        # A copy, since one small tensor would keep all pages of the mapped file.
        self._scale = quantised.scale.clone()
        self._zeros = torch.zeros(self.num_outputs, dtype=torch.int64)
        self._bias = bias
        self._has_gelu = has_gelu
        self._num_threads = num_threads
        self._smallest = torch.tensor(_SMALLEST_SCALE)

    def window(self, x: Tensor) -> Tensor:
        """Apply to the frames of one whole window, (frames, in)."""
        return self._apply(x.float())

    def rows(self, x: Tensor) -> Tensor:
        """Apply to (rows, in), any number of rows, each with the same result in any company."""
        num_rows = x.shape[0]
        with use_threads(self._num_threads if num_rows >= _SHARED_ROWS else 1):
            return self._apply(pad_rows(x).float())[:num_rows]

    def _apply(self, x: Tensor) -> Tensor:
        scale = torch.add(self._smallest, x.abs().amax(dim=-1, keepdim=True), alpha=1.0 / LARGEST)
        # What is cut off from a number that is half a step too large is rounded.
        steps = (x / scale).add_(_ZERO + 0.5).to(torch.uint8)
        product = _multiply(steps, self._weight, self._scale, self._zeros)
        product = product.mul_(scale) if self._bias is None else torch.addcmul(self._bias, product, scale)
        return F.gelu(product) if self._has_gelu else product


def _multiply(steps: Tensor, weight: Tensor, scale: Tensor, zeros: Tensor) -> Tensor:
    """Return (rows, out) float32: exact sums of products, times each output's scale."""
    product: Tensor = torch.ops.onednn.qlinear_pointwise(
        steps, 1.0, _ZERO, weight, scale, zeros, None, 1.0, 0, torch.float32, "none", [], ""
    )
    return product


@cache
def is_exact() -> bool:
    """Say whether this processor multiplies bytes fast and without clipping sums.

    Without VNNI pairs of products are added in 16 bits, which the largest ones overflow; so the
    largest are tried. Other processors than x86 have other routines, which were not measured.
    """
    if not torch.cpu._is_vnni_supported():
        return False
    try:
        extreme = torch.full((64, 256), -LARGEST, dtype=torch.int8)
        steps = torch.full((5, 256), _ZERO - LARGEST, dtype=torch.uint8)
        weight = torch.ops.onednn.qlinear_prepack(extreme, None)
        sums = _multiply(steps, weight, torch.ones(64), torch.zeros(64, dtype=torch.int64))
    except (RuntimeError, AttributeError, NotImplementedError):
        return False
    return bool((sums == 256 * LARGEST * LARGEST).all())


def has_bfloat16() -> bool:
    """Say whether the processor multiplies 16-bit floats itself; emulated they are slow."""
    return bool(torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported())
