"""Keeps matrices to a few sizes: for each one they meet, libraries build code and keep it. Pure.

oneDNN keeps 1024 such pieces, 100 KB each and more: hours of live decodes, which read ever other numbers
of tokens, filled 100 MB with them, and waited for each to be built.
"""

from __future__ import annotations

from typing import Final

FREE_ROWS: Final = 16
"""Up to so many, each number has its code: steps have no more rows than that."""
FEW_ROWS: Final = 64
ROW_STEP: Final = 16
"""Of sizes up to `FEW_ROWS`; longer ones are multiples of that: a size met late is memory taken late."""


def padding_for(num_rows: int) -> int:
    """Return how many rows to add to `num_rows`."""
    if num_rows <= FREE_ROWS:
        return 0
    return -num_rows % (ROW_STEP if num_rows <= FEW_ROWS else FEW_ROWS)
