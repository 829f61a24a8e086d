"""When somebody who speaks has begun and ended, by the numbers a client chose; pure.

Other than an utterance of the live session, which is what a model is asked to decode, a turn is what a
client is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.manager.vad import FRAME_SAMPLES
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.transcript import VadSettings

LEAST_FRAMES: Final = 4
"""Speech in a row that begins a turn; less (0.13 s) is a click."""


@dataclass(frozen=True, slots=True)
class Change:
    """Somebody begins or has ended, at a sample of the recording."""

    is_speaking: bool
    sample: int


class Turns:
    """Takes frames as they are judged. Changes alternate, and their samples never go back."""

    def __init__(self, settings: VadSettings, first_sample: int) -> None:
        self._padding = round(settings.padding_s * SAMPLE_RATE_HZ)
        self._num_silent_ends = max(1, -(-round(settings.silence_s * SAMPLE_RATE_HZ) // FRAME_SAMPLES))
        self._reached = first_sample
        """Nothing is told to have begun before it: the end of the last turn."""
        self._at = first_sample
        self._num_same = 0
        """Frames in a row that contradict the state."""
        self._is_speaking = False

    def hear(self, has_speech: npt.NDArray[np.bool_]) -> Iterator[Change]:
        """Take the next frames; yield what they change."""
        for is_speech in has_speech.tolist():
            self._at += FRAME_SAMPLES
            self._num_same = self._num_same + 1 if is_speech is not self._is_speaking else 0
            if self._num_same < (self._num_silent_ends if self._is_speaking else LEAST_FRAMES):
                continue
            self._is_speaking = not self._is_speaking
            if self._is_speaking:
                begun = self._at - self._num_same * FRAME_SAMPLES
                yield Change(True, max(self._reached, begun - self._padding))
            else:
                self._reached = self._at
                yield Change(False, self._at)
            self._num_same = 0
