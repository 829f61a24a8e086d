"""How much memory a model would take; nothing is loaded to find out."""

from __future__ import annotations

from typing import Final

_PROGRAM_BYTES: Final = 700_000_000
"""The engine's processes with torch in one of them, and room for the running rows of a short text."""
_BYTES_PER_PARAMETER: Final = 2
"""As the larger checkpoints are stored; eight-bit numbers take less once they are made."""


def needed_bytes(num_parameters: int, *, is_companion: bool = False) -> int | None:
    """Return about how much memory it takes to run a model; None where its size is not known.

    A companion adds to what the model takes that it helps.
    """
    if not num_parameters:
        return None
    return (0 if is_companion else _PROGRAM_BYTES) + _BYTES_PER_PARAMETER * num_parameters
