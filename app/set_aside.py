"""Moves a file that cannot be understood out of the way, so that nothing of the user's is deleted."""

from __future__ import annotations

import itertools
from pathlib import Path


def set_aside(path: Path, *, beside: tuple[str, ...] = ()) -> Path:
    """Rename `path` to `{stem}.damaged-{number}{suffix}` and return the new path. Raises OSError.

    Files named `path` + one of the suffixes `beside` go with it.
    """
    target = free_name(path, "damaged")
    path.rename(target)
    for suffix in beside:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(target.with_name(target.name + suffix))
    return target


def free_name(path: Path, word: str) -> Path:
    """Return `{stem}.{word}-{number}{suffix}` in the same folder, which no file has."""
    names = (f"{path.stem}.{word}-{number}{path.suffix}" for number in itertools.count(1))
    return next(candidate for name in names if not (candidate := path.with_name(name)).exists())
