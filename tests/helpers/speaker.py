"""Somebody who speaks to a live session, heard word by word: no clock, no audio, no network."""

from __future__ import annotations

import numpy as np

from engine.adapters.base import Confirmation, LocalAgreement
from engine.manager.confirm import Piece, Update
from engine.manager.live import Answer, LiveSession, Plan
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import SAMPLE_RATE_HZ, FinishReason

MAX_WINDOW = 29 * SAMPLE_RATE_HZ
SLACK = 2 * FRAME_SAMPLES
WORD_SAMPLES = SAMPLE_RATE_HZ // 2


class Speaker:
    """A session, somebody who speaks a numbered word each half second, and a model that hears them all.

    `speak` and `rest` let time go by in tenths of a second; a decode that was asked for is answered
    after `delay_s` by what was said in its audio, unless the speaker is told to `mumble`.
    """

    def __init__(
        self,
        *,
        language: str | None = "en",
        delay_s: float = 0.3,
        confirmation: Confirmation | None = None,
        first_sample: int = 0,
    ) -> None:
        self.session = LiveSession(
            first_sample=first_sample,
            max_window=MAX_WINDOW,
            confirmation=confirmation or LocalAgreement(),
            language=language,
        )
        self.plans: list[Plan] = []
        self.confirmed = ""
        self.said: list[tuple[int, int]] = []
        """Start sample and number of each word."""
        self.delay_s = delay_s
        self.mumbles = False
        """Every answer is different from the one before."""
        self.reason = FinishReason.STOP
        self.is_deaf_behind_prefix = False
        self.language, self.probability = "en", 0.99
        self._due: list[tuple[int, Plan]] = []
        self._next_word = 0

    @property
    def now(self) -> int:
        return self.session.received

    @property
    def spoken(self) -> str:
        return "".join(f" w{number}." for _, number in self.said)

    def speak(self, seconds: float) -> None:
        self._go(seconds, has_speech=True)

    def rest(self, seconds: float) -> None:
        self._go(seconds, has_speech=False)

    def finish(self) -> None:
        """Flush, and wait for the answers."""
        self.session.flush()
        self._ask()
        while self._due:
            self._answer(self._due.pop(0)[1])
            self._ask()

    def _go(self, seconds: float, *, has_speech: bool) -> None:
        end = self.now + round(seconds * SAMPLE_RATE_HZ)
        if has_speech:
            self._next_word = max(self.now, self._next_word)
        while self.now < end:
            step = min(SAMPLE_RATE_HZ // 10, end - self.now)
            # A word counts as said when half of it is.
            while has_speech and self._next_word + WORD_SAMPLES // 2 <= self.now + step:
                self.said.append((self._next_word, len(self.said) + 1))
                self._next_word += WORD_SAMPLES
            num_frames = (self.now + step) // FRAME_SAMPLES - self.now // FRAME_SAMPLES
            flags = np.full(num_frames, has_speech, np.bool_)
            self.session.hearing.hear(Frames(flags, np.zeros(num_frames, np.float32)), step)
            self._ask()
            while self._due and self._due[0][0] <= self.now:
                self._answer(self._due.pop(0)[1])
                self._ask()

    def _ask(self) -> None:
        while (found := self.session.next()) is not None:
            if isinstance(found, Plan):
                self.plans.append(found)
                self._due.append((self.now + round(self.delay_s * SAMPLE_RATE_HZ), found))
            else:
                self._take(found)

    def _answer(self, plan: Plan) -> None:
        update = self.session.answer(
            Answer(
                index=plan.index,
                pieces=self._hear(plan),
                reason=self.reason,
                is_suspect=self.reason is not FinishReason.STOP,
                language=plan.language or self.language,
                language_probability=self.probability,
            )
        )
        if update is not None:
            self._take(update)

    def _take(self, update: Update) -> None:
        self.confirmed += update.confirmed_delta

    def _hear(self, plan: Plan) -> tuple[Piece, ...]:
        if plan.prefix and self.is_deaf_behind_prefix:
            return ()
        reached = plan.prefix[-1].end if plan.prefix else plan.start
        heard = []
        for start, number in self.said:
            end = start + WORD_SAMPLES
            if reached - SLACK <= start and plan.start <= start and start + WORD_SAMPLES // 2 <= plan.end:
                name = f" w{number}." if not self.mumbles else f" m{plan.index}."
                end = min(end, plan.end)
                heard.append(Piece(hash(name), name.encode(), start, end, (start + end) // 2, -0.1))
        return tuple(heard)
