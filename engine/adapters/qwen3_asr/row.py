"""One decoding while it runs: what it was given, what it has said, and how that is to be taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from engine.adapters.base import Decode
from engine.adapters.loops import find_loop, num_whole
from engine.adapters.qwen3_asr.guards import DOUBTFUL_NO_SPEECH, Attempt, is_echo
from engine.adapters.qwen3_asr.languages import has_spaces
from engine.adapters.qwen3_asr.prompt import Heading, Prompt, judge_start, parse_header
from engine.adapters.qwen3_asr.vocabulary import Vocabulary
from engine.messages import SAMPLE_RATE_HZ, FinishReason

BUDGET_IDS_PER_S: Final = 16.0
"""Fast speech takes 5 ids a second in English, and up to 12 in Korean."""
BUDGET_MIN_IDS: Final = 32
_SPACELESS_BYTES: Final = range(0xE3, 0xEA)
"""With these bytes kana and Han begin; no script with spaces does."""


@dataclass(slots=True, kw_only=True, eq=False)
class Row:
    """The adapter's side of a `Decode`, which shows the ids chosen here as soon as it may."""

    decode: Decode
    vocabulary: Vocabulary
    prompt: Prompt
    context: str
    """What the prompt told of in advance."""
    is_last: bool
    """No attempt follows, whatever speaks against this one."""
    is_free: bool
    """The model was asked for the language: its answer begins with a header."""
    slot: int = -1
    max_ids: int = 0
    num_steps: int = 0
    num_drafted: int = 0
    no_speech_prob: float = 0.0
    silence_share: float = 1.0
    """How probable the header of silence is, as far as its beginning was looked at."""
    reason: FinishReason | None = None
    header: list[int] = field(default_factory=list)
    is_headed: bool = False
    """The header is over, or there is none to come."""
    header_logprob: float = 0.0
    ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    end_logprob: float = 0.0
    coming: tuple[int, ...] = ()
    """Ids that the slot has to hold next: the last one said, or what is known to follow a header …"""
    draft: tuple[int, ...] = ()
    """… and those that were perhaps said behind them: to be checked in the same pass."""

    def __post_init__(self) -> None:
        self.is_headed = not self.is_free

    @property
    def duration_s(self) -> float:
        return self.decode.chunk.num_samples / SAMPLE_RATE_HZ

    @property
    def prefix(self) -> tuple[int, ...]:
        """What is confirmed of this audio: the answer goes on behind it."""
        return self._without_space(self.decode.chunk.prefix_ids)

    @property
    def guess(self) -> tuple[int, ...]:
        """What was last heard behind the prefix; only a greedy attempt can be foretold."""
        chunk = self.decode.chunk
        if self.is_last:
            return ()
        known = chunk.draft_ids if chunk.prefix_ids else self._without_space(chunk.draft_ids)
        kept = tuple(id_ for id_ in known if self._is_text(id_))
        return kept[: max(0, self.max_ids - 1)]

    @property
    def has_more(self) -> bool:
        """More than one id is known to come, or guessed."""
        return len(self.coming) > 1 or bool(self.draft)

    @property
    def penalised(self) -> tuple[int, ...]:
        """Ids that should rather not be said again: those that were, once saying them has led nowhere."""
        return tuple(sorted(set(self.ids))) if self.is_last else ()

    @property
    def is_held(self) -> bool:
        """True while its text may not be shown: it may prove to be a loop's, or the context's."""
        return self.is_last or bool(self.context and self.no_speech_prob > DOUBTFUL_NO_SPEECH)

    def begin(self, slot: int, num_audio: int, max_tokens: int) -> None:
        """Take a slot; `num_audio` tokens of audio stand in it, and it holds at most `max_tokens`."""
        self.slot = slot
        given = len(self.prompt.head) + num_audio + len(self.prompt.tail) + len(self.decode.chunk.prefix_ids)
        allowance = BUDGET_MIN_IDS + math.ceil(self.duration_s * BUDGET_IDS_PER_S)
        self.max_ids = max(1, min(allowance, max_tokens - given - BUDGET_MIN_IDS))

    def say(self, id_: int, logprob: float) -> None:
        """Take the chosen id; afterwards `reason` tells whether that was the last."""
        self.coming, self.draft = (id_,), ()
        if not self.is_headed:
            self._say_header(id_, logprob)
        elif id_ in self.vocabulary.stop_ids:
            self.end_logprob = logprob
            self._end(FinishReason.STOP)
        else:
            self._say_text([id_], [logprob])

    def attempt(self) -> Attempt:
        """Sum up; only after `reason` is known."""
        assert self.reason is not None
        text = self.vocabulary.text_of(self.ids)
        return Attempt(
            ids=tuple(self.ids),
            logprobs=tuple(self.logprobs),
            reason=self.reason,
            text=text,
            avg_logprob=(sum(self.logprobs) + self.end_logprob) / (len(self.logprobs) + 1),
            no_speech_prob=self.no_speech_prob,
            language=self.decode.language,
            language_probability=self.decode.language_probability,
            is_echo=is_echo(text, self.context),
        )

    def shown(self, ids: Sequence[int], logprobs: Sequence[float]) -> tuple[list[int], list[float]]:
        """Return an answer's ids as they are told: with a space in front where the script has spaces.

        The model begins each answer without one, but what was said before it may stand in front. Of a
        character that is not whole, yet or ever, nothing is told.
        """
        count = num_whole([self.vocabulary.pieces[id_] for id_ in ids])
        ids, logprobs = ids[:count], logprobs[:count]
        if not ids or self.decode.chunk.prefix_ids or not self._wants_space(ids[0]):
            return list(ids), list(logprobs)
        return [self.vocabulary.space_id, *ids], [logprobs[0], *logprobs]

    def _say_header(self, id_: int, logprob: float) -> None:
        vocabulary = self.vocabulary
        if id_ == vocabulary.marks.text_start:
            self._take_header(logprob)
            return
        if id_ in vocabulary.stop_ids:
            self.end_logprob = logprob
            self._end_without_mark()
            return
        self.header.append(id_)
        self.header_logprob += logprob
        text = vocabulary.text_of(self.header)
        if judge_start(text, len(self.header)) is Heading.TEXT:
            self._take_as_text()

    def _take_header(self, logprob: float) -> None:
        """Know the language, and go on behind the mark with what is known of the text."""
        header = parse_header(self.vocabulary.text_of(self.header))
        self.is_headed = True
        self.decode.language = header.language
        self.decode.language_probability = math.exp(self.header_logprob + logprob)
        if header.is_silence:
            self.no_speech_prob = self.decode.language_probability
            if not self.decode.chunk.prefix_ids:
                self.decode.language = self.decode.language_probability = None
                self._end(FinishReason.SILENCE)
                return
        self.coming, self.draft = (*self.coming, *self.prefix), self.guess

    def _end_without_mark(self) -> None:
        """Take an answer that ended before its mark: a language alone is no text, anything else is."""
        header = parse_header(self.vocabulary.text_of(self.header))
        if header.language is None and not header.is_silence:
            self._take_as_text()
        if self.reason is None:
            self._end(FinishReason.STOP)

    def _take_as_text(self) -> None:
        """Know that there is no header: all of it was text, in a language that nobody named."""
        self.is_headed = True
        if self.prefix:
            # The text has begun already: what was said instead of a header is no part of it.
            self.coming, self.draft = (
                (*self.coming, self.vocabulary.marks.text_start, *self.prefix),
                self.guess,
            )
            return
        self._say_text(self.header, [self.header_logprob / max(1, len(self.header))] * len(self.header))

    def _say_text(self, ids: Sequence[int], logprobs: Sequence[float]) -> None:
        self.ids += ids
        self.logprobs += logprobs
        # A loop may have begun before what was confirmed of it.
        if find_loop([*self.prefix, *self.ids]) is not None:
            self.reason = FinishReason.LOOP
        elif len(self.ids) >= self.max_ids:
            self.reason = FinishReason.LENGTH
        if not self.is_held:
            self._show()

    def _end(self, reason: FinishReason) -> None:
        is_empty = not self.vocabulary.text_of(self.ids).strip() and not self.prefix
        self.reason = FinishReason.SILENCE if is_empty else reason

    def _show(self) -> None:
        ids, logprobs = self.shown(self.ids, self.logprobs)
        num_shown = len(self.decode.ids)
        self.decode.ids += ids[num_shown:]
        self.decode.logprobs += logprobs[num_shown:]

    def _without_space(self, ids: Sequence[int]) -> tuple[int, ...]:
        """Return told ids as the model says them: the space in front was not its own."""
        kept = tuple(id_ for id_ in ids if self._is_text(id_))
        return kept[1:] if kept[:1] == (self.vocabulary.space_id,) else kept

    def _wants_space(self, id_: int) -> bool:
        """Say whether a space belongs in front of an answer that begins with `id_`, whole or not."""
        begins = self.vocabulary.pieces[id_][:1]
        if begins.isspace():
            return False
        if self.decode.language is not None:
            return has_spaces(self.decode.language)
        return not begins or begins[0] not in _SPACELESS_BYTES

    def _is_text(self, id_: int) -> bool:
        """Say whether an id from outside is one of this vocabulary's texts."""
        return 0 <= id_ < len(self.vocabulary.pieces) and bool(self.vocabulary.pieces[id_])
