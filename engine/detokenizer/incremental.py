"""Turns the ids of one request, as they come, into text that is safe to show. Pure.

A character may be spread over several ids, so the newest ids are decoded together with some before
them, and only text that later ids cannot change is given out. Joined, it is what decoding all ids at
once gives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

INCOMPLETE: Final = "\N{REPLACEMENT CHARACTER}"
"""How an unfinished UTF-8 sequence reads; the same as bytes that are no text at all."""
MAX_WAITING_IDS: Final = 4
"""A character has at most four bytes and an id at least one: more ids than this are not one character."""
MAX_STRADDLING_IDS: Final = 64
"""But an id may hold the end of one character and the beginning of the next, many in a row: so many ids
are decoded together before bytes that never become text are taken for what they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowRules:
    """What of a request's ids is to be seen."""

    hidden_ids: frozenset[int] = frozenset()
    """Leave no trace in the text."""
    stop_ids: frozenset[int] = frozenset()
    stop_strings: tuple[str, ...] = ()
    keep_stop: bool = False
    """Show the stop id or stop string that ended the text."""


class DecodeStatus:
    """What is known of one request's text.

    `ids[:_read]` are in `text`. `ids[_surrounding:_read]` are decoded again with what follows, because
    the text of an id may depend on the one before. Both only go forward, as does `sent_offset`.
    """

    def __init__(self, rules: ShowRules, prefix_ids: Sequence[int] = ()) -> None:
        """`prefix_ids` are context only: decoded in front of the others, never shown."""
        self._rules = rules
        self._stop_strings = tuple(filter(None, rules.stop_strings))
        self.ids = [id_ for id_ in prefix_ids if id_ not in rules.hidden_ids]
        self.text = ""
        self.sent_offset = 0
        """Of `text`: everything before it was returned by `take`."""
        self.is_stopped = False
        """A stop id or string was met; nothing that follows is shown."""
        self._surrounding = 0
        self._read = len(self.ids)
        self._num_early = 0
        """Characters of ids behind `_read` that are in `text` already."""

    @property
    def is_pending(self) -> bool:
        """There are ids that are not in `text` yet."""
        return len(self.ids) > self._read

    def windows(self) -> tuple[list[int], list[int]]:
        """Return what `advance` needs the text of: the ids before, and the same with the new ones."""
        return self.ids[self._surrounding : self._read], self.ids[self._surrounding :]

    def extend(self, ids: Sequence[int]) -> None:
        """Add ids; they become text by `advance`."""
        for id_ in ids:
            is_stop = id_ in self._rules.stop_ids
            if self.is_stopped or (is_stop and not self._rules.keep_stop):
                self.is_stopped = True
                return
            if id_ not in self._rules.hidden_ids:
                self.ids.append(id_)
            self.is_stopped = is_stop

    def advance(
        self, before: str, window: str, *, is_final: bool, decode: Callable[[Sequence[int]], str]
    ) -> None:
        """Take the texts of both `windows`; with `is_final` also what was never completed.

        `decode` is asked only when ids have waited for a completion that does not come.
        """
        if is_final or self.is_stopped or not window.endswith(INCOMPLETE):
            self._accept(before, window, len(self.ids))
            return
        num_waiting = len(self.ids) - self._read
        if num_waiting <= MAX_WAITING_IDS:
            return
        place = self._find_place(window, decode)
        if place is not None:
            self._accept(before, *place)
        elif num_waiting > MAX_STRADDLING_IDS or not decode(self.ids[-1:]):
            # Bytes that are no text, or an id without any, which cannot complete them.
            self._accept(before, window, len(self.ids))
        else:
            self._show_early(before, window.rstrip(INCOMPLETE))

    def take(self, *, is_final: bool) -> str:
        """Return what may be shown now and was not returned before."""
        is_complete = is_final or self.is_stopped
        end = len(self.text) - (0 if is_complete else self._num_held())
        delta = self.text[self.sent_offset : end]
        self.sent_offset += len(delta)
        return delta

    def _find_place(self, window: str, decode: Callable[[Sequence[int]], str]) -> tuple[str, int] | None:
        """Return the text up to a place that no character spans, and the id there.

        Such a place is where both sides, decoded apart, read as they do together. One is among the last
        few ids, unless they have no text of their own, or each ends within a character.
        """
        for end in range(len(self.ids) - 1, len(self.ids) - 1 - MAX_WAITING_IDS, -1):
            head, rest = decode(self.ids[self._surrounding : end]), decode(self.ids[end:])
            if rest and head + rest == window:
                return head, end
        return None

    def _accept(self, before: str, window: str, end: int) -> None:
        """Take `window` as the final text of `ids[_surrounding:end]`, of which `before` is known."""
        self._surrounding, self._read = self._read, end
        num_known = len(self.text)
        self.text += window[_num_shared(before, window) + self._num_early :]
        self._num_early = 0
        self._stop_at_string(num_known)

    def _show_early(self, before: str, whole: str) -> None:
        """Take the `whole` characters of a window that ends within one; it will be decoded again."""
        num_known = len(self.text)
        new = whole[_num_shared(before, whole) + self._num_early :]
        self.text += new
        self._num_early += len(new)
        self._stop_at_string(num_known)

    def _stop_at_string(self, num_known: int) -> None:
        """Cut the text at the stop string that is complete first, whatever portions it came in."""
        longest = max(map(len, self._stop_strings), default=0)
        first = max(0, num_known - longest + 1)
        found = [
            (start + len(stop), start)
            for stop in self._stop_strings
            if (start := self.text.find(stop, first)) >= 0
        ]
        if found:
            end, start = min(found)
            self.text = self.text[: end if self._rules.keep_stop else start]
            self.is_stopped = True
            self._read = len(self.ids)

    def _num_held(self) -> int:
        """Return the length of the longest end of the text that may begin a stop string."""
        longest = max(map(len, self._stop_strings), default=1) - 1
        for length in range(min(longest, len(self.text) - self.sent_offset), 0, -1):
            end = self.text[len(self.text) - length :]
            if any(stop.startswith(end) for stop in self._stop_strings):
                return length
        return 0


def _num_shared(before: str, window: str) -> int:
    """Return how many characters both begin with: all of `before`, unless new ids completed its end."""
    if window.startswith(before):
        return len(before)
    return next(index for index, char in enumerate(before) if window[index : index + 1] != char)
