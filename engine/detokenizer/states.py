"""The requests whose text is being put together, bounded in number."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.adapters.base import AsrText
from engine.detokenizer.incremental import DecodeStatus, ShowRules
from engine.messages import TokenIDs
from engine.protocol.requests import JobId


@dataclass(slots=True)
class RequestState:
    """One attempt at one chunk."""

    attempt: int
    status: DecodeStatus
    ids: list[int] = field(default_factory=list)
    """All of the attempt, hidden ones included."""
    logprobs: list[float] = field(default_factory=list)

    def extend(self, ids: Sequence[int], logprobs: Sequence[float]) -> None:
        self.ids += ids
        self.logprobs += logprobs
        self.status.extend(ids)


class StateStore:
    """At most `max_states` of them; the one that was not heard of for longest is dropped for a new one."""

    def __init__(self, max_states: int) -> None:
        self._max_states = max(1, max_states)
        self._states: OrderedDict[tuple[JobId, int], RequestState] = OrderedDict()

    def __len__(self) -> int:
        return len(self._states)

    def place(self, output: TokenIDs, text: AsrText) -> RequestState | None:
        """Return the state that `output` goes on with: a new one where it begins an attempt.

        None where what came before is not known: it was dropped, or never arrived.
        """
        place = (output.key.job, output.key.chunk)
        if output.first_index == 0:
            status = DecodeStatus(show_rules(output, text), output.prefix_ids)
            self._states[place] = RequestState(output.key.attempt, status)
        state = self._states.get(place)
        if state is None or (state.attempt, len(state.ids)) != (output.key.attempt, output.first_index):
            return None
        self._states.move_to_end(place)
        if len(self._states) > self._max_states:
            self._states.popitem(last=False)
        return state

    def drop(self, job: JobId, chunk: int) -> None:
        """Forget a request that has its answer."""
        self._states.pop((job, chunk), None)

    def drop_job(self, job: JobId) -> None:
        for place in [place for place in self._states if place[0] == job]:
            del self._states[place]


def show_rules(output: TokenIDs, text: AsrText) -> ShowRules:
    """Return what of a request is to be seen, by its own options and its model's vocabulary."""
    options = output.options
    return ShowRules(
        hidden_ids=text.special_ids if options.skip_special_tokens else frozenset(),
        stop_ids=text.stop_ids,
        stop_strings=options.stop_strings,
        keep_stop=options.keep_stop,
    )
