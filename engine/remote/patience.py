"""When a request that came to nothing is made again, and when a server is given up; pure."""

from __future__ import annotations

from typing import Final

from engine.servers import Trouble

FIRST_S: Final = 0.5
LONGEST_S: Final = 8.0
ASKED_FACTOR: Final = 10.0
"""A server that says itself how long to wait is believed for so much longer."""


class Patience:
    """One server's. Any good answer to anybody shows that it is there, and begins the waiting anew."""

    def __init__(self, limit_s: float) -> None:
        self._limit_s = limit_s
        self._good_at_s = float("-inf")
        self._closed_until_s = float("-inf")

    def was_good(self, now_s: float) -> None:
        """Note a good answer."""
        self._good_at_s = now_s

    def closed_s(self, now_s: float) -> float:
        """Return for how long the server wants to be left alone by everybody."""
        return max(0.0, self._closed_until_s - now_s)

    def delay_s(self, trouble: Trouble, *, num_tries: int, began_s: float, now_s: float) -> float | None:
        """Return how long to wait before the request is made again; None: it is given up.

        `num_tries` counts those made, `began_s` is when the first was.
        """
        if not trouble.is_passing:
            return None
        asked_s = trouble.retry_after_s
        delay_s = min(LONGEST_S, FIRST_S * 2.0 ** (num_tries - 1)) if asked_s is None else asked_s
        limit_s = self._limit_s * (1.0 if asked_s is None else ASKED_FACTOR)
        if now_s + delay_s - max(began_s, self._good_at_s) > limit_s:
            return None
        if asked_s is not None:
            self._closed_until_s = max(self._closed_until_s, now_s + delay_s)
        return delay_s
