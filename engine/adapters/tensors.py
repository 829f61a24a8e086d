"""The weights of a checkpoint by name, read only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class WeightSource:
    """Where a weight is to be had."""

    shape: tuple[int, ...]
    read: Callable[[], Tensor]
    """Returns the weight as stored or dequantised; raises FailureError."""


class Tensors(Mapping[str, Tensor]):
    """The weights by their Hugging Face names; read from the mapped file when asked for, and not kept.

    So a checkpoint is never in memory twice, whatever the network makes of each weight.
    """

    def __init__(self, sources: Mapping[str, WeightSource]) -> None:
        self._sources = dict(sources)

    def __getitem__(self, name: str) -> Tensor:
        return self._sources[name].read()

    def __iter__(self) -> Iterator[str]:
        return iter(self._sources)

    def __len__(self) -> int:
        return len(self._sources)

    def __contains__(self, name: object) -> bool:
        return name in self._sources

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a weight's shape without reading it. Raises KeyError."""
        return self._sources[name].shape
