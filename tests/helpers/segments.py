"""Makes segments as the library would keep them."""

from __future__ import annotations

from collections.abc import Sequence

from app.library import StoredSegment


def stored(index: int, text: str, *, start: float | None = None, is_suspect: bool = False) -> StoredSegment:
    """Return segment `index` (its id is 100 more), two seconds after the one before."""
    begins = 2.0 * index if start is None else start
    return StoredSegment(
        id=100 + index,
        recording_id=1,
        index=index,
        start=begins,
        end=begins + 1.5,
        text=text,
        is_suspect=is_suspect,
    )


def stored_all(texts: Sequence[str]) -> list[StoredSegment]:
    """Return a segment for each text."""
    return [stored(index, text) for index, text in enumerate(texts)]
