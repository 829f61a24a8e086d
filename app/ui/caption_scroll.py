"""Which lines of the captions are on screen: the newest, or those somebody went back to; pure."""

from __future__ import annotations


class CaptionScroll:
    """A window of `num_lines` over numbered lines `[oldest, end)`.

    While it is live its first line never goes back: when what may still change gets shorter, a line
    stays empty instead of everything falling down by one.
    """

    def __init__(self, num_lines: int) -> None:
        self._num_lines = num_lines
        self._first = 0
        self._is_live = True

    @property
    def is_live(self) -> bool:
        """Whether the newest line is on screen and stays there."""
        return self._is_live

    def first(self, oldest: int, end: int) -> int:
        """Return the number of the first line on screen; `oldest == end` when there are none."""
        if self._is_live:
            self._first = max(self._first, end - self._num_lines)
            self._first = max(oldest, min(self._first, end - 1))
            return self._first
        return max(oldest, min(self._first, end - 1))

    def scroll(self, by: int, oldest: int, end: int) -> None:
        """Go `by` lines towards the newest; negative goes back. At the newest it is live again."""
        newest = max(oldest, end - self._num_lines)
        here = min(self.first(oldest, end), newest)
        self._first = max(oldest, min(here + by, newest))
        self._is_live = self._first == newest

    def show_newest(self, num_lines: int | None = None) -> None:
        """Be live, with `num_lines` on screen from now on; what was laid out before is forgotten."""
        self._num_lines = num_lines or self._num_lines
        self._first = 0
        self._is_live = True
