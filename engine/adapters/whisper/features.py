"""Log-mel spectrograms exactly as Whisper was trained on them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

import numpy as np
import torch
from torch import Tensor

from engine.messages import SAMPLE_RATE_HZ

WINDOW_S: Final = 30
WINDOW_SAMPLES: Final = WINDOW_S * SAMPLE_RATE_HZ
FFT_SAMPLES: Final = 400
HOP_SAMPLES: Final = 160
NUM_FRAMES: Final = WINDOW_SAMPLES // HOP_SAMPLES
"""Of a window; the encoder halves them to 1500."""

SILENCE_FRAMES: Final = 400
"""Of the encoder, 8 seconds: with so much silence behind the audio base hears nearly as in a whole window.
(58 recordings of 22 s at most: 152 errors for 148; with 4 seconds 156)"""
FRAME_STEP: Final = 250
"""Lengths are multiples of this: for each of them memory is taken."""

_DYNAMIC_RANGE: Final = 8.0
"""In powers of ten below a window's loudest point; what is quieter is cut off."""


def heard_frames(num_samples: int, most: int) -> int:
    """Return how many of a window's frames, `most` at the most, tell what so many samples of audio say.

    The rest is silence, which takes as long to encode as speech. For answers that have to be quick.
    """
    num_frames = -(-num_samples // (2 * HOP_SAMPLES)) + SILENCE_FRAMES
    return min(most, num_frames + -num_frames % FRAME_STEP)


@torch.inference_mode()
def log_mel(chunks: Sequence[np.ndarray], num_mels: int) -> Tensor:
    """Return (chunks, `num_mels`, 3000) float32 of mono float32 `chunks` at 16 kHz, each ≤ 30 s.

    Shorter chunks are padded with silence to the whole window, as in training. Raises ValueError
    where one is longer.
    """
    features = torch.empty((len(chunks), num_mels, NUM_FRAMES))
    for chunk, target in zip(chunks, features, strict=True):
        if len(chunk) > WINDOW_SAMPLES:
            raise ValueError(f"a chunk of {len(chunk)} samples does not fit a window")
        window = torch.zeros(WINDOW_SAMPLES)
        window[: len(chunk)] = torch.from_numpy(np.ascontiguousarray(chunk, dtype=np.float32))
        target.copy_(_log_mel_of_window(window, num_mels))
    return features


def _log_mel_of_window(window: Tensor, num_mels: int) -> Tensor:
    """Return (`num_mels`, frames); the steps and constants of `log_mel_spectrogram` of the reference."""
    spectrum = torch.stft(
        window, FFT_SAMPLES, HOP_SAMPLES, window=torch.hann_window(FFT_SAMPLES), return_complex=True
    )
    real, imaginary = torch.view_as_real(spectrum[:, :-1]).unbind(-1)
    power = real.square().addcmul_(imaginary, imaginary)
    log_power = (mel_filters(num_mels) @ power).clamp_(min=1e-10).log10_()
    log_power = torch.maximum(log_power, log_power.max() - _DYNAMIC_RANGE)
    return (log_power + 4.0) / 4.0


@cache
def mel_filters(num_mels: int) -> Tensor:
    """Return (`num_mels`, 201): triangles of equal area, evenly spaced on Slaney's mel scale, 0 to 8 kHz.

    The same as `librosa.filters.mel(sr=16000, n_fft=400, n_mels=num_mels)`, from which the reference
    took its filters.
    """
    bins_hz = np.linspace(0.0, SAMPLE_RATE_HZ / 2, FFT_SAMPLES // 2 + 1)
    edges_hz = _mel_to_hz(np.linspace(0.0, _hz_to_mel(SAMPLE_RATE_HZ / 2), num_mels + 2))
    widths_hz = np.diff(edges_hz)
    offsets_hz = edges_hz[:, None] - bins_hz[None, :]
    rising = -offsets_hz[:-2] / widths_hz[:-1, None]
    falling = offsets_hz[2:] / widths_hz[1:, None]
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    areas = 2.0 / (edges_hz[2:] - edges_hz[:-2])
    return torch.from_numpy((triangles * areas[:, None]).astype(np.float32))


# Slaney's mel scale (Auditory Toolbox, 1998): linear below 1 kHz, logarithmic above, 15 mels to 1 kHz.
_LINEAR_HZ_PER_MEL: Final = 200.0 / 3.0
_BREAK_HZ: Final = 1000.0
_BREAK_MEL: Final = _BREAK_HZ / _LINEAR_HZ_PER_MEL
_LOG_STEP: Final = np.log(6.4) / 27.0


def _hz_to_mel(frequency_hz: float) -> float:
    """Convert a frequency above the break."""
    return float(_BREAK_MEL + np.log(frequency_hz / _BREAK_HZ) / _LOG_STEP)


def _mel_to_hz(mels: np.ndarray) -> np.ndarray:
    above = _BREAK_HZ * np.exp(_LOG_STEP * (mels - _BREAK_MEL))
    return np.where(mels < _BREAK_MEL, mels * _LINEAR_HZ_PER_MEL, above)
