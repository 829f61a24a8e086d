"""Reads one media file in a thread of its own and hands the manager a chunk for every credit."""

from __future__ import annotations

from dataclasses import dataclass

from engine.protocol.requests import JobId


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What to read, and how to cut it."""

    job: JobId
    path: str
    max_chunk_s: float
    audio_track: int | None = None
    use_vad: bool = True
    resume_at_sample: int = 0
    """Chunks that end well before it are counted but not sent."""


class MediaReader:
    """One open file. Says MediaOpened, then one MediaChunk or NothingUntil per credit, then an ending.

    MediaTrouble and the ending (MediaEnd or MediaFailed) need no credit. After `stop` nothing is said.
    All methods may be called from the manager's loop; none waits, except `join`.
    """

    def __init__(self, reading: Reading, inbox_address: str) -> None: ...

    def start(self) -> None:
        """Begin to read; the first chunk is prepared before the first credit comes."""
        raise NotImplementedError

    def credit(self, count: int = 1) -> None:
        """Allow `count` more messages."""
        raise NotImplementedError

    def stop(self) -> None:
        """Say nothing more and end soon."""
        raise NotImplementedError

    def join(self, timeout_s: float) -> bool:
        """Wait for the thread; return whether it has ended."""
        raise NotImplementedError


def probe_media(job: JobId, path: str, inbox_address: str) -> None:
    """Open `path` in a thread and say MediaOpened and MediaEnd, or MediaFailed."""
    raise NotImplementedError
