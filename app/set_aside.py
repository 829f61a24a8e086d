"""Moves a file that cannot be understood out of the way, so that nothing of the user's is deleted."""

from __future__ import annotations

import itertools
from pathlib import Path


def set_aside(path: Path, *, beside: tuple[str, ...] = ()) -> Path:
    """Rename `path` to `{stem}.damaged-{number}{suffix}` and return the new path. Raises OSError.

    Files named `path` + one of the suffixes `beside` go with it.
    """
    names = (f"{path.stem}.damaged-{number}{path.suffix}" for number in itertools.count(1))
    target = next(candidate for name in names if not (candidate := path.with_name(name)).exists())
    path.rename(target)
    for suffix in beside:
        companion = path.with_name(path.name + suffix)
        if companion.exists():
            companion.rename(target.with_name(target.name + suffix))
    return target
