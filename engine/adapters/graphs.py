"""Work on fixed tensors, recorded once as a CUDA graph and then started as a whole.

A decoder step is hundreds of small kernels; starting them one by one takes a graphics card longer than
running them. What is recorded must read and write the same tensors every time, and never wait for
the device. (pytorch.org/docs/stable/notes/cuda.html, "CUDA Graphs")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

import torch

Work = Callable[[], None]

_NUM_WARM_UPS: Final = 3
"""Runs before a recording, in which libraries choose their kernels and take their workspaces."""

_failed: Final[list[Any]] = []
"""Graphs whose recording failed: torch's allocator goes on asking them what is theirs."""


class Recorder(Protocol):
    """Turns work into something that does the same work again."""

    def record(self, work: Work) -> Work:
        """Run `work`, several times perhaps, and return what repeats it. Raises RuntimeError."""
        ...


class Plain:
    """Records nothing: the work itself is run each time, on any device."""

    def record(self, work: Work) -> Work:
        """Return `work`."""
        return work


class CudaRecorder:
    """Records CUDA graphs, which all take their memory from one pool.

    Graphs may share a pool as long as none leaves anything in it that is wanted after another has run:
    results are to be written into tensors that were made outside.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._first: Any = None
        """Kept for ever: a pool that no graph is left in cannot be taken up again."""
        self._stream: Any = None

    def record(self, work: Work) -> Work:
        """Warm up aside of the current stream, then record. Call, and replay, in inference mode.

        The generator's state is touched by both, and once it was made in that mode it cannot be
        changed outside of it. (github.com/pytorch/pytorch/issues/166792)
        """
        with torch.cuda.device(self._device):
            if self._stream is None:
                self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
            current = torch.cuda.current_stream()
            self._stream.wait_stream(current)
            with torch.cuda.stream(self._stream):
                for _ in range(_NUM_WARM_UPS):
                    work()
            current.wait_stream(self._stream)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            try:
                pool = None if self._first is None else self._first.pool()
                with torch.cuda.graph(graph, pool=pool, stream=self._stream):
                    work()
            except BaseException as error:
                # Leaving a recording that failed raises before the stream is changed back, and says
                # nothing of what went wrong in it.
                torch.cuda.set_stream(current)
                _failed.append(graph)
                cause = error.__context__
                raise cause if isinstance(cause, RuntimeError) else error from None
            self._first = self._first or graph

        def replay() -> None:
            graph.replay()

        return replay
