"""Memory that takes none before it is written, for pools of which seldom all is in use."""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def lazy_zeros(size: Sequence[int], dtype: torch.dtype, device: torch.device, *, is_dense: bool) -> Tensor:
    """Return zeros; on a CPU in pages that the system gives as they are written.

    Torch writes its own zeros, so that all would take its memory at once. Where what is written lies
    `is_dense` the pages are large ones, if the system has any: quicker to read, but taken whole.
    """
    if device.type != "cpu":
        return torch.zeros(size, dtype=dtype, device=device)
    num_bytes = math.prod(size) * dtype.itemsize
    if is_dense or not num_bytes:
        return torch.from_numpy(np.zeros(num_bytes, np.uint8)).view(dtype).view(size)
    return torch.frombuffer(mmap.mmap(-1, num_bytes), dtype=dtype).view(size)
