"""When each token was said: cross-attention made into a path through the audio.

The method is the reference's (openai/whisper, timing.py): the attention of the alignment heads,
normalised over the tokens and median-filtered over time, then dynamic time warping.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.messages import SAMPLE_RATE_HZ

FRAME_S: Final = 0.02
"""Seconds of audio in one frame of the encoder."""
MEDIAN_FRAMES: Final = 7
PAUSE_S: Final = 0.3
"""The shortest silence that is taken for a pause; within a word there is none half as long."""
QUIET_SHARE: Final = 0.1
"""Of a token's loudest frame: quieter frames are a silence."""
ONSET_S: Final = 0.06
"""How long before it is loud a sound may begin: an s or an f."""

Floats = npt.NDArray[np.float64]


def token_times(attention: Tensor, num_frames: int) -> tuple[tuple[float, float], ...]:
    """Return start and end in seconds of each of `tokens` ids, in order, none going back.

    `attention` is (tokens + 1, heads, frames): the weights while each id was chosen, the end-of-text
    token last. Only the first `num_frames` frames hold audio.
    """
    num_tokens = attention.shape[0] - 1
    num_frames = min(num_frames, attention.shape[2])
    if num_tokens <= 0 or num_frames <= 0:
        return ((0.0, 0.0),) * max(0, num_tokens)
    starts = first_frames(alignment_costs(attention[:, :, :num_frames].float())) * FRAME_S
    return tuple(zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True))


def begin_with_sound(
    times: Sequence[tuple[float, float]], samples: npt.NDArray[np.float32]
) -> tuple[tuple[float, float], ...]:
    """Return `times` with tokens beginning where something is heard; ends stay what they are.

    The path is one line through all frames, so a pause without a mark that could fill it belongs to the
    token behind it, often with the last of the sound before it. Where a recording is never quiet nothing
    changes. `samples` are those of the chunk.
    """
    frame_samples = round(FRAME_S * SAMPLE_RATE_HZ)
    frames = samples[: len(samples) // frame_samples * frame_samples].reshape(-1, frame_samples)
    loudness = np.sqrt(np.mean(np.square(frames), axis=1))
    return tuple((_begin(start_s, end_s, loudness), end_s) for start_s, end_s in times)


def _begin(start_s: float, end_s: float, loudness: npt.NDArray[np.float32]) -> float:
    """Return where the sound behind the last pause in a span begins, if that is most of its sound."""
    span = loudness[round(start_s / FRAME_S) : round(end_s / FRAME_S)]
    if len(span) * FRAME_S <= PAUSE_S:
        return start_s
    heard = np.flatnonzero(span > QUIET_SHARE * span.max())
    silences = np.diff(heard, prepend=-1) - 1
    pauses = np.flatnonzero(silences * FRAME_S >= PAUSE_S)
    if not len(pauses) or 2 * pauses[-1] > len(heard):
        return start_s
    return start_s + float(heard[pauses[-1]]) * FRAME_S - ONSET_S


def alignment_costs(attention: Tensor) -> Floats:
    """Return the cost of each token at each frame, (tokens, frames), of (tokens, heads, frames)."""
    weights = attention / attention.sum(dim=-1, keepdim=True).clamp_min(1e-9)
    std, mean = torch.std_mean(weights, dim=0, keepdim=True, unbiased=False)
    filtered = _median_filter((weights - mean) / std.clamp_min(1e-9))
    costs: Floats = -filtered.mean(dim=1).cpu().numpy().astype(np.float64)
    return costs


def first_frames(costs: Floats) -> npt.NDArray[np.int64]:
    """Return the frame where the cheapest path through `costs`, (tokens, frames), enters each token.

    The path begins and ends in the corners and moves one token, one frame, or both at a time.
    """
    num_tokens, num_frames = costs.shape
    total = np.empty((num_tokens, num_frames))
    total[0] = np.cumsum(costs[0])
    for token in range(1, num_tokens):
        above = total[token - 1]
        entry = np.minimum(above, np.concatenate(([np.inf], above[:-1])))
        # total[j] = cost[j] + min(entry[j], total[j - 1]), unrolled along the frames.
        sums = np.cumsum(costs[token])
        total[token] = sums + np.minimum.accumulate(entry - sums + costs[token])
    return _entries(total)


def _entries(total: Floats) -> npt.NDArray[np.int64]:
    """Walk back from the last corner along the cheapest predecessors."""
    token, frame = total.shape[0] - 1, total.shape[1] - 1
    entries = np.zeros(total.shape[0], dtype=np.int64)
    while token > 0:
        diagonal = total[token - 1, frame - 1] if frame > 0 else np.inf
        up = total[token - 1, frame]
        left = total[token, frame - 1] if frame > 0 else np.inf
        if left < min(diagonal, up):
            frame -= 1
            continue
        entries[token] = frame
        token -= 1
        if diagonal <= up:
            frame -= 1
    return entries


def _median_filter(weights: Tensor) -> Tensor:
    """Return the running median over `MEDIAN_FRAMES` frames of the last axis, mirrored at its ends."""
    margin = MEDIAN_FRAMES // 2
    if weights.shape[-1] <= margin:
        return weights
    padded = torch.nn.functional.pad(weights, (margin, margin), mode="reflect")
    return padded.unfold(-1, MEDIAN_FRAMES, 1).sort(dim=-1).values[..., margin]
