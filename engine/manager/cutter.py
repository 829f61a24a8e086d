"""Listens to a media file block by block and cuts it into pieces; holds no more than one chunk of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

import numpy as np

from engine.manager.chunker import Chunker, ChunkRange
from engine.manager.downmix import Samples
from engine.manager.head_start import OPENING_S, is_long
from engine.manager.media import Media
from engine.manager.vad import FRAME_SAMPLES, Frames, SpeechDetector, measure_loudness
from engine.protocol.transcript import DEFAULT_VAD, VadSettings

_BLOCKS_AT_ONCE: Final = 4
"""Two seconds are heard and cut at once: 233 s of speech take 0.1 s less than by halves of a second."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A range of the recording with its samples."""

    range: ChunkRange
    samples: Samples


@dataclass(frozen=True, kw_only=True)
class Cutting:
    """How a recording is to be cut."""

    max_chunk_s: float
    use_vad: bool = True
    vad_settings: VadSettings = DEFAULT_VAD
    overlaps: bool = True
    """Where speech never pauses, both chunks get what lies around the cut."""


class Cutter:
    """Reads one media file to its end, once."""

    def __init__(self, media: Media, cutting: Cutting) -> None:
        self._media = media
        self._chunker = Chunker(
            cutting.max_chunk_s,
            cutting.vad_settings,
            overlaps=cutting.overlaps,
            opening_s=OPENING_S if is_long(media.info.duration) else None,
        )
        threshold = cutting.vad_settings.threshold
        self._listener = SpeechDetector(threshold) if cutting.use_vad else _EverythingIsSpeech()
        self._blocks: deque[Samples] = deque()
        self._held_from = 0
        self.num_samples = 0
        """How much has been read."""

    def pieces(self) -> Iterator[Piece | int]:
        """Yield every piece as soon as it is certain; after each block, before which sample no more begin.

        Raises FailureError.
        """
        for block in _join(self._media.blocks()):
            self._blocks.append(block)
            self.num_samples += len(block)
            yield from map(self._fill, self._chunker.feed(self._listener.feed(block)))
            self._forget(self._chunker.nothing_until)
            yield self._chunker.nothing_until
        rest = self._chunker.feed(self._listener.finish())
        rest += self._chunker.finish(self.num_samples)
        yield from map(self._fill, rest)

    def _fill(self, found: ChunkRange) -> Piece:
        held = np.concatenate(self._blocks)
        return Piece(found, held[found.start - self._held_from : found.end - self._held_from])

    def _forget(self, before: int) -> None:
        while self._blocks and self._held_from + len(self._blocks[0]) <= before:
            self._held_from += len(self._blocks.popleft())


def _join(blocks: Iterator[Samples]) -> Iterator[Samples]:
    """Yield larger blocks, for each of which there is as much to do besides hearing it."""
    while some := list(islice(blocks, _BLOCKS_AT_ONCE)):
        yield np.concatenate(some)


class _EverythingIsSpeech:
    """Stands in for the VAD where the user turned it off: only loudness tells where to cut."""

    def __init__(self) -> None:
        self._pending = np.zeros(0, np.float32)

    def feed(self, block: Samples) -> Frames:
        samples = np.concatenate([self._pending, block])
        whole = len(samples) // FRAME_SAMPLES * FRAME_SAMPLES
        self._pending = samples[whole:]
        return _all_speech(samples[:whole])

    def finish(self) -> Frames:
        samples = np.pad(self._pending, (0, -len(self._pending) % FRAME_SAMPLES))
        self._pending = self._pending[:0]
        return _all_speech(samples)


def _all_speech(samples: Samples) -> Frames:
    loudness = measure_loudness(samples)
    return Frames(np.ones(len(loudness), np.bool_), loudness)
