"""Counts what a model does, and how fast it went lately; pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final

from engine.messages import SAMPLE_RATE_HZ, TokenIDs
from engine.protocol.stats import ModelWork

_NUM_REMEMBERED: Final = 10


class Tally:
    """Grows with each turn of the scheduler; `sum_up` looks back."""

    def __init__(self) -> None:
        self.num_steps = 0
        self.num_prefills = 0
        self.busy_s = 0.0
        self._num_tokens = 0
        self._num_drafted = 0
        self._num_windows = 0
        self._num_windows_known = 0
        self._num_samples = 0
        self._lately: deque[ModelWork] = deque([ModelWork()], maxlen=_NUM_REMEMBERED + 1)

    def count(self, outputs: Iterable[TokenIDs]) -> None:
        """Count what is sent."""
        for output in outputs:
            self._num_tokens += len(output.ids)
            if (finished := output.finished) is not None:
                self._num_drafted += finished.num_drafted
                self._num_windows += finished.num_windows
                self._num_windows_known += finished.num_windows_known
                self._num_samples += finished.num_samples

    def sum_up(self) -> tuple[ModelWork, float, float]:
        """Return what was done so far, and lately: tokens a second, seconds of work a second of audio."""
        now = ModelWork(
            num_steps=self.num_steps,
            num_prefills=self.num_prefills,
            num_tokens=self._num_tokens,
            num_drafted=self._num_drafted,
            num_windows=self._num_windows,
            num_windows_known=self._num_windows_known,
            audio_s=self._num_samples / SAMPLE_RATE_HZ,
            busy_s=self.busy_s,
        )
        before = self._lately[0]
        self._lately.append(now)
        busy_s = now.busy_s - before.busy_s
        audio_s = now.audio_s - before.audio_s
        tokens_per_s = (now.num_tokens - before.num_tokens) / busy_s if busy_s else 0.0
        return now, tokens_per_s, busy_s / audio_s if audio_s else 0.0
