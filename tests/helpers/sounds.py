"""Makes small sounds and media files for tests: tones, bursts, containers with several tracks."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

Samples = npt.NDArray[np.float32]


def tone(seconds: float, *, hz: float = 440.0, rate: int = 16_000, level: float = 0.3) -> Samples:
    """Return a sine wave, (samples,)."""
    time = np.arange(int(seconds * rate)) / rate
    return (level * np.sin(2 * np.pi * hz * time)).astype(np.float32)


def silence(seconds: float, rate: int = 16_000) -> Samples:
    """Return nothing, (samples,)."""
    return np.zeros(int(seconds * rate), np.float32)


def write_media(
    path: Path,
    tracks: list[Samples],
    *,
    rate: int = 16_000,
    codec: str = "pcm_s16le",
    container: str = "wav",
    starts_s: tuple[float, ...] = (),
) -> Path:
    """Write one audio stream per track, each (samples,) or (channels, samples); times start at `starts_s`."""
    with av.open(str(path), "w", format=container) as output:
        streams = []
        for track in tracks:
            num_channels = 1 if track.ndim == 1 else len(track)
            stream = output.add_stream(codec, rate=rate)
            stream.codec_context.layout = {1: "mono", 2: "stereo", 6: "5.1"}[num_channels]
            streams.append(stream)
        for index, (stream, track) in enumerate(zip(streams, tracks, strict=True)):
            start_s = starts_s[index] if index < len(starts_s) else 0.0
            for frame in _frames(np.atleast_2d(track), rate, stream.codec_context.layout.name, start_s):
                output.mux(stream.encode(frame))
            output.mux(stream.encode(None))
    return path


def _frames(channels: Samples, rate: int, layout: str, start_s: float) -> list[av.AudioFrame]:
    frames = []
    for start in range(0, channels.shape[1], 1024):
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(channels[:, start : start + 1024]), format="fltp", layout=layout
        )
        frame.sample_rate = rate
        frame.time_base = Fraction(1, rate)
        frame.pts = start + int(start_s * rate)
        frames.append(frame)
    return frames
