"""Log-mel spectrograms exactly as Whisper was trained on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor

from engine.messages import SAMPLE_RATE_HZ

WINDOW_S = 30
WINDOW_SAMPLES = WINDOW_S * SAMPLE_RATE_HZ
NUM_FFT = 400
HOP_SAMPLES = 160
NUM_FRAMES = WINDOW_SAMPLES // HOP_SAMPLES
"""Of a window; the encoder halves them to 1500."""


def log_mel(chunks: Sequence[np.ndarray], num_mels: int) -> Tensor:
    """Return (chunks, `num_mels`, 3000) float32 of mono float32 `chunks` at 16 kHz, each ≤ 30 s.

    Shorter chunks are padded with silence to the whole window, as in training. Raises ValueError
    where one is longer.
    """
    raise NotImplementedError
