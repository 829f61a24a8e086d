"""Keeps matrices to a few sizes: for each one they meet, libraries build code and keep it. Pure.

oneDNN keeps 1024 such pieces, 100 KB each and more: hours of live decodes, which read ever other numbers
of tokens, filled 100 MB with them, and waited for each to be built.
"""

from __future__ import annotations

from typing import Final

FREE_ROWS: Final = 16
"""Up to so many, each number has its code: steps have no more rows than that."""
ROW_STEP: Final = 16


def padding_for(num_rows: int) -> int:
    """Return how many rows to add to `num_rows`."""
    return 0 if num_rows <= FREE_ROWS else -num_rows % ROW_STEP
