"""The chunks one model has not answered: what to send, what to send again, and who is poison. Pure."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from engine.messages import Chunk, ChunkKind
from engine.protocol.requests import JobId

POISON_DEATHS = 2
"""A chunk that was alone in a process when it died, after having been in one that died before."""


@dataclass(slots=True)
class _Entry:
    chunk: Chunk
    is_sent: bool = False
    num_deaths: int = 0

    @property
    def is_live(self) -> bool:
        return self.chunk.kind is not ChunkKind.FILE


class InFlight:
    """Unanswered chunks in the order they came.

    Few more are sent than the model can run, so that few are suspects when its process dies. Nobody
    knows then which chunk was to blame: all that were sent go out again one at a time, each alone,
    before anything else. The one that is alone in a second death is poison; no innocent chunk is.
    """

    def __init__(self) -> None:
        self._entries: dict[tuple[JobId, int], _Entry] = {}

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: tuple[JobId, int]) -> bool:
        return key in self._entries

    @property
    def sent(self) -> list[tuple[JobId, int]]:
        """What may be in the model's process now."""
        return [key for key, entry in self._entries.items() if entry.is_sent]

    @property
    def num_all_bytes(self) -> int:
        """How much audio is on its way, of all jobs."""
        return sum(len(entry.chunk.pcm) for entry in self._entries.values())

    def num_bytes(self, job: JobId) -> int:
        """Return how much audio of `job` is on its way."""
        return sum(len(entry.chunk.pcm) for (owner, _), entry in self._entries.items() if owner == job)

    def add(self, chunk: Chunk) -> None:
        """Take in a chunk to be answered."""
        self._entries[chunk.key.job, chunk.key.chunk] = _Entry(chunk)

    def answered(self, job: JobId, index: int) -> bool:
        """Forget a chunk that was answered; False if it was not waiting for an answer."""
        return self._entries.pop((job, index), None) is not None

    def drop(self, job: JobId) -> None:
        """Forget the chunks of a job."""
        for key in [key for key in self._entries if key[0] == job]:
            del self._entries[key]

    def take_sendable(self, limit: int) -> list[Chunk]:
        """Return what is to be sent now, so that at most `limit` are out, and remember it as sent.

        Live chunks go at once, whatever is out. Among files jobs take turns: the one with the fewest
        out is next, and within a job the oldest chunk.
        """
        sent = [key for key, entry in self._entries.items() if entry.is_sent]
        suspects = [key for key, entry in self._entries.items() if entry.num_deaths]
        if suspects:
            chosen = [] if sent else suspects[:1]
        else:
            live = [key for key, entry in self._entries.items() if entry.is_live and not entry.is_sent]
            num_out = Counter(job for job, _ in sent)
            chosen = [*live, *self._in_turn(num_out, limit - len(sent) - len(live))]
        for key in chosen:
            self._entries[key].is_sent = True
        return [self._entries[key].chunk for key in chosen]

    def _in_turn(self, num_out: Counter[JobId], room: int) -> list[tuple[JobId, int]]:
        waiting: dict[JobId, deque[tuple[JobId, int]]] = {}
        for key, entry in self._entries.items():
            if not entry.is_sent and not entry.is_live:
                waiting.setdefault(key[0], deque()).append(key)
        chosen: list[tuple[JobId, int]] = []
        while waiting and len(chosen) < room:
            job = min(waiting, key=lambda name: num_out[name])
            chosen.append(waiting[job].popleft())
            num_out[job] += 1
            if not waiting[job]:
                del waiting[job]
        return chosen

    def process_died(self) -> list[Chunk]:
        """Note that the process with all sent chunks is gone; return the poison among them, forgotten."""
        poison = []
        for key, entry in list(self._entries.items()):
            if entry.is_sent:
                entry.is_sent = False
                entry.num_deaths += 1
                if entry.num_deaths >= POISON_DEATHS:
                    poison.append(self._entries.pop(key).chunk)
        return poison

    def send_again(self) -> None:
        """Have everything sent once more: answers may have been lost, nobody is suspected."""
        for entry in self._entries.values():
            entry.is_sent = False
