"""A bounded memory of what may be wanted again soon; whoever asks must be able to do without."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Recent(Generic[K, V]):
    """Keeps the values used last, as many as fit `max_cost`; a value that is too large is not kept."""

    def __init__(self, max_cost: int, cost: Callable[[V], int]) -> None:
        self._max_cost = max_cost
        self._cost = cost
        self._values: OrderedDict[K, V] = OrderedDict()
        self._total = 0

    @property
    def total(self) -> int:
        """What all that is kept costs."""
        return self._total

    def get(self, key: K) -> V | None:
        """Return what is kept under `key`, and keep it longer."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Keep `value`; the oldest go where room is needed."""
        self.forget(key)
        self._values[key] = value
        self._total += self._cost(value)
        while self._total > self._max_cost:
            self.forget(next(iter(self._values)))

    def forget(self, key: K) -> None:
        """Drop what is kept under `key`, if anything."""
        if key in self._values:
            self._total -= self._cost(self._values.pop(key))

    def clear(self) -> None:
        """Drop everything."""
        self._values.clear()
        self._total = 0
