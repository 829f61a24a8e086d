"""Layers that networks of any family are built of; plain objects over tensors, nothing to train.

A row's numbers must not depend on which rows share its pass, or a file's text would change with the
load. Libraries sum in another order for another size of a matrix; so on a CPU float layers multiply
rows in blocks. Layers in 8-bit integers need no such care. (`engine.adapters.quantised`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

_BLOCK_ROWS: Final = 8
"""The largest block that is as quick a row as any on a CPU (float32, AVX-512: 29 µs for 8 rows of
512 → 512 and 111 µs for 16); the smallest is half of it, since single rows take another routine."""


class Projection(Protocol):
    """`x @ weight.T + bias`, then perhaps GELU, in whatever numbers."""

    def window(self, x: Tensor) -> Tensor:
        """Apply to (rows, in), all of one and the same window or text: never shared with another's rows."""
        ...

    def rows(self, x: Tensor) -> Tensor:
        """Apply to (rows, in), any number of rows, each with the same result in any company (on a CPU)."""
        ...


@dataclass(frozen=True, slots=True)
class Linear:
    """A projection in the floating-point numbers of its weight."""

    weight: Tensor
    """(out, in)"""
    bias: Tensor | None
    has_gelu: bool = False

    def window(self, x: Tensor) -> Tensor:
        """Apply to (rows, in), all of one window or text."""
        return self._activated(F.linear(x.to(self.weight.dtype), self.weight, self.bias))

    def rows(self, x: Tensor) -> Tensor:
        """Apply to (rows, in)."""
        num_rows = x.shape[0]
        if x.device.type != "cpu":
            return self._activated(F.linear(x, self.weight, self.bias))
        blocks = [self._block(x[at : at + _BLOCK_ROWS]) for at in range(0, num_rows, _BLOCK_ROWS)]
        return self._activated(blocks[0] if len(blocks) == 1 else torch.cat(blocks))

    def _block(self, x: Tensor) -> Tensor:
        num_rows = x.shape[0]
        size = _BLOCK_ROWS // 2 if num_rows <= _BLOCK_ROWS // 2 else _BLOCK_ROWS
        if num_rows < size:
            x = F.pad(x, (0, 0, 0, size - num_rows))
        return F.linear(x, self.weight, self.bias)[:num_rows]

    def _activated(self, x: Tensor) -> Tensor:
        return F.gelu(x) if self.has_gelu else x


class ByChannel(Protocol):
    """A projection without bias whose results lie channel after channel, not row after row."""

    def channels(self, x: Tensor) -> Tensor:
        """Return (out, rows) of (rows, in), all of one window."""
        ...


@dataclass(frozen=True, slots=True)
class ChannelLinear:
    """One in the floating-point numbers of its weight: what would be turned over is never laid out."""

    weight: Tensor
    """(out, in)"""

    def channels(self, x: Tensor) -> Tensor:
        """Return (out, rows)."""
        return self.weight @ x.to(self.weight.dtype).T


@dataclass(frozen=True, slots=True)
class TurnedOver:
    """One of another kind of numbers, whose results are turned over."""

    projection: Projection

    def channels(self, x: Tensor) -> Tensor:
        """Return (out, rows)."""
        return self.projection.window(x).T


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Normalises each position over its width."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)
