"""How many of torch's threads a piece of work gets: a small one is done before a second has woken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import torch

SHARED_BYTES: Final = 1 << 20
"""A weight of this size is read by several threads sooner than by one: a step finds it in no near cache.
(2 cores, a step of base in 8 bits, shared from 4 MB and from 1 MB on: 4 rows 13.0 ms and 12.1, 12 rows 21.1
and 20.0; from 512 KB on as from 1 MB)"""

SHARED_TEXT_BYTES: Final = 1 << 18
"""Likewise the remembered keys of a step's rows, in a layer: they are as many bytes in as many pieces as
rows have heads. (the same, shared from 1 MB and from 256 KB on: 4 and 9 rows 0.98 of the time)"""


@contextmanager
def use_threads(num_threads: int | None) -> Iterator[None]:
    """Let torch use so many threads inside, None: as many as outside. For the calling thread alone."""
    before = torch.get_num_threads()
    if num_threads is None or num_threads == before:
        yield
        return
    torch.set_num_threads(num_threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def share_weight(num_bytes: int, num_threads: int, least: int = SHARED_BYTES) -> int:
    """Return how many of `num_threads` should multiply a few rows by a weight, or audio, of that size."""
    return num_threads if num_bytes >= least else 1
