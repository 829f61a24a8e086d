"""Which language a live session is in: found out once, kept, and doubted only on lasting evidence; pure."""

from __future__ import annotations

from typing import Final

from engine.messages import SAMPLE_RATE_HZ

SURE: Final = 0.8
"""A detection as probable as this is believed at once, given enough speech."""
LIKELY: Final = 0.5
"""So probable it is believed when the next decode says the same."""
ENOUGH_SAMPLES: Final = SAMPLE_RATE_HZ
LONG_SAMPLES: Final = 5 * SAMPLE_RATE_HZ
"""After so much speech the likeliest language is taken, however unsure."""
IMPOSSIBLE: Final = 0.02
MAX_DOUBTS: Final = 5
"""So many decodes in a row must find the locked language all but impossible before it is given up."""


class LanguageLock:
    """The language of a session. One that was chosen is never doubted."""

    def __init__(self, chosen: str | None) -> None:
        self.language = chosen
        self.probability = 1.0 if chosen else 0.0
        self._is_chosen = chosen is not None
        self._candidate: str | None = None
        self._num_doubts = 0

    def detect(self, language: str | None, probability: float, speech: int, *, is_last: bool) -> None:
        """Take what was found out from `speech` samples of speech; `is_last` ends an utterance."""
        if language is None or self.language is not None:
            return
        is_same = language == self._candidate
        self._candidate = language
        is_clear = probability >= SURE or (probability >= LIKELY and (is_same or is_last))
        if (is_clear and speech >= ENOUGH_SAMPLES) or speech >= LONG_SAMPLES:
            self.language, self.probability = language, probability

    def confirm(self, probability: float, speech: int) -> None:
        """Take how probable a decode in the locked language found it."""
        if self._is_chosen or speech < ENOUGH_SAMPLES:
            return
        self._num_doubts = self._num_doubts + 1 if probability < IMPOSSIBLE else 0
        if self._num_doubts >= MAX_DOUBTS:
            self.language, self._candidate, self._num_doubts = None, None, 0
