"""How much memory a model would take; nothing is loaded to find out."""

from __future__ import annotations

from typing import Final

_PROGRAM_BYTES: Final = 700_000_000
"""The engine's processes with torch in one of them, and room for the running rows of a short text."""
_LOADING_BYTES_PER_PARAMETER: Final = 4
"""While a network is built: as stored in 16 bits, and once more as it is run. Measured with Qwen3-ASR 0.6B:
3.0 GB in bfloat16 and 3.5 in 8-bit integers, 1.8 and 2.4 afterwards; Whisper base with a file: 0.8 GB."""
_BYTES_PER_PARAMETER: Final = 2
"""Of one that is loaded."""


def needed_bytes(num_parameters: int, *, is_companion: bool = False) -> int | None:
    """Return how much memory a model needs at most; None where its size is not known.

    A companion adds to what the model needs that it helps: both are not loaded at the same moment.
    """
    if not num_parameters:
        return None
    if is_companion:
        return _BYTES_PER_PARAMETER * num_parameters
    return _PROGRAM_BYTES + _LOADING_BYTES_PER_PARAMETER * num_parameters
