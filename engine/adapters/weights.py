"""Takes a checkpoint's weights by name, checks their shapes and puts them into their final form."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from engine.adapters.checkpoint import Checkpoint
from engine.adapters.crew import share_weight
from engine.adapters.layers import ByChannel, ChannelLinear, LayerNorm, Linear, Projection, TurnedOver
from engine.adapters.packed import PackedLinear, can_pack
from engine.adapters.quantised import Quantised, QuantisedLinear, quantise
from engine.adapters.runtime import Runtime
from engine.adapters.weight_cache import WeightCache
from engine.protocol.failures import FailureError, FailureKind, failure


class WeightReader:
    """Reads one checkpoint for one runtime. `rename` turns our names into the checkpoint's."""

    def __init__(
        self, checkpoint: Checkpoint, runtime: Runtime, cache: WeightCache, rename: Callable[[str], str]
    ) -> None:
        self._checkpoint = checkpoint
        self._device = runtime.device
        self._cache = cache
        self._rename = rename
        self.num_threads = runtime.num_threads
        self._text = runtime.formats.text
        self._is_quantised = runtime.formats.is_quantised
        self._taken: set[str] = set()

    @property
    def left(self) -> list[str]:
        """The names of weights that nobody took, as the checkpoint has them."""
        return sorted(set(self._checkpoint.tensors) - self._taken)

    def take(self, name: str, *shape: int) -> Tensor:
        """Return a weight. Raises FailureError where it is missing or of another shape."""
        return self._take(name, shape).to(self._device, self._text)

    def projection(
        self,
        name: str,
        kind: torch.dtype,
        make: Callable[[], Tensor],
        bias: Tensor | None,
        *,
        has_gelu: bool = False,
    ) -> Projection:
        """Return a projection made of `kind`; `make` gives its weight where the cache does not know it."""
        if kind is torch.int8:
            made: list[Quantised] = []

            def quantised() -> Quantised:
                if not made:
                    made.append(quantise(make()))
                return made[0]

            weight = self._cache.take(f"{name}.weight", lambda: quantised().weight)
            scale = self._cache.take(f"{name}.scale", lambda: quantised().scale)
            num_threads = share_weight(weight.nbytes, self.num_threads)
            return QuantisedLinear(Quantised(weight, scale), bias, has_gelu=has_gelu, num_threads=num_threads)
        weight = self._cache.take(f"{name}.weight", lambda: make().to(kind))
        if kind is torch.bfloat16 and self._device.type == "cpu" and can_pack():
            num_threads = share_weight(weight.nbytes, self.num_threads)
            return PackedLinear(weight, bias, has_gelu=has_gelu, num_threads=num_threads)
        return Linear(weight, bias.to(kind) if bias is not None else None, has_gelu)

    def by_channel(self, name: str, kind: torch.dtype, make: Callable[[], Tensor]) -> ByChannel:
        """Return a projection of whole windows that gives channels; otherwise as `projection`."""
        if kind is torch.int8:
            return TurnedOver(self.projection(name, kind, make, None))
        # A copy, since one small tensor would keep all pages of the mapped file.
        return ChannelLinear(self._cache.take(f"{name}.weight", lambda: make().to(kind)).clone())

    def linear(
        self,
        name: str,
        kind: torch.dtype,
        n_out: int,
        n_in: int,
        *,
        has_bias: bool = True,
        has_gelu: bool = False,
    ) -> Projection:
        """Return the projection that a weight and its bias are."""
        self.expect(f"{name}.weight", n_out, n_in)
        bias = self.take(f"{name}.bias", n_out) if has_bias else None
        return self.projection(
            name, kind, lambda: self.take(f"{name}.weight", n_out, n_in), bias, has_gelu=has_gelu
        )

    def stack(
        self,
        name: str,
        kind: torch.dtype,
        parts: list[tuple[str, int]],
        n_in: int,
        bias: Tensor | None = None,
    ) -> Projection:
        """Return one projection of several with the same input, each a name and how much it gives."""
        for part, n_out in parts:
            self.expect(f"{part}.weight", n_out, n_in)

        def weight() -> Tensor:
            weights = [self.take(f"{part}.weight", n_out, n_in) for part, n_out in parts]
            return weights[0] if len(weights) == 1 else torch.cat(weights)

        return self.projection(name, kind, weight, bias)

    def embedding(self, name: str, n_vocab: int, width: int) -> Tensor:
        """Return a table of rows to be looked up; in a quantised network a mapped one of half the size."""
        self.expect(name, n_vocab, width)
        if not self._is_quantised:
            return self.take(name, n_vocab, width)
        return self._cache.look_up(name, lambda: self.take(name, n_vocab, width).half())

    def norm(self, name: str, width: int) -> LayerNorm:
        return LayerNorm(self.take(f"{name}.weight", width), self.take(f"{name}.bias", width))

    def num_rows(self, name: str) -> int:
        """Return a weight's first dimension, 0 where it is missing."""
        full_name = self._rename(name)
        known = full_name in self._checkpoint.tensors
        return self._checkpoint.tensors.shape(full_name)[0] if known else 0

    def expect(self, name: str, *shape: int) -> str:
        """Check that a weight is there in this shape, and return the checkpoint's name for it.

        Raises FailureError; a cache that knows the weight must not hide that it is gone.
        """
        full_name = self._rename(name)
        folder, tensors = self._checkpoint.folder, self._checkpoint.tensors
        if full_name not in tensors:
            detail = f"{folder}: {full_name} is missing"
            raise FailureError(failure(FailureKind.MODEL_INCOMPLETE, folder.name, detail))
        found = tensors.shape(full_name)
        if found != shape:
            raise self._checkpoint.broken(f"{full_name} has shape {found}, not {shape}")
        self._taken.add(full_name)
        return full_name

    def _take(self, name: str, shape: tuple[int, ...]) -> Tensor:
        return self._checkpoint.tensors[self.expect(name, *shape)]
