"""What a model must offer to be served; no torch here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from engine.messages import Chunk, Finished, RequestKey
from engine.protocol.transcript import Segment


class LocalAgreement(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Live text is confirmed when decodings in a row, two at least, agree on it. (whole-window models)"""

    pace_s: float = 0.3
    """New speech that is worth another decoding."""
    stable_s: float = 0.6
    """So much audio must have come since it was first heard: decodings close together err alike."""
    held_s: float = 0.3
    """What is heard so close to the end of the audio may still change."""
    sure_logprob: float = -1.0
    unsure_held_s: float = 1.5
    """The same for a token that is less likely than `sure_logprob`."""
    settled_s: float = 2.5
    """What lies so far behind the audio's end is confirmed as it was heard last: it seldom gets better.
    (base, 23 clips in 7 languages: 95 in 100 words confirmed within 2.7 s instead of 3.3; one error more)"""


class PrefixRollback(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Live text is confirmed but for its last tokens, which each chunk says anew. (chunk-wise models)"""

    pace_s: float = 2.0
    """The length of a chunk."""
    unfixed_s: float = 4.0
    """Nothing is confirmed of audio shorter than this: its beginning is often misheard."""
    unfixed_tokens: int = 5
    anchor_s: float = 40.0
    """A window so long begins anew at a short pause of the past, with the text from there on: hearing costs
    the more the longer it is, and what was heard is read again for every chunk."""


Confirmation = LocalAgreement | PrefixRollback


class ModelTraits(msgspec.Struct, frozen=True, kw_only=True):
    """What the manager must know of a model before its network is loaded."""

    family: str
    languages: tuple[str, ...]
    """Codes it can be asked for; one entry = it has no choice."""
    can_translate: bool
    max_chunk_s: float
    """The longest range of audio that fits one chunk."""
    confirmation: Confirmation = LocalAgreement()
    """How live text of this model becomes confirmed."""


class RuntimeOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a network is to be run; an adapter chooses what is left at None."""

    device: str | None = None
    dtype: str | None = None
    num_threads: int | None = None
    num_slots: int | None = None
    cache_folder: str | None = None
    """Where weights in this machine's own form may be kept; without it they are made at every start."""
    companion_folder: str | None = None
    """Where a network that helps this one would lie; whether it is there may change at any time."""


class OutOfMemory(Exception):
    """The device could not hold the batch; nothing of the call has happened, fewer rows may fit."""


class Retry(msgspec.Struct, frozen=True):
    """The guards object to this attempt: decode the chunk again as attempt + 1.

    The attempt behind the last temperature is the best of those before it; it is never retried.
    """

    reason: str


@dataclass(slots=True, kw_only=True, eq=False)
class Decode:
    """One request in the running batch. The adapter writes it, the scheduler reads it.

    `outcome` is None while it runs; then `Finished` (accepted) or `Retry`. Ids are those generated:
    neither the forced prefix nor the end-of-text token is among them.
    """

    chunk: Chunk
    key: RequestKey
    """Its `attempt` may be larger than the chunk's own: attempt n decodes at `temperatures[n]`."""
    prefix_ids: tuple[int, ...] = ()
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    attended_s: list[float] = field(default_factory=list)
    language: str | None = None
    language_probability: float | None = None
    outcome: Finished | Retry | None = None
    num_sent: int = 0
    """How many ids have gone to the detokenizer; the scheduler's own."""


class Admission(msgspec.Struct, frozen=True):
    """A chunk to decode and the attempt it is on. (attempt 0 = `temperatures[0]`)"""

    chunk: Chunk
    attempt: int = 0


class AsrAdapter(Protocol):
    """A loaded network that decodes many chunks at once. Called from the scheduler's loop only."""

    device: str
    """For people: "CPU, float32, 2 threads"."""
    slots: int
    """Rows that may run at once; the scheduler never admits more."""

    def rows(self, chunk: Chunk) -> int:
        """How many rows a decoding of `chunk` takes (a beam of 5 takes 5)."""
        ...

    def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
        """Encode together, detect missing languages, prefill the prompts; one Decode for each.

        A Decode may already have its outcome (silence). A chunk that cannot be decoded at all
        (unknown language) raises FailureError only when admitted alone. Raises OutOfMemory.
        """
        ...

    def step(self, running: Sequence[Decode]) -> None:
        """Generate one token for each; sets the `outcome` of those that ended. Raises OutOfMemory."""
        ...

    def release(self, decodes: Sequence[Decode]) -> None:
        """Free the rows of these; they are never passed again. Aborting is releasing early."""
        ...

    def resize(self, slots: int) -> None:
        """Hold at most `slots` rows from now on; called only while nothing runs in the freed ones."""
        ...


class AsrText(Protocol):
    """A vocabulary and what its ids mean; one per family, used where no torch is."""

    special_ids: frozenset[int]
    """Left out of the text when special tokens are skipped (timestamps included)."""
    stop_ids: frozenset[int]
    """Ids that end a decoding; trimmed from the text unless asked for."""

    def decode(self, batch: Sequence[Sequence[int]], *, skip_special: bool) -> list[str]:
        """Return the text of each id list; an incomplete UTF-8 sequence reads as U+FFFD."""
        ...

    def pieces(self, ids: Sequence[int]) -> tuple[bytes, ...]:
        """Return the bytes of each id; special ids are empty."""
        ...

    def segments(
        self, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> tuple[Segment, ...]:
        """Group all ids of an accepted attempt into segments, times in seconds within the chunk.

        The segments' texts joined are exactly the decoded text without special tokens.
        """
        ...
