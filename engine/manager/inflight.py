"""The chunks one model has not answered: what to send, what to send again, and who is poison. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from engine.messages import Chunk
from engine.protocol.requests import JobId

POISON_DEATHS = 2
"""A chunk that was alone in a process when it died, after having been in one that died before."""


@dataclass(slots=True)
class _Entry:
    chunk: Chunk
    is_sent: bool = False
    num_deaths: int = 0


class InFlight:
    """Unanswered chunks in the order they came.

    After a death nobody knows which chunk was to blame, so all that were sent are suspects and go
    out again one at a time, each alone, before anything else: the one that is alone in a second
    death is poison, and no innocent chunk ever is.
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

    def take_sendable(self) -> list[Chunk]:
        """Return what is to be sent now, and remember it as sent."""
        suspects = [entry for entry in self._entries.values() if entry.num_deaths]
        if suspects:
            is_clear = not any(entry.is_sent for entry in self._entries.values())
            chosen = suspects[:1] if is_clear else []
        else:
            chosen = [entry for entry in self._entries.values() if not entry.is_sent]
        for entry in chosen:
            entry.is_sent = True
        return [entry.chunk for entry in chosen]

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
