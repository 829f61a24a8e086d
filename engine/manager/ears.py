"""Judges the frames of a live session, missing audio included."""

from __future__ import annotations

from typing import Final

import numpy as np

from engine.manager.live_audio import Samples
from engine.manager.vad import FRAME_SAMPLES, Frames, SpeechDetector
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.transcript import DEFAULT_VAD

JUDGED_SAMPLES: Final = SAMPLE_RATE_HZ
"""Of missing audio so much is shown to the detector, so that it hears speech end; the rest is silence."""


class Ears:
    """Frames of one session from its first sample on; without a detector everything counts as speech."""

    def __init__(self, *, use_vad: bool, threshold: float = DEFAULT_VAD.threshold) -> None:
        self._detector = SpeechDetector(threshold) if use_vad else None
        self._num_pending = 0
        """Samples behind the last whole frame; the detector keeps them too."""

    def judge(self, samples: Samples) -> Frames:
        """Return the frames that `samples` complete."""
        num_frames, self._num_pending = divmod(self._num_pending + len(samples), FRAME_SAMPLES)
        if self._detector is not None:
            return self._detector.feed(samples)
        return _frames(num_frames, has_speech=True)

    def miss(self, num_samples: int) -> Frames:
        """Return the frames that missing audio of any length completes."""
        shown = min(num_samples, JUDGED_SAMPLES)
        num_silent = (num_samples - shown) // FRAME_SAMPLES
        rest = num_samples - shown - num_silent * FRAME_SAMPLES
        parts = [
            self.judge(np.zeros(shown, np.float32)),
            _frames(num_silent, has_speech=False),
            self.judge(np.zeros(rest, np.float32)),
        ]
        return Frames(
            np.concatenate([part.has_speech for part in parts]),
            np.concatenate([part.loudness for part in parts]),
        )


def _frames(num_frames: int, *, has_speech: bool) -> Frames:
    return Frames(np.full(num_frames, has_speech, np.bool_), np.zeros(num_frames, np.float32))
