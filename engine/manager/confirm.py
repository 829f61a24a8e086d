"""What of live text becomes confirmed: two policies behind one interface; pure.

Everything works on the model's tokens. Text is cut only between whole characters, and between words
where the script has spaces; a mark may follow later. Confirmed text is append-only: a hypothesis that
contradicts it is counted, and goes on behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Final, Protocol, assert_never

import msgspec

from engine.adapters.base import Confirmation, LocalAgreement, PrefixRollback
from engine.manager.cuts import legal_cuts
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.transcript import TimeSource

MAX_REPEATED_IDS: Final = 12
"""So many tokens around the end of the confirmed text may be said again by a contradicting hypothesis."""

SHORTEST_CHUNK_S: Final = 0.5
"""New speech of a live decode, where one was chosen: shorter ones keep the machine busy for nothing."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One token: its UTF-8 bytes, empty for a special one, and when it was said, in samples."""

    id: int
    text: bytes
    start: int
    end: int
    attended: int
    """Where the model looked while it said this."""
    logprob: float = 0.0
    time_source: TimeSource = TimeSource.MODEL

    @property
    def is_special(self) -> bool:
        return not self.text


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """All that is said in the open window, confirmed text included, as of audio [start, end)."""

    pieces: tuple[Piece, ...]
    end: int
    start: int = 0


@dataclass(frozen=True, slots=True)
class Update:
    """What a hypothesis has changed."""

    confirmed: tuple[Piece, ...]
    tail: tuple[Piece, ...]

    @property
    def confirmed_delta(self) -> str:
        return text_of(self.confirmed)

    @property
    def tail_text(self) -> str:
        """The tail as it can be shown: a character that is not complete yet is left out."""
        return text_of(self.tail).rstrip("\ufffd")


class Confirmer(Protocol):
    """One session's judgement of its hypotheses."""

    @property
    def open(self) -> tuple[Piece, ...]:
        """The confirmed pieces of the open window."""
        ...

    @property
    def tail(self) -> tuple[Piece, ...]:
        """What the last hypothesis says behind them."""
        ...

    num_revisions: int
    """Hypotheses that contradicted confirmed text."""

    def contradicts(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis does not begin with the confirmed text."""
        ...

    def update(self, hypothesis: Hypothesis) -> Update:
        """Take the next hypothesis."""
        ...

    def finish(self, hypothesis: Hypothesis | None) -> Update:
        """Confirm all of the last hypothesis; None: of the one before it."""
        ...

    def anchor(self, num_open: int) -> None:
        """Let the window begin anew, with only the last `num_open` confirmed pieces in it."""
        ...


def confirmer_for(confirmation: Confirmation) -> Confirmer:
    """Return a new confirmer of the policy an adapter names."""
    match confirmation:
        case LocalAgreement():
            return AgreementConfirmer(confirmation)
        case PrefixRollback():
            return RollbackConfirmer(confirmation)
        case _:
            assert_never(confirmation)


def paced(confirmation: Confirmation, chunk_s: float | None) -> Confirmation:
    """Return the policy with chunks of another length, if one was chosen and the model hears in chunks."""
    if chunk_s is None or not isinstance(confirmation, PrefixRollback):
        return confirmation
    return msgspec.structs.replace(confirmation, pace_s=max(SHORTEST_CHUNK_S, chunk_s))


def text_of(pieces: Sequence[Piece]) -> str:
    """Return the text of pieces; bytes that are no character read as U+FFFD."""
    return b"".join(piece.text for piece in pieces).decode(errors="replace")


class _Window:
    """The confirmed pieces of the open window and what was last heard behind them."""

    def __init__(self) -> None:
        self.num_revisions = 0
        self._open: list[Piece] = []
        self._tail: tuple[Piece, ...] = ()

    @property
    def open(self) -> tuple[Piece, ...]:
        return tuple(self._open)

    @property
    def tail(self) -> tuple[Piece, ...]:
        return self._tail

    def contradicts(self, hypothesis: Hypothesis) -> bool:
        """Say whether a hypothesis does not begin with the confirmed text."""
        confirmed = _spoken_ids(self._open)
        return _spoken_ids(hypothesis.pieces)[: len(confirmed)] != confirmed

    def finish(self, hypothesis: Hypothesis | None) -> Update:
        """Confirm all of the last hypothesis; None: of the one before it."""
        rest = self._tail if hypothesis is None else self._behind_confirmed(hypothesis)
        return self._confirm(rest, len(rest))

    def anchor(self, num_open: int) -> None:
        """Let the window begin anew, with only the last `num_open` confirmed pieces in it.

        Special pieces are about the old window and leave with it.
        """
        kept = self._open[len(self._open) - num_open :] if num_open else []
        self._open = [piece for piece in kept if not piece.is_special]
        if not kept:
            self._tail = ()

    def _confirm(self, rest: tuple[Piece, ...], count: int) -> Update:
        while count and rest[count - 1].is_special:
            count -= 1
        self._open += rest[:count]
        self._tail = rest[count:]
        return Update(rest[:count], self._tail)

    def _behind_confirmed(self, hypothesis: Hypothesis) -> tuple[Piece, ...]:
        """Return what a hypothesis says behind the confirmed text."""
        if self.contradicts(hypothesis):
            self.num_revisions += 1
            return self._later(hypothesis)
        num_confirmed = len(_spoken_ids(self._open))
        said = [index for index, piece in enumerate(hypothesis.pieces) if not piece.is_special]
        return hypothesis.pieces[said[num_confirmed - 1] + 1 if num_confirmed else 0 :]

    def _later(self, hypothesis: Hypothesis) -> tuple[Piece, ...]:
        """Find by time where a contradicting hypothesis goes on, and leave out what it says again."""
        reached = max(piece.end for piece in self._open)
        pieces = hypothesis.pieces
        cuts = legal_cuts([piece.text for piece in pieces])
        later = [
            index
            for index, piece in enumerate(pieces)
            if cuts[index] and not piece.is_special and piece.start + piece.end >= 2 * reached
        ]
        if not later:
            return ()
        rest = pieces[later[0] :]
        before = _spoken_ids(self._open)
        for count in range(min(MAX_REPEATED_IDS, len(before), len(rest)), 1, -1):
            if [piece.id for piece in rest[:count]] == before[-count:]:
                return rest[count:]
        return rest


class AgreementConfirmer(_Window):
    """Confirms what hypotheses in a row agree on for long enough, and is not heard at the audio's end;
    and what lies far behind that end, agreed on or not, so that no wait is longer.

    Local agreement is Liu et al. 2020 ("Low-latency sequence-to-sequence speech recognition"); stopping
    where attention reaches the end of the audio is AlignAtt (Papi et al. 2023).
    """

    def __init__(self, numbers: LocalAgreement) -> None:
        super().__init__()
        self._numbers = numbers
        self._stable_samples = round(numbers.stable_s * SAMPLE_RATE_HZ)
        self._settled_samples = round(numbers.settled_s * SAMPLE_RATE_HZ)
        self._since: list[int] = []
        """How much audio there was when each token of the tail was first heard so; special ones aside."""

    def update(self, hypothesis: Hypothesis) -> Update:
        """Take the next hypothesis."""
        known = [piece for piece in self._tail if not piece.is_special]
        rest = self._behind_confirmed(hypothesis)
        said = [index for index, piece in enumerate(rest) if not piece.is_special]
        heard = [rest[index] for index in said]
        num_same = _num_same(known, heard)
        since = [*self._since[:num_same], *[hypothesis.end] * (len(heard) - num_same)]
        num_agreed = 0
        for piece, first in zip(heard[:num_same], since, strict=False):
            if hypothesis.end - first < self._stable_samples or self._is_held(piece, hypothesis.end):
                break
            num_agreed += 1
        cuts = legal_cuts([piece.text for piece in heard])
        known_cuts = legal_cuts([piece.text for piece in known])
        num_agreed = _last_cut(num_agreed, cuts, known_cuts)
        num_agreed = max(num_agreed, self._num_settled(heard, cuts, hypothesis.end))
        self._since = since[num_agreed:]
        return self._confirm(rest, said[num_agreed - 1] + 1 if num_agreed else 0)

    def finish(self, hypothesis: Hypothesis | None) -> Update:
        """Confirm all of the last hypothesis; None: of the one before it."""
        self._since = []
        return super().finish(hypothesis)

    def _num_settled(self, heard: Sequence[Piece], cuts: Sequence[bool], end: int) -> int:
        """Return how many pieces, whole words, lie so far back that nobody waits for agreement on them."""
        limit = end - self._settled_samples
        count = sum(1 for _ in takewhile(lambda piece: max(piece.attended, piece.end) <= limit, heard))
        return _last_cut(count, cuts)

    def _is_held(self, piece: Piece, end: int) -> bool:
        """Say whether more audio may still change a piece. Marks are heard in pauses, anywhere."""
        if _is_mark(piece):
            return False
        numbers = self._numbers
        held_s = numbers.held_s if piece.logprob >= numbers.sure_logprob else numbers.unsure_held_s
        return max(piece.attended, piece.end) > end - round(held_s * SAMPLE_RATE_HZ)


class RollbackConfirmer(_Window):
    """For models that hear the audio chunk by chunk: all but the last few tokens is confirmed each time.

    The numbers and the idea are those of Qwen3-ASR's streaming mode (Qwen3-ASR technical report, 2026).
    """

    def __init__(self, numbers: PrefixRollback) -> None:
        super().__init__()
        self._numbers = numbers
        self._unfixed_samples = round(numbers.unfixed_s * SAMPLE_RATE_HZ)

    def update(self, hypothesis: Hypothesis) -> Update:
        """Take the next hypothesis."""
        rest = self._behind_confirmed(hypothesis)
        if hypothesis.end - hypothesis.start < self._unfixed_samples:
            return self._confirm(rest, 0)
        said = [index for index, piece in enumerate(rest) if not piece.is_special]
        cuts = legal_cuts([rest[index].text for index in said])
        count = _last_cut(max(0, len(said) - self._numbers.unfixed_tokens), cuts)
        return self._confirm(rest, said[count - 1] + 1 if count else 0)


def _last_cut(count: int, *cuts: Sequence[bool]) -> int:
    """Return how many pieces, `count` at the most, end at a legal cut of all."""
    while count and not all(of_one[count] for of_one in cuts):
        count -= 1
    return count


def _num_same(one: Sequence[Piece], other: Sequence[Piece]) -> int:
    """Return how many tokens both begin with."""
    pairs = zip(one, other, strict=False)
    differing = (index for index, (left, right) in enumerate(pairs) if left.id != right.id)
    return next(differing, min(len(one), len(other)))


def _spoken_ids(pieces: Sequence[Piece]) -> list[int]:
    return [piece.id for piece in pieces if not piece.is_special]


def _is_mark(piece: Piece) -> bool:
    text = piece.text.decode(errors="replace")
    return not any(char.isalnum() or char == "\ufffd" for char in text)
