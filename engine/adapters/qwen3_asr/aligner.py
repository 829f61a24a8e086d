"""Says when each word was said that somebody else has recognised: one pass of a network made for that."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch

from engine.adapters.base import OutOfMemory, RuntimeOptions
from engine.adapters.qwen3_asr.aligning import (
    ALIGNED_LANGUAGES,
    TokenTimes,
    is_credible,
    token_times,
    units_of,
)
from engine.adapters.qwen3_asr.config import Kind, Qwen3Config, unsupported
from engine.adapters.qwen3_asr.features import log_mel_windows, within_full_scale
from engine.adapters.qwen3_asr.load import load_network
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.qwen3_asr.vocabulary import Vocabulary, read_vocabulary
from engine.adapters.runtime import out_of_memory_raised
from engine.messages import SAMPLE_RATE_HZ
from engine.protocol.failures import FailureError

log = logging.getLogger(__name__)

Samples = npt.NDArray[np.float32]


class ForcedAligner:
    """A loaded Qwen3-ForcedAligner."""

    def __init__(self, network: Qwen3Asr, vocabulary: Vocabulary, timestamp_id: int) -> None:
        self._network = network
        self._vocabulary = vocabulary
        self._timestamp_id = timestamp_id

    def align(self, pcm: Samples, pieces: Sequence[bytes]) -> TokenTimes | None:
        """Return when each token of a text was said in `pcm`, mono float32 at 16 kHz.

        `pieces` are the tokens' bytes, none of them empty. None where there is no word, too much of text
        and audio for the network, or no sense in what it says. Raises OutOfMemory.
        """
        units = units_of(pieces)
        if not units or not len(pcm):
            return None
        times_s = self.times(pcm, [unit.text for unit in units])
        if times_s is None:
            return None
        times_ms = [1000 * time_s for time_s in times_s]
        if not is_credible(times_ms, len(pcm) / SAMPLE_RATE_HZ):
            log.info("the aligner's times of %d words make no sense", len(units))
            return None
        return token_times(len(pieces), units, times_ms)

    def times(self, pcm: Samples, words: Sequence[str]) -> list[float] | None:
        """Return start and end of each of `words` in seconds, as the network says them, one after another.

        They may go back. None where text and audio are too long. Raises OutOfMemory.
        """
        network, marks = self._network, self._vocabulary.marks
        asked = [(*self._vocabulary.encode(word), self._timestamp_id, self._timestamp_id) for word in words]
        behind = [marks.audio_end, *(id_ for ids in asked for id_ in ids)]
        with torch.inference_mode(), out_of_memory_raised():
            windows = log_mel_windows(within_full_scale(pcm), network.config.audio.window_frames)
            audio = [network.encode(mel) for mel in windows]
            x = torch.cat([network.embed([marks.audio_start]), *audio, network.embed(behind)])
            if len(x) > network.row_shape.max_tokens:
                return None
            cache = network.new_cache(1)
            states = network.read(cache, cache.allocate(), x)[-len(behind) :]
            places = torch.tensor([id_ == self._timestamp_id for id_ in behind], device=network.device)
            labels: list[int] = network.head(states[places]).argmax(dim=-1).tolist()
        return [label * network.config.segment_s for label in labels]


class Companion:
    """An aligner that is loaded when words' times are first wanted and it is there; it may come later.

    Where there is none, or none that works, times are left to others: a transcript with guessed times is
    better than none, and says that they are guesses.
    """

    def __init__(self, folder: Path | None, runtime: RuntimeOptions) -> None:
        self._folder = folder
        self._runtime = runtime
        self._aligner: ForcedAligner | None = None

    @property
    def is_ready(self) -> bool:
        """There is an aligner, and it is loaded."""
        return self._aligner is not None

    def prepare(self) -> None:
        """Load the aligner, if there is one that was not loaded yet; takes seconds."""
        folder = self._folder
        if folder is None or not (folder / "config.json").is_file():
            return
        self._folder = None
        try:
            self._aligner = load_aligner(folder, self._runtime)
        except OutOfMemory:
            log.warning("there is no memory for the aligner; times of words are left out")
        except FailureError as error:
            log.warning("the aligner cannot be used: %s", error.failure.kind)
            log.debug("it says: %s", error.failure.detail)

    def align(self, pcm: Samples, pieces: Sequence[bytes], language: str | None) -> TokenTimes | None:
        """Return when each token was said; None where nobody can tell."""
        if self._aligner is None or language not in ALIGNED_LANGUAGES:
            return None
        try:
            return self._aligner.align(pcm, pieces)
        except OutOfMemory:
            log.info("no memory to align %.1f s", len(pcm) / SAMPLE_RATE_HZ)
            return None


def load_aligner(folder: Path, runtime: RuntimeOptions) -> ForcedAligner:
    """Load the aligner in `folder`, of either layout. Raises FailureError, OutOfMemory."""
    network = load_network(folder, runtime, Kind.ALIGNER)
    vocabulary = read_vocabulary(folder, network.config)
    return ForcedAligner(network, vocabulary, _timestamp_id(network.config, vocabulary, folder.name))


def _timestamp_id(config: Qwen3Config, vocabulary: Vocabulary, name: str) -> int:
    named = vocabulary.marks.timestamp
    if named is None or config.timestamp_id not in (None, named):
        raise unsupported(name, f"<timestamp> is {named}, and {config.timestamp_id} in config.json")
    return named
