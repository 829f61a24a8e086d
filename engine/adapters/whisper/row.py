"""One decoding while it runs: what it has said, what it may say next, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import torch
from torch import Tensor

from engine.adapters.base import Decode
from engine.adapters.kv import Move
from engine.adapters.loops import find_loop
from engine.adapters.whisper.beam import BeamSearch, Choice, SearchRules
from engine.adapters.whisper.guards import MAX_NO_SPEECH_PROB, Attempt, compression_ratio
from engine.adapters.whisper.rules import Allowed, allowed_next
from engine.adapters.whisper.sampling import Dice
from engine.adapters.whisper.vocabulary import TIMESTAMP_STEP_S, Vocabulary
from engine.adapters.whisper.word_times import FRAME_S, begin_with_sound, token_times
from engine.messages import SAMPLE_RATE_HZ, ChunkKind, FinishReason

BUDGET_IDS_PER_S: Final = 16.0
"""Fast speech takes 5 ids a second in English, and three times that where each character takes three ids."""
BUDGET_MIN_IDS: Final = 32


@dataclass(slots=True, kw_only=True, eq=False)
class Row:
    """The adapter's side of a `Decode`, which shows the `ids` chosen here as soon as it may."""

    decode: Decode
    vocabulary: Vocabulary
    content: bytes
    """Digest of the audio."""
    dice: Dice
    is_final: bool
    """No attempt follows, whatever the guards say."""
    may_guess: bool
    """A step may read what was not said yet."""
    slots: tuple[int, ...] = ()
    """One, or one for each beam, of which the first reads the prompt."""
    search: BeamSearch | None = None
    """Where several answers are followed. Then `ids` are what all begin with, until one is kept."""
    prompt: tuple[int, ...] = ()
    prefix: tuple[int, ...] = ()
    """Said before, of the same audio: the answer begins behind it."""
    draft: tuple[int, ...] = ()
    """Perhaps said next: to be checked together with the prompt."""
    max_ids: int = 0
    num_steps: int = 0
    num_drafted: int = 0
    num_windows: int = 0
    num_windows_known: int = 0
    no_speech_prob: float = 0.0
    reason: FinishReason | None = None
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    end_logprob: float = 0.0
    attended_s: list[float] = field(default_factory=list)
    attention: list[Tensor] = field(default_factory=list)
    """(alignment heads, frames of audio) for each id of prefix and answer, and the end; only where word
    times are wanted."""

    @property
    def duration_s(self) -> float:
        return self.decode.chunk.num_samples / SAMPLE_RATE_HZ

    @property
    def wants_words(self) -> bool:
        return self.decode.chunk.options.word_timestamps

    @property
    def is_live(self) -> bool:
        return self.decode.chunk.kind is not ChunkKind.FILE

    @property
    def wants_attention(self) -> bool:
        """Live text is confirmed by where its attention lies."""
        return self.wants_words or self.is_live

    @property
    def hears_each_step(self) -> bool:
        """Beams are not listened to: the one that is kept is heard once more as a whole."""
        return self.wants_attention and self.search is None

    @property
    def is_held(self) -> bool:
        """True while its text may not be shown: it may prove silence, or has a loop cut off at its end.

        Live text goes out with where it was heard, which of beams is known in the end.
        """
        is_unheard = self.search is not None and self.is_live
        return self.is_final or is_unheard or self.no_speech_prob > MAX_NO_SPEECH_PROB

    @property
    def way(self) -> Dice | int:
        """How its next id is chosen: by dice, or among so many of the likeliest."""
        return self.dice if self.search is None else self.search.num_choices

    def begin(self, slots: Sequence[int], prompt: tuple[int, ...], num_positions: int) -> None:
        """Take slots and a prompt; `num_positions` is what a slot holds, prompt included."""
        self.slots, self.prompt = tuple(slots), prompt
        self.prefix = self._fitting_prefix(num_positions - len(prompt))
        allowance = BUDGET_MIN_IDS + math.ceil(self.duration_s * BUDGET_IDS_PER_S)
        self.max_ids = min(num_positions - len(prompt) - len(self.prefix), allowance)
        end = self.vocabulary.special.end
        if len(slots) > 1:
            rules = SearchRules(end_id=end, max_ids=self.max_ids, is_loop=self._is_loop)
            self.search = BeamSearch(slots, len(prompt) + len(self.prefix), rules)
        # Dice fall by the order they are thrown in, so only the likeliest can be foretold.
        elif self.dice.temperature == 0 and not self.is_final:
            known = [id_ for id_ in self.decode.chunk.draft_ids if id_ != end and self._is_known(id_)]
            if not known and not self.prefix:
                # Chunks begin just before their first word. (base, the same files: 21 of 21 chunks)
                known = [self.vocabulary.special.first_timestamp]
            self.draft = tuple(known[: self.max_ids - 1])

    @property
    def num_cached(self) -> int:
        """How many ids the slot must hold before the next step: all but the last one said."""
        return len(self.prompt) + len(self.prefix) + len(self.ids) - 1

    @property
    def guess(self) -> tuple[int, ...]:
        """What will be said next, or nothing sure: a segment begins where the one before it ended.

        (base, 533 s in English and German: 84 times of 84, unless the answer ended)
        """
        is_time = self.vocabulary.is_timestamp
        is_closed = len(self.ids) > 1 and is_time(self.ids[-1]) and not is_time(self.ids[-2])
        is_foretold = self.may_guess and self.search is None and self.dice.temperature == 0
        return (self.ids[-1],) if is_foretold and is_closed else ()

    @property
    def last_said(self) -> list[tuple[int, int]]:
        """The slots that go on, each with the id that it has said and not read yet; then its guess."""
        if self.search is not None:
            return [(beam.slot, beam.ids[-1]) for beam in self.search.active]
        return [(self.slots[0], id_) for id_ in (self.ids[-1], *self.guess)]

    @property
    def allowed_next(self) -> list[Allowed]:
        """What may be said behind each id of `last_said`."""
        if self.search is not None:
            return [self._allowed(beam.ids) for beam in self.search.active]
        return self._allowed_behind(self.guess)

    @property
    def allowed_in_draft(self) -> list[Allowed]:
        """What may be said before each id of the draft, and behind it."""
        return self._allowed_behind(self.draft)

    def _allowed_behind(self, foretold: Sequence[int]) -> list[Allowed]:
        """Return what may be said before each id of what is `foretold`, and behind it."""
        return [self._allowed([*self.ids, *foretold[:count]]) for count in range(len(foretold) + 1)]

    def _allowed(self, ids: Sequence[int]) -> Allowed:
        num_steps = math.ceil(round(self.duration_s / TIMESTAMP_STEP_S, 3))
        return allowed_next([*self.prefix, *ids], num_steps, self.vocabulary)

    def hear_prefix(self, attention: Tensor) -> None:
        """Remember where the prefix lies. (prefix, alignment heads, frames)"""
        if self.wants_words:
            self.attention += [
                weights[:, : self._num_frames].to("cpu", torch.float16) for weights in attention
            ]

    def hear_answer(self, attention: Tensor) -> None:
        """Remember where an answer lies that was read as a whole, behind prompt and prefix.

        (ids, alignment heads, frames): what was heard when an id was read led to the next one.
        """
        first = len(self.prompt) - 1
        behind = first + len(self.prefix)
        self.hear_prefix(attention[first:behind])
        for heard in attention[behind:]:
            self.hear(heard)

    def hear(self, attention: Tensor) -> None:
        """Remember where the coming id's attention lies. (alignment heads, frames)"""
        heard = attention[:, : self._num_frames]
        if self.search is None or self.is_live:
            self.attended_s.append(int(heard.mean(dim=0).argmax()) * FRAME_S)
        if self.wants_words:
            self.attention.append(heard.to("cpu", torch.float16))

    def say(self, choice: Choice) -> None:
        """Take the chosen id; afterwards `reason` tells whether that was the last."""
        if choice.id == self.vocabulary.special.end:
            self.end_logprob = choice.logprob
            self.reason = FinishReason.STOP
            return
        self.ids.append(choice.id)
        self.logprobs.append(choice.logprob)
        if self._is_loop(self.ids):
            self.reason = FinishReason.LOOP
        elif len(self.ids) >= self.max_ids:
            self.reason = FinishReason.LENGTH
        self._show()

    def say_foretold(
        self, foretold: Sequence[int], choices: Sequence[Choice], attention: Tensor | None
    ) -> None:
        """Say `choices`, the first and as many more as follow what was `foretold` rightly.

        `attention` is (choices, alignment heads, frames).
        """
        for index, choice in enumerate(choices):
            if attention is not None and self.wants_attention:
                self.hear(attention[index])
            self.say(choice)
            if self.reason is not None or index == len(foretold) or foretold[index] != choice.id:
                return
            self.num_drafted += 1

    def search_on(self, choices: Sequence[Sequence[Choice]]) -> list[Move]:
        """Let each beam say one id more, and return which of them change their slots.

        `choices` are those of each beam; afterwards `reason` tells whether an answer is kept.
        """
        assert self.search is not None
        moves = self.search.advance(choices)
        if self.search.is_over:
            answer = self.search.answer()
            self._agree(answer.ids, answer.logprobs)
            self.end_logprob, self.reason = answer.end_logprob, answer.reason
            return []
        # Whatever is kept begins with this, so it may be shown, and stays as it is.
        self._agree(self.search.agreed, self.search.agreed_logprobs)
        self._show()
        return moves

    def _agree(self, ids: Sequence[int], logprobs: Sequence[float]) -> None:
        self.ids, self.logprobs = list(ids), list(logprobs)

    def attempt(self) -> Attempt:
        """Sum up; only after `reason` is known."""
        assert self.reason is not None
        end = self.vocabulary.special.end
        text = b"".join(self.vocabulary.pieces[id_] for id_ in self.ids if id_ < end)
        return Attempt(
            ids=tuple(self.ids),
            logprobs=tuple(self.logprobs),
            reason=self.reason,
            temperature=self.dice.temperature,
            avg_logprob=(sum(self.logprobs) + self.end_logprob) / (len(self.logprobs) + 1),
            compression_ratio=compression_ratio(text.strip()),
            no_speech_prob=self.no_speech_prob,
            language=self.decode.language,
            language_probability=self.decode.language_probability,
            attended_s=tuple(self.attended_s[: len(self.ids)]),
            token_times=self._token_times(),
        )

    def _token_times(self) -> tuple[tuple[float, float], ...]:
        if not self.wants_words or not self.ids:
            return ()
        # Without an end-of-text token the last attention stands in for it.
        attention = [*self.attention, self.attention[-1]][: len(self.prefix) + len(self.ids) + 1]
        times = token_times(torch.stack(attention), math.ceil(self.duration_s / FRAME_S))
        samples = np.frombuffer(self.decode.chunk.pcm, dtype="<f4")
        return begin_with_sound(times[len(self.prefix) :], samples)

    @property
    def _num_frames(self) -> int:
        return max(1, math.ceil(self.duration_s / FRAME_S))

    def _is_loop(self, ids: Sequence[int]) -> bool:
        """Say whether prefix and answer end in a loop, which may have begun before what was confirmed."""
        end = self.vocabulary.special.end
        if ids[-1] >= end:
            return False
        return find_loop([id_ for id_ in (*self.prefix, *ids) if id_ < end]) is not None

    def _fitting_prefix(self, room: int) -> tuple[int, ...]:
        """Return the end of the confirmed ids that leaves half of the room; times come first and once."""
        known = [id_ for id_ in self.decode.chunk.prefix_ids if self._is_known(id_)][-(room // 2) :]
        if known and not self.vocabulary.is_timestamp(known[0]):
            known.insert(0, self.vocabulary.special.first_timestamp)
        return tuple(known)

    def _is_known(self, id_: int) -> bool:
        end = self.vocabulary.special.end
        return 0 <= id_ < end or self.vocabulary.is_timestamp(id_)

    def _show(self) -> None:
        if self.is_held:
            return
        decode, num_shown = self.decode, len(self.decode.ids)
        decode.ids += self.ids[num_shown:]
        decode.logprobs += self.logprobs[num_shown:]
        decode.attended_s += self.attended_s[num_shown : len(self.ids)]
