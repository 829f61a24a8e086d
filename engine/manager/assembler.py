"""Puts the answers of a job's chunks, which come in any order, into the one order they are told in."""

from __future__ import annotations

from engine.messages import MediaChunk, StrOutput
from engine.protocol.events import Confirmed, SegmentDone, Tail
from engine.protocol.requests import JobId

Told = Confirmed | SegmentDone | Tail


class Assembler:
    """The transcript of one job while it grows; pure, owned by the manager's loop.

    Every method returns what may now be told, in order. Late, doubled and unknown answers are ignored.
    """

    def __init__(self, job: JobId, *, resume_at_sample: int = 0) -> None:
        """Segments that start before `resume_at_sample` are not told: the client has them."""

    def add_chunk(self, chunk: MediaChunk) -> list[Told]:
        """Expect an answer to `chunk`; chunks come in order, indexes before the first are taken as told."""
        raise NotImplementedError

    def answer(self, output: StrOutput) -> list[Told]:
        """Take new text of a chunk, or with `finished` its whole answer. A higher attempt replaces a lower."""
        raise NotImplementedError

    def restart(self, index: int) -> list[Told]:
        """Forget the unfinished text of a chunk that is sent again under the same key (its worker died)."""
        raise NotImplementedError

    def skip(self, index: int) -> list[Told]:
        """Take "no text" for the answer to a chunk."""
        raise NotImplementedError

    def nothing_until(self, sample: int) -> list[Told]:
        """Know that no chunk that is still to come starts before `sample`."""
        raise NotImplementedError

    def end(self, num_chunks: int, num_samples: int) -> list[Told]:
        """Know that the media has ended."""
        raise NotImplementedError

    @property
    def is_complete(self) -> bool:
        """The media has ended and every chunk is answered and told."""
        raise NotImplementedError

    @property
    def done_samples(self) -> int:
        """Everything before this sample is confirmed; never goes back."""
        raise NotImplementedError
