"""Keeps matrices to a few sizes: for each one they meet, libraries build code and keep it.

oneDNN keeps 1024 such pieces, 100 KB each and more: hours of live decodes, which read ever other numbers
of tokens, filled 100 MB with them, and waited for each to be built.
"""

from __future__ import annotations

from typing import Final

import torch.nn.functional as F
from torch import Tensor

FREE_ROWS: Final = 16
"""Up to so many, each number has its code: most steps have no more rows than that."""
FEW_ROWS: Final = 64
ROW_STEP: Final = 8
"""Of sizes up to `FEW_ROWS`; longer ones are multiples of that: a size met late is memory taken late."""


def pad_rows(x: Tensor) -> Tensor:
    """Return `x`, (…, rows, width), with rows of zeros added where it has many."""
    padding = padding_for(x.shape[-2])
    return F.pad(x, (0, 0, 0, padding)) if padding else x


def padding_for(num_rows: int) -> int:
    """Return how many rows to add to `num_rows`."""
    if num_rows <= FREE_ROWS:
        return 0
    return -num_rows % (ROW_STEP if num_rows <= FEW_ROWS else FEW_ROWS)
