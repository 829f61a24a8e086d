"""Which token may come next: suppressed ids and the grammar of timestamps, for many rows at once.

The grammar is the reference's (openai/whisper, decoding.py): an answer begins with a timestamp of at
most 1.0 s; timestamps come in pairs that close one segment and open the next; they never go back;
and where all timestamps together are likelier than the likeliest text, it is a timestamp. One rule is
ours: no timestamp lies behind the end of the audio, where there is only padding to hear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from engine.adapters.whisper.vocabulary import NUM_TIMESTAMPS, TIMESTAMP_STEP_S, Vocabulary

MIN_REST_S: Final = 1.0
"""A segment that was begun before this much audio has something to say."""
MAX_INITIAL_STEPS: Final = round(1.0 / TIMESTAMP_STEP_S)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What one row may say next. Timestamps are counted in steps of 0.02 s, range [first, last]."""

    first_step: int
    last_step: int
    text: bool = True
    end: bool = True
    is_start: bool = False


def allowed_next(ids: Sequence[int], num_steps: int, vocabulary: Vocabulary) -> Allowed:
    """Return what may follow `ids`, generated over audio of `num_steps` steps (rounded up)."""
    first_timestamp = vocabulary.special.first_timestamp
    if not ids:
        return Allowed(0, min(MAX_INITIAL_STEPS, max(0, num_steps - 1)), text=False, end=False, is_start=True)
    last_step = next((id_ - first_timestamp for id_ in reversed(ids) if id_ >= first_timestamp), 0)
    if ids[-1] < first_timestamp:
        return Allowed(last_step + 1, num_steps)
    if len(ids) > 1 and ids[-2] < first_timestamp:
        return Allowed(last_step, num_steps - 1, text=False)
    # The model was taught to stop behind the start of a segment that its window cuts off. Ours are cut
    # in silence, so where much audio is left that segment is all there.
    is_more = len(ids) > 1 and (num_steps - last_step) * TIMESTAMP_STEP_S >= MIN_REST_S
    return Allowed(1, 0, end=not is_more)


class TokenRules:
    """Applies suppression and the timestamp grammar to logits; holds only constants."""

    def __init__(self, vocabulary: Vocabulary, suppressed: Sequence[int], at_start: Sequence[int]) -> None:
        """`suppressed` are never generated, `at_start` not as the first id; both as the checkpoint says."""
        special = vocabulary.special
        self._first_timestamp, self._end = special.first_timestamp, special.end
        commands = range(special.end + 1, special.first_timestamp)
        self._never = torch.tensor(sorted({*suppressed, *commands} - {special.end, -1}))
        self._at_start = torch.tensor(sorted(at_start), dtype=torch.long)
        self._steps = torch.arange(NUM_TIMESTAMPS)

    def apply(self, logits: Tensor, allowed: Sequence[Allowed]) -> Tensor:
        """Return `logits`, (rows, vocabulary), with everything forbidden at -inf; changed in place."""
        self._move_to(logits.device)
        first, infinity = self._first_timestamp, float("-inf")
        logits.index_fill_(1, self._never, infinity)
        logits[:, first + NUM_TIMESTAMPS :] = infinity
        lowest = torch.tensor([[row.first_step] for row in allowed], device=logits.device)
        highest = torch.tensor([[row.last_step] for row in allowed], device=logits.device)
        forbidden = (self._steps < lowest) | (self._steps > highest)
        logits[:, first : first + NUM_TIMESTAMPS].masked_fill_(forbidden, infinity)
        if logits.device.type == "cpu":
            self.forbid_one_by_one(logits, allowed)
        else:
            self.forbid_at_once(logits, allowed)
        # Both sides lack the same normalisation, so logits can be compared as they are.
        timestamps = torch.logsumexp(logits[:, first:], dim=-1)
        text = logits[:, :first].amax(dim=-1)
        is_timestamp = timestamps > text
        # Asking saves a CPU a pass over the logits; for a card it would be a wait.
        if logits.device.type != "cpu" or is_timestamp.any():
            logits[:, :first].masked_fill_(is_timestamp[:, None], infinity)
        return logits

    def forbid_one_by_one(self, logits: Tensor, allowed: Sequence[Allowed]) -> None:
        """Forbid text, the end, or a start, where a row may not have them, and touch nothing else."""
        infinity = float("-inf")
        for index, row in enumerate(allowed):
            if not row.text:
                logits[index, : self._end] = infinity
            if not row.end:
                logits[index, self._end] = infinity
            if row.is_start:
                logits[index, self._at_start] = infinity

    def forbid_at_once(self, logits: Tensor, allowed: Sequence[Allowed]) -> None:
        """Do the same for a device where each piece of work costs the same, however small it is."""
        infinity = float("-inf")
        kinds = [[not row.text, not row.end, row.is_start] for row in allowed]
        text, end, start = torch.tensor(kinds, device=logits.device).T
        logits[:, : self._end].masked_fill_(text[:, None], infinity)
        logits[:, self._end].masked_fill_(end, infinity)
        at_start = logits[:, self._at_start].masked_fill_(start[:, None], infinity)
        logits[:, self._at_start] = at_start

    def _move_to(self, device: torch.device) -> None:
        if self._never.device != device:
            self._never = self._never.to(device)
            self._at_start = self._at_start.to(device)
            self._steps = self._steps.to(device)
