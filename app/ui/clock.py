"""Writes seconds the way a person reads them in a transcript; pure."""

from __future__ import annotations


def clock_text(seconds: float, *, with_hours: bool = False) -> str:
    """Return `m:ss`, or `h:mm:ss` from an hour on or when `with_hours`; fractions are cut off."""
    whole = max(0, int(seconds))
    minutes, second = divmod(whole, 60)
    hours, minute = divmod(minutes, 60)
    if hours or with_hours:
        return f"{hours}:{minute:02}:{second:02}"
    return f"{minute}:{second:02}"
