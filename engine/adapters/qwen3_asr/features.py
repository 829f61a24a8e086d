"""Log-mel windows exactly as Qwen3-ASR was trained on them, each computed in the same way every time.

As the reference's, but for this: every window of eight seconds is a computation of the same size
whatever follows it, so that the same sound gives the same bits. Its numbers may still change when
louder sound follows, since what is far below a clip's loudest point is cut off.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from engine.adapters.qwen3_asr.config import NUM_MELS
from engine.adapters.whisper.features import FFT_SAMPLES, HOP_SAMPLES, mel_filters

WINDOW_FRAMES: Final = 800
MIN_SAMPLES: Final = 8_000
"""Shorter clips are followed by silence, as in the reference."""
_DYNAMIC_RANGE: Final = 8.0
"""In powers of ten below a clip's loudest point; what is quieter is cut off."""


def within_full_scale(pcm: np.ndarray) -> Tensor:
    """Return samples, (samples ≥ 1,) float32; louder ones are made quieter, as where it was trained."""
    return torch.from_numpy(pcm / max(1.0, float(np.abs(pcm).max())))


@torch.inference_mode()
def log_mel_windows(pcm: Tensor, window_frames: int = WINDOW_FRAMES) -> list[Tensor]:
    """Return the windows of a clip, `pcm`, (samples,) float32 mono at 16 kHz: (128, frames) float32 each.

    All but the last have `window_frames`; the last has what is left, at least one.
    """
    if len(pcm) < MIN_SAMPLES:
        pcm = F.pad(pcm, (0, MIN_SAMPLES - len(pcm)))
    half = FFT_SAMPLES // 2
    padded = F.pad(pcm[None], (half, half), mode="reflect")[0]
    # The reference drops the last frame, which is centred behind the end.
    num_frames = len(pcm) // HOP_SAMPLES
    windows = [
        _log_mel(padded, first, min(window_frames, num_frames - first))
        for first in range(0, num_frames, window_frames)
    ]
    floor = torch.stack([window.max() for window in windows]).max() - _DYNAMIC_RANGE
    return [(torch.maximum(window, floor) + 4.0) / 4.0 for window in windows]


def _log_mel(padded: Tensor, first: int, num_frames: int) -> Tensor:
    """Return (128, frames) of the frames from `first` on, in powers of ten."""
    begin = first * HOP_SAMPLES
    samples = padded[begin : begin + (num_frames - 1) * HOP_SAMPLES + FFT_SAMPLES]
    window = torch.hann_window(FFT_SAMPLES)
    spectrum = torch.stft(
        samples.contiguous(), FFT_SAMPLES, HOP_SAMPLES, window=window, center=False, return_complex=True
    )
    power = spectrum.abs() ** 2
    return (mel_filters(NUM_MELS) @ power).clamp_(min=1e-10).log10_()
