"""When live audio is decoded, and from where to where: a session's window, pace and watchdog; pure.

The window begins near speech and is open up to now. While somebody speaks it is decoded again and
again (interim); when they pause, all that was said in it is confirmed, by a closing decode where no
interim one has heard it all. Time is counted in samples of the recording, never by a clock: what
happens depends on the audio and the answers alone.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Final

from engine.adapters.base import Confirmation, PrefixRollback
from engine.manager.confirm import Hypothesis, Piece, Update, confirmer_for
from engine.manager.hearing import Hearing, Utterance
from engine.manager.language_lock import LanguageLock
from engine.manager.windows import Dips, moved_start
from engine.messages import SAMPLE_RATE_HZ, ChunkKind, FinishReason

LEAD_SAMPLES: Final = round(0.4 * SAMPLE_RATE_HZ)
"""Audio in front of speech that goes with it: the detector is a little late."""
TRAIL_SAMPLES: Final = round(0.4 * SAMPLE_RATE_HZ)
"""Audio behind speech that goes with it."""
HINT_SAMPLES: Final = round(0.2 * SAMPLE_RATE_HZ)
"""A silence so long is decoded at once: if it lasts, the answer is there already."""
PAUSE_SAMPLES: Final = round(0.6 * SAMPLE_RATE_HZ)
"""A silence that ends an utterance."""
REST_SAMPLES: Final = 2 * SAMPLE_RATE_HZ
"""A silence over which no text is carried: the window begins anew behind it."""
CONTEXT_SAMPLES: Final = 12 * SAMPLE_RATE_HZ
"""An utterance that begins so late in its window gets one of its own: it needs the room."""
FIRST_SAMPLES: Final = round(0.8 * SAMPLE_RATE_HZ)
"""An utterance is first decoded when it is so long, or paused."""
LEAST_SPEECH_SAMPLES: Final = round(0.2 * SAMPLE_RATE_HZ)
"""Less speech than this is a knock or a click. (as for files)"""
CUT_SAMPLES: Final = 8 * SAMPLE_RATE_HZ
"""A full window is cut in its last seconds, where it is quietest."""
PATIENCE_SAMPLES: Final = 2 * SAMPLE_RATE_HZ
"""An interim decode that is not answered by then may still wait: a newer one replaces it."""
STAGNANT_SAMPLES: Final = 5 * SAMPLE_RATE_HZ
"""So much speech and not a word: what was confirmed leads the model astray."""
MAX_BAD_ANSWERS: Final = 2


@dataclass(frozen=True, slots=True)
class Plan:
    """A decode to ask for; samples of the recording, [start, end)."""

    index: int
    kind: ChunkKind
    start: int
    end: int
    language: str | None
    prefix: tuple[Piece, ...]
    draft: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a plan: the pieces behind its prefix."""

    index: int
    pieces: tuple[Piece, ...]
    reason: FinishReason
    is_suspect: bool
    language: str | None
    language_probability: float


@dataclass(slots=True)
class Counts:
    """What a session has done."""

    num_planned: int = 0
    num_superseded: int = 0
    """Decodes that a newer one replaced, or an older one overtook."""
    num_forced: int = 0
    """Windows that were full before their text was agreed on."""
    num_reanchored: int = 0
    """Times the watchdog threw the context away."""


class LiveSession:
    """One live session. Tell it frames (through `hearing`) and answers; ask it what to do next."""

    def __init__(
        self, *, first_sample: int, max_window: int, confirmation: Confirmation, language: str | None
    ) -> None:
        self.hearing = Hearing(first_sample)
        self.lock = LanguageLock(language)
        self.counts = Counts()
        self.start = first_sample
        """Of the window; nothing before it is needed any more."""
        self._confirmer = confirmer_for(confirmation)
        self._min_new = round(confirmation.pace_s * SAMPLE_RATE_HZ)
        self._max_window = max_window
        self._anchor_window: int | None = None
        """Of a model that does not know when it said what: a window so long begins anew at a dip."""
        if isinstance(confirmation, PrefixRollback):
            self._anchor_window = round(confirmation.anchor_s * SAMPLE_RATE_HZ)
        self._dips = Dips()
        self._sent: dict[int, Plan] = {}
        self._last: Hypothesis | None = None
        """The last good answer about this window."""
        self._is_speaking = False
        self._marks: deque[int] = deque()
        """Everything before each of them is to be confirmed without waiting for a pause."""
        self._closed = first_sample
        """Everything before is confirmed or silence."""
        self._decoded = first_sample
        self._num_bad = 0
        self._news_at = first_sample

    @property
    def received(self) -> int:
        return self.hearing.end

    @property
    def decoded(self) -> int:
        """Everything before this sample was decoded at least once, or is silence."""
        reached = max(self._decoded, self._closed)
        return reached if self.hearing.num_speech(reached, self.received) else self.received

    @property
    def num_revisions(self) -> int:
        return self._confirmer.num_revisions

    @property
    def tail(self) -> tuple[Piece, ...]:
        """What may be shown behind the confirmed text."""
        if self.lock.language is None and self._last is not None:
            return self._last.pieces[len(self._confirmer.open) :]
        return self._confirmer.tail

    @property
    def is_settled(self) -> bool:
        """Everything heard is confirmed and nothing is on its way; only after `flush` for sure."""
        return not self._sent and self._utterance() is None

    def flush(self, at: int | None = None) -> int:
        """Confirm everything up to a sample, without waiting for a pause; what comes later may follow.

        None: up to now. Returns the sample, for `is_confirmed`.
        """
        last = self._marks[-1] if self._marks else self.start
        mark = max(last, min(self.received, self.received if at is None else at))
        self._marks.append(mark)
        return mark

    def is_confirmed(self, sample: int) -> bool:
        """Say whether all that was said before a sample is confirmed. Samples are asked for in order."""
        utterance = self._utterance()
        return utterance is None or utterance.begin >= sample

    def awaits(self, index: int) -> bool:
        return index in self._sent

    def next(self) -> Plan | Update | None:
        """Return a decode to ask for, or what is confirmed without one. Ask until there is nothing."""
        utterance = self._utterance()
        if utterance is None:
            if not self._sent:
                self._is_speaking = False
                self._rest()
            return None
        if not self._is_speaking and not self._sent:
            self._is_speaking = True
            self._begin(utterance)
        if not self._sent:
            self._move()
            if self._is_full(utterance):
                return self._cut(utterance)
        if utterance.is_over:
            return self._end(utterance)
        return self._plan(ChunkKind.INTERIM, self.received) if self._is_due(utterance) else None

    def answer(self, answer: Answer) -> Update | None:
        """Take an answer; None where nothing is to be told."""
        plan = self._take(answer.index)
        if plan is None or plan.start != self.start:
            return None
        is_closing = plan.kind is ChunkKind.CLOSING
        if not is_closing and self._is_beyond(plan.end):
            # Its words behind the mark must not be told with those before it.
            return None
        hypothesis = Hypothesis((*plan.prefix, *answer.pieces), plan.end, plan.start)
        if self._is_overtaken(hypothesis):
            self.counts.num_superseded += 1
            return None
        self._decoded = max(self._decoded, plan.end)
        speech = self.hearing.num_speech(plan.start, plan.end)
        if plan.language is None:
            self.lock.detect(answer.language, answer.language_probability, speech, is_last=is_closing)
        elif plan.language == self.lock.language:
            self.lock.confirm(answer.language_probability, speech)
        if is_closing:
            return self._close(hypothesis)
        if answer.is_suspect:
            # Unlikely text is no evidence against its context, a loop is.
            self._num_bad += answer.reason in (FinishReason.LOOP, FinishReason.LENGTH)
            self._watch(plan.end)
            return None
        self._last, self._num_bad = hypothesis, 0
        if not self.hearing.num_speech(plan.end - HINT_SAMPLES, plan.end):
            self._dips.note(plan.end - HINT_SAMPLES // 2, hypothesis.pieces)
        if any(not piece.is_special for piece in answer.pieces):
            self._news_at = plan.end
        # A word in the wrong language could not be taken back.
        update = self._confirmer.update(hypothesis) if self.lock.language is not None else Update((), ())
        self._watch(plan.end)
        return update

    def ended(self, index: int, *, is_superseded: bool) -> Update | None:
        """Know that a plan has no answer. One that failed gives up its audio, not what was heard of it."""
        plan = self._take(index)
        if plan is None:
            return None
        if is_superseded:
            self.counts.num_superseded += 1
            return None
        update = self._close(self._last)
        self._closed = max(self._closed, plan.end)
        self._anchor(self._closed)
        return update

    def set_language(self, language: str | None) -> None:
        """Go on in a language from the next decode on; None: find it out anew."""
        self.lock = LanguageLock(language)

    def _utterance(self) -> Utterance | None:
        """Return what is being said, or was said and is not confirmed; short noises are passed over."""
        while True:
            found = self.hearing.utterance(self._closed, pause=PAUSE_SAMPLES, rest=REST_SAMPLES)
            if found is None:
                return None
            while self._marks and found.begin >= self._marks[0]:
                self._marks.popleft()
            if self._marks:
                found = Utterance(found.begin, min(found.end, self._marks[0]), is_over=True)
            if self._is_speaking or self.hearing.num_speech(found.begin, found.end) >= LEAST_SPEECH_SAMPLES:
                return found
            if not found.is_over:
                return None
            self._closed = found.end

    def _begin(self, utterance: Utterance) -> None:
        """Place the window for a new utterance: behind a long silence it begins there."""
        self._news_at = utterance.begin
        opened = self._confirmer.open
        is_far = not opened or utterance.begin - opened[-1].end > REST_SAMPLES
        if is_far or utterance.begin - self.start > CONTEXT_SAMPLES:
            self._anchor(max(self._closed, utterance.begin - LEAD_SAMPLES))

    def _rest(self) -> None:
        """Let the audio of a long silence go."""
        silent_from = self.received - LEAD_SAMPLES
        if silent_from - self._closed > REST_SAMPLES:
            self._closed = silent_from
            self._anchor(silent_from)

    def _is_full(self, utterance: Utterance) -> bool:
        end = utterance.end if utterance.is_over else self.received
        return end - self.start > self._max_window

    def _cut(self, utterance: Utterance) -> Plan:
        """Close a full window where it is quietest; what follows has a window of its own."""
        if not utterance.is_over:
            self.counts.num_forced += 1
        limit = self.start + self._max_window
        low = max(limit - CUT_SAMPLES, utterance.begin + LEAST_SPEECH_SAMPLES)
        return self._plan(ChunkKind.CLOSING, self.hearing.quietest(low, limit))

    def _end(self, utterance: Utterance) -> Plan | Update | None:
        """Confirm an utterance that is over, by its last answer if that has heard it all."""
        if any(self._hears_all(plan.end, utterance) for plan in self._sent.values()):
            return None
        if not self._sent and self._last is not None and self._hears_all(self._last.end, utterance):
            return self._close(self._last)
        limit = self._marks[0] if self._marks else self.received
        return self._plan(ChunkKind.CLOSING, min(limit, utterance.end + TRAIL_SAMPLES))

    def _hears_all(self, end: int, utterance: Utterance) -> bool:
        """Say whether a decode up to `end` hears an utterance to its end, and nothing behind a mark."""
        return utterance.end <= end and not self._is_beyond(end)

    def _is_beyond(self, end: int) -> bool:
        return bool(self._marks) and end > self._marks[0]

    def _is_overtaken(self, hypothesis: Hypothesis) -> bool:
        """Say whether more was confirmed meanwhile, and otherwise, by a model that knows no times.

        Nobody could say where such an answer goes on; the next decode has all of that as its prefix.
        """
        return self._anchor_window is not None and self._confirmer.contradicts(hypothesis)

    def _is_due(self, utterance: Utterance) -> bool:
        """Say whether it is time for an interim decode."""
        reached = max([self._decoded, utterance.begin, *(plan.end for plan in self._sent.values())])
        if self._sent:
            return self.received - reached >= PATIENCE_SAMPLES
        new = self.hearing.num_speech(reached, self.received)
        is_hinted = self.received - utterance.end >= HINT_SAMPLES
        if is_hinted:
            return new > 0
        return new >= self._min_new and self.received - self.start >= FIRST_SAMPLES

    def _plan(self, kind: ChunkKind, end: int) -> Plan:
        plan = Plan(
            index=self.counts.num_planned,
            kind=kind,
            start=self.start,
            end=end,
            language=self.lock.language,
            prefix=self._confirmer.open,
            draft=self._confirmer.tail,
        )
        self._sent[plan.index] = plan
        self.counts.num_planned += 1
        return plan

    def _take(self, index: int) -> Plan | None:
        """Return the plan of an answer, and expect none any more of those before it."""
        plan = self._sent.pop(index, None)
        if plan is not None:
            self._sent = {other: sent for other, sent in self._sent.items() if other > index}
        return plan

    def _close(self, hypothesis: Hypothesis | None) -> Update:
        """Confirm a hypothesis; its audio is done with."""
        update = self._confirmer.finish(hypothesis)
        if hypothesis is not None:
            self._closed = max(self._closed, hypothesis.end)
        self._is_speaking, self._last, self._num_bad = False, None, 0
        return update

    def _move(self) -> None:
        """Let a long window begin later, at a boundary in its confirmed text."""
        opened = self._confirmer.open
        if self._anchor_window is None:
            moved = moved_start(opened, self.start, self.received)
        elif self.received - self.start >= self._anchor_window:
            moved = self._dips.moved_start(opened, self.start, self.received)
        else:
            moved = None
        if moved is not None:
            self.start, num_kept = moved
            self._dips.move(self.start)
            self._confirmer.anchor(num_kept)
            self._last = None
            self.hearing.forget(self.start)

    def _anchor(self, start: int) -> None:
        """Begin the window anew, without any context."""
        self.start = start
        self._confirmer.anchor(0)
        self._dips = Dips()
        self._last, self._num_bad = None, 0
        self._decoded = max(self._decoded, start)
        self._news_at = max(self._news_at, start)
        self.hearing.forget(start)

    def _watch(self, end: int) -> None:
        """Throw the context away where it keeps the model from hearing."""
        is_stagnant = self.hearing.num_speech(self._news_at, end) > STAGNANT_SAMPLES
        opened = self._confirmer.open
        if opened and (is_stagnant or self._num_bad >= MAX_BAD_ANSWERS) and not self._sent:
            self.counts.num_reanchored += 1
            self._closed = max(self._closed, min(opened[-1].end, end))
            self._anchor(max(self._closed, self.start))
            self._decoded = self._closed
            self._news_at = end
