"""One decoding while it runs: what it has said, what it may say next, and what became of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import torch
from torch import Tensor

from engine.adapters.base import Decode
from engine.adapters.whisper.guards import MAX_NO_SPEECH_PROB, Attempt, compression_ratio, find_loop
from engine.adapters.whisper.rules import Allowed, allowed_next
from engine.adapters.whisper.sampling import Dice
from engine.adapters.whisper.vocabulary import TIMESTAMP_STEP_S, Vocabulary
from engine.adapters.whisper.word_times import FRAME_S, token_times
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
    slot: int = -1
    prompt: tuple[int, ...] = ()
    prefix: tuple[int, ...] = ()
    """Said before, of the same audio: the answer begins behind it."""
    draft: tuple[int, ...] = ()
    """Perhaps said next: to be checked together with the prompt."""
    max_ids: int = 0
    num_steps: int = 0
    num_drafted: int = 0
    no_speech_prob: float = 0.0
    reason: FinishReason | None = None
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    end_logprob: float = 0.0
    attended_s: list[float] = field(default_factory=list)
    attention: list[Tensor] = field(default_factory=list)
    """(alignment heads, frames of audio) for each id of prefix and answer, and the end; only where word
    times are wanted."""
    text_ids: list[int] = field(default_factory=list)

    @property
    def duration_s(self) -> float:
        return self.decode.chunk.num_samples / SAMPLE_RATE_HZ

    @property
    def wants_words(self) -> bool:
        return self.decode.chunk.options.word_timestamps

    @property
    def wants_attention(self) -> bool:
        """Live text is confirmed by where its attention lies."""
        return self.wants_words or self.decode.chunk.kind is not ChunkKind.FILE

    @property
    def is_held(self) -> bool:
        """True while its text may not be shown: it may prove silence, or has a loop cut off at its end."""
        return self.is_final or self.no_speech_prob > MAX_NO_SPEECH_PROB

    def begin(self, slot: int, prompt: tuple[int, ...], num_positions: int) -> None:
        """Take a slot and a prompt; `num_positions` is what a row holds, prompt included."""
        self.slot, self.prompt = slot, prompt
        self.prefix = self._fitting_prefix(num_positions - len(prompt))
        allowance = BUDGET_MIN_IDS + math.ceil(self.duration_s * BUDGET_IDS_PER_S)
        self.max_ids = min(num_positions - len(prompt) - len(self.prefix), allowance)
        # Dice fall by the order they are thrown in, so only the likeliest can be foretold.
        if self.dice.temperature == 0 and not self.is_final:
            end = self.vocabulary.special.end
            known = [id_ for id_ in self.decode.chunk.draft_ids if id_ != end and self._is_known(id_)]
            self.draft = tuple(known[: self.max_ids - 1])

    @property
    def num_cached(self) -> int:
        """How many ids the slot must hold before the next step: all but the last one said."""
        return len(self.prompt) + len(self.prefix) + len(self.ids) - 1

    def allowed(self, drafted: Sequence[int] = ()) -> Allowed:
        """Return what may be said next, or behind the `drafted` ids that are not said yet."""
        num_steps = math.ceil(round(self.duration_s / TIMESTAMP_STEP_S, 3))
        return allowed_next([*self.prefix, *self.ids, *drafted], num_steps, self.vocabulary)

    def hear_prefix(self, attention: Tensor) -> None:
        """Remember where the prefix lies. (prefix, alignment heads, frames)"""
        if self.wants_words:
            self.attention += [
                weights[:, : self._num_frames].to("cpu", torch.float16) for weights in attention
            ]

    def hear(self, attention: Tensor) -> None:
        """Remember where the coming id's attention lies. (alignment heads, frames)"""
        heard = attention[:, : self._num_frames]
        self.attended_s.append(int(heard.mean(dim=0).argmax()) * FRAME_S)
        if self.wants_words:
            self.attention.append(heard.to("cpu", torch.float16))

    def say(self, id_: int, logprob: float) -> None:
        """Take the chosen id; afterwards `reason` tells whether that was the last."""
        if id_ == self.vocabulary.special.end:
            self.end_logprob = logprob
            self.reason = FinishReason.STOP
            return
        self.ids.append(id_)
        self.logprobs.append(logprob)
        if id_ < self.vocabulary.special.end:
            self.text_ids.append(id_)
            if find_loop(self._heard_ids) is not None:
                self.reason = FinishReason.LOOP
        if self.reason is None and len(self.ids) >= self.max_ids:
            self.reason = FinishReason.LENGTH
        self._show()

    def attempt(self) -> Attempt:
        """Sum up; only after `reason` is known."""
        assert self.reason is not None
        text = b"".join(self.vocabulary.pieces[id_] for id_ in self.text_ids)
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
        return times[len(self.prefix) :]

    @property
    def _num_frames(self) -> int:
        return max(1, math.ceil(self.duration_s / FRAME_S))

    @property
    def _heard_ids(self) -> list[int]:
        """Text of prefix and answer: a loop may have begun before what was confirmed of it."""
        end = self.vocabulary.special.end
        return [*(id_ for id_ in self.prefix if id_ < end), *self.text_ids]

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
