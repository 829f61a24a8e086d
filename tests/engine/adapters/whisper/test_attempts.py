"""Attempt after attempt: what is shown while a chunk is decoded, and what is kept in the end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.adapters.base import Admission, Decode, OutOfMemory, Retry
from engine.adapters.kv import Move
from engine.adapters.whisper.adapter import WhisperAdapter
from engine.adapters.whisper.config import WhisperConfig
from engine.adapters.whisper.model import Decoded, Whisper
from engine.adapters.whisper.vocabulary import Vocabulary, read_vocabulary
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, FinishReason, RequestKey

pytestmark = pytest.mark.weights

FIRST = 50_364
PROSE = tuple(range(1000, 1012))
LOOP = (700, 701, 702, 703) * 10
RIVALS = list(range(40_000, 40_020))


@dataclass
class Saying:
    """What the network says to one chunk. `confidence` is the share of each id against many rivals."""

    ids: tuple[int, ...]
    confidence: float = 0.9
    no_speech: float = 0.01


class PlayedCache:
    """Slots without content."""

    def __init__(self, num_slots: int) -> None:
        self.num_slots = num_slots
        self.used: set[int] = set()
        self.lengths: dict[int, int] = {}

    def allocate(self, num_rows: int) -> list[int]:
        free = [row for row in range(self.num_slots) if row not in self.used][:num_rows]
        if len(free) < num_rows:
            raise OutOfMemory
        self.used |= set(free)
        return free

    def allocate_beside(self, row: int, num_rows: int) -> list[int]:
        return self.allocate(num_rows)

    def copy_text(self, moves: Sequence[Move]) -> None:
        pass

    def free(self, rows: Sequence[int]) -> None:
        self.used -= set(rows)

    def set_length(self, row: int, length: int) -> None:
        self.lengths[row] = length


@dataclass
class PlayedNetwork:
    """Stands in for `Whisper`: says `sayings`, one for each chunk in the order they are admitted."""

    vocabulary: Vocabulary
    sayings: list[Saying]
    described: str = "played"
    takes_any_size: bool = False
    num_encoded: int = 0
    memory: list[bool] = field(default_factory=list)
    """True for each coming encoding that is to fail."""

    def __post_init__(self) -> None:
        dims = type("Dims", (), {"n_mels": 80, "n_audio_ctx": 1500, "n_text_ctx": 448, "n_vocab": 51_865})
        self.config = cast(WhisperConfig, type("Config", (), {"dims": dims}))
        self.config.suppress_ids, self.config.suppress_ids_begin = (), ()  # type: ignore[misc]
        self.cache = PlayedCache(4)
        self._playing: dict[int, Saying] = {}
        self._num_asked: dict[int, int] = {}
        """How long each row's prompt is."""

    def new_cache(self, num_slots: int) -> PlayedCache:
        return self.cache

    def encode(self, mel: Tensor) -> Tensor:
        self.num_encoded += len(mel)
        if self.memory and self.memory.pop(0):
            raise OutOfMemory
        return torch.zeros(len(mel), 2, 2)

    def listen(self, cache: PlayedCache, rows: Sequence[int], states: Sequence[Tensor]) -> None:
        self._playing.update((row, self.sayings.pop(0)) for row in rows)

    def prefill(
        self,
        cache: PlayedCache,
        rows: Sequence[int],
        prompts: Sequence[Sequence[int]],
        *,
        logits_at: Sequence[Sequence[int]],
        with_attention: bool = False,
    ) -> Decoded:
        special = self.vocabulary.special
        logits: list[Tensor] = []
        for row, prompt, (_, *places) in zip(rows, prompts, logits_at, strict=True):
            self._num_asked[row] = len(prompt) - len(places) + 1
            saying = self._playing[row]
            shares = torch.tensor([saying.no_speech, 1 - saying.no_speech]).log()
            logits.append(torch.full((51_865,), -1e4))
            logits[-1][[special.no_speech, 0]] = shares
            logits += [self._logits(saying, place) for place in range(len(places))]
        return Decoded(torch.stack(logits), None)

    def step(
        self, cache: PlayedCache, rows: Sequence[int], tokens: Sequence[int], *, with_attention: bool = False
    ) -> Decoded:
        places = [cache.lengths[row] - self._num_asked[row] + 1 for row in rows]
        sayings = [self._playing[row] for row in rows]
        return Decoded(torch.stack([*map(self._logits, sayings, places)]), None)

    def _logits(self, saying: Saying, place: int) -> Tensor:
        """Return what leads to the id at a place of a saying, whatever was read before it."""
        ids = (*saying.ids, self.vocabulary.special.end)
        logits = torch.full((51_865,), -1e4)
        logits[RIVALS] = math.log((1 - saying.confidence) / len(RIVALS))
        logits[ids[min(place, len(saying.ids))]] = math.log(saying.confidence)
        return logits


@pytest.fixture(scope="module")
def vocabulary(whisper_base: Path) -> Vocabulary:
    return read_vocabulary(whisper_base)


def chunk(*temperatures: float, index: int = 0, seconds: float = 10.0) -> Chunk:
    pcm = np.full(int(seconds * 16_000), 0.1 + index / 100, dtype="<f4").tobytes()
    options = DecodingOptions(language="en", temperatures=temperatures)
    key = RequestKey("job", index)
    return Chunk(key=key, kind=ChunkKind.FILE, start_sample=0, pcm=pcm, options=options)


@dataclass
class Play:
    """An adapter over a played network."""

    adapter: WhisperAdapter
    network: PlayedNetwork

    def attempt(self, asked: Chunk, attempt: int = 0) -> Decode:
        (decode,) = self.adapter.admit([Admission(asked, attempt)])
        while decode.outcome is None:
            self.adapter.step([decode])
        self.adapter.release([decode])
        return decode


def play(vocabulary: Vocabulary, *sayings: Saying) -> Play:
    network = PlayedNetwork(vocabulary, list(sayings))
    return Play(WhisperAdapter(cast(Whisper, network), vocabulary, "played", 4), network)


def finished(decode: Decode) -> Finished:
    assert isinstance(decode.outcome, Finished)
    return decode.outcome


def test_good_text_is_shown_as_it_is_said(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *PROSE, FIRST + 400)))
    (decode,) = stage.adapter.admit([Admission(chunk(0.0))])
    assert decode.ids == [FIRST, PROSE[0]], "an answer's beginning is foretold"
    stage.adapter.step([decode])
    assert decode.ids == [FIRST, *PROSE[:2]]
    while decode.outcome is None:
        stage.adapter.step([decode])
    assert decode.ids == [FIRST, *PROSE, FIRST + 400]
    assert finished(decode).reason is FinishReason.STOP
    assert not finished(decode).is_suspect


def test_a_loop_is_stopped_and_decoded_again(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *PROSE, *LOOP)), Saying((FIRST, *PROSE)))
    asked = chunk(0.0, 0.2)
    first = stage.attempt(asked)
    assert first.outcome == Retry("loop")
    assert len(first.ids) < 1 + len(PROSE) + len(LOOP)
    second = stage.attempt(asked, 1)
    assert second.ids == [FIRST, *PROSE]
    assert finished(second).temperature == 0.2
    assert stage.network.num_encoded == 1


def test_a_loop_at_every_temperature_is_cut_and_marked(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *PROSE, *LOOP)), Saying((FIRST, *PROSE, *LOOP)))
    asked = chunk(0.0, 0.2)
    assert [stage.attempt(asked, n).outcome for n in (0, 1)] == [Retry("loop"), Retry("loop")]
    last = stage.attempt(asked, 2)
    assert last.ids == [FIRST, *PROSE, *LOOP[:8]]
    assert len(last.logprobs) == len(last.ids)
    assert finished(last).is_suspect
    assert finished(last).reason is FinishReason.LOOP


def test_the_likeliest_of_all_attempts_is_kept(vocabulary: Vocabulary) -> None:
    unlikely = [Saying((FIRST, *PROSE[n:]), confidence=share) for n, share in enumerate((0.25, 0.3, 0.2))]
    stage = play(vocabulary, *unlikely)
    asked = chunk(0.0, 0.0, 0.0)
    assert all(stage.attempt(asked, n).outcome == Retry("unlikely") for n in range(3))
    last = stage.attempt(asked, 3)
    assert last.ids == [FIRST, *PROSE[1:]]
    assert finished(last).is_suspect
    assert last.language == "en"


def test_the_last_attempt_is_kept_at_once_where_it_is_the_best(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *PROSE), confidence=0.3))
    decode = stage.attempt(chunk(0.0))
    assert finished(decode).is_suspect
    assert decode.ids == [FIRST, *PROSE]


def test_the_best_is_found_again_when_the_attempts_were_forgotten(vocabulary: Vocabulary) -> None:
    """After a crash only the chunk and the number of its attempt are left."""
    stage = play(vocabulary, Saying((FIRST, *PROSE, *LOOP)))
    last = stage.attempt(chunk(0.0, 0.2), 2)
    assert last.ids == [FIRST, *PROSE, *LOOP[:8]]
    assert finished(last).is_suspect


def test_what_may_be_silence_is_not_shown_before_it_is_believed(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *PROSE), no_speech=0.9), Saying((FIRST, *PROSE), 0.3, 0.9))
    (believed,) = stage.adapter.admit([Admission(chunk(0.0))])
    stage.adapter.step([believed])
    assert believed.ids == []
    while believed.outcome is None:
        stage.adapter.step([believed])
    assert believed.ids == [FIRST, *PROSE]
    silent = stage.attempt(chunk(0.0, index=1))
    assert silent.ids == []
    assert finished(silent).reason is FinishReason.SILENCE


def test_a_short_chunk_has_a_short_budget(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *range(1000, 2000))))
    decode = stage.attempt(chunk(0.0, 0.2, seconds=1.0))
    assert decode.outcome == Retry("length")
    assert len(decode.ids) < 100


def test_running_out_of_memory_leaves_nothing_behind(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, Saying((FIRST, *PROSE)))
    stage.network.memory = [True]
    with pytest.raises(OutOfMemory):
        stage.adapter.admit([Admission(chunk(0.0)), Admission(chunk(0.0, index=1))])
    assert not stage.network.cache.used
    assert finished(stage.attempt(chunk(0.0))).reason is FinishReason.STOP


def test_garbage_that_hardly_sounds_like_speech_is_taken_back(vocabulary: Vocabulary) -> None:
    stage = play(vocabulary, *(Saying((FIRST, *PROSE), 0.25, no_speech=0.4) for _ in range(2)))
    asked = chunk(0.0, 0.0)
    assert [stage.attempt(asked, n).outcome for n in (0, 1)] == [Retry("unlikely")] * 2
    last = stage.attempt(asked, 2)
    assert last.ids == []
    assert finished(last).reason is FinishReason.SILENCE
    assert not finished(last).is_suspect
