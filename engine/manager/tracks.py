"""Finds the audio track that carries the sound, by listening to a few places of each."""

from __future__ import annotations

import itertools
from typing import Any, Final, cast

import av
import av.container
import av.error
import numpy as np
import numpy.typing as npt

_PLACES: Final = (0.0, 0.25, 0.5, 0.75)
"""Parts of the duration: a film may begin with half a minute of silence."""
_LISTEN_S: Final = 4.0
_MAX_PACKETS: Final = 4000
_AUDIBLE: Final = 10 ** (-50 / 20)
"""RMS of full scale; the hum of an open input that nobody speaks into lies below."""


def choose_track(container: av.container.InputContainer) -> int:
    """Return the index among the audio streams of the one to listen to.

    The file's own default (else the first) if anything can be heard in it; otherwise the loudest.
    Reads at most a few seconds at a few places; the container is of no use afterwards.
    """
    streams = container.streams.audio
    favourite = next((n for n, s in enumerate(streams) if s.disposition & s.disposition.default), 0)
    loudest = [0.0] * len(streams)
    for place in _PLACES:
        if place and not _go_to(container, place):
            break
        for index, level in enumerate(_levels_here(container)):
            loudest[index] = max(loudest[index], level)
        if loudest[favourite] > _AUDIBLE:
            return favourite
    best = int(np.argmax(loudest))
    return best if loudest[best] > loudest[favourite] else favourite


def _go_to(container: av.container.InputContainer, place: float) -> bool:
    if not container.duration or container.duration < 0:
        return False
    try:
        container.seek((container.start_time or 0) + int(container.duration * place))
    except (av.error.FFmpegError, OSError):
        return False
    return True


def _levels_here(container: av.container.InputContainer) -> list[float]:
    """Return the highest RMS of a frame, of every audio stream, in the next seconds."""
    streams = container.streams.audio
    heard_s = [0.0] * len(streams)
    loudest = [0.0] * len(streams)
    by_stream = {stream.index: n for n, stream in enumerate(streams)}
    try:
        for packet in itertools.islice(container.demux(*streams), _MAX_PACKETS):
            index = by_stream[packet.stream.index]
            for frame in _decode(packet):
                heard_s[index] += frame.samples / (frame.sample_rate or 1)
                loudest[index] = max(loudest[index], _level(frame))
            if min(heard_s) >= _LISTEN_S or max(heard_s) >= 4 * _LISTEN_S:
                break
    except (av.error.FFmpegError, OSError):
        pass  # Whatever could be heard decides; reading the chosen track will meet the fault again.
    return loudest


def _decode(packet: av.Packet[Any]) -> list[av.AudioFrame]:
    try:
        return cast(list[av.AudioFrame], packet.decode())
    except av.error.FFmpegError:
        return []


def _level(frame: av.AudioFrame) -> float:
    samples: npt.NDArray[Any] = frame.to_ndarray()
    if samples.dtype.kind == "f":
        scaled = np.nan_to_num(samples.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    elif samples.dtype == np.uint8:
        scaled = (samples.astype(np.float64) - 128) / 128
    else:
        scaled = samples.astype(np.float64) / -float(np.iinfo(samples.dtype).min)
    return float(np.sqrt(np.mean(np.square(scaled - scaled.mean())))) if scaled.size else 0.0
