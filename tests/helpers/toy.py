"""A model family without a network, for process tests: its text can be predicted from the samples.

Every half second of audio is one word, chosen by how loud it is; below `SILENCE` there is none. An id is
one UTF-8 byte, and a step yields one id, so that characters of several bytes arrive in pieces. Name this
module in `EngineConfig.families` and write a folder with `write_toy_model`.
"""

from __future__ import annotations

import json
import math
import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from engine.adapters import register
from engine.adapters.base import Admission, Decode, ModelTraits, OutOfMemory, Retry, RuntimeOptions
from engine.config import EngineConfig
from engine.messages import SAMPLE_RATE_HZ, Chunk, Finished, FinishReason, RequestKey
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Segment, Word

WORDS: Final = (" toy", " słowo", " 낱말", " 😀", " mot,", " слово", " kata", " word.")
WORD_SAMPLES: Final = SAMPLE_RATE_HZ // 2
WORD_S: Final = 0.5
SILENCE: Final = 0.005
"""A half second is silent when its mean absolute sample is below this."""
LEVEL_STEP: Final = 0.02
"""Mean absolute samples within one step of this width give the same word."""
MAX_SEGMENT_WORDS: Final = 4

STOP_ID: Final = 256
START_ID: Final = 257
FIRST_TIME_ID: Final = 300
"""`FIRST_TIME_ID + n` opens a segment that begins at the chunk's n-th half second; special."""
NUM_IDS: Final = FIRST_TIME_ID + 200


class ToyOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a toy behaves; kept under `toy` in the folder's `config.json`.

    A trouble befalls a chunk that holds a sample of at least that size (0 = any chunk), once it has
    `trouble_after_ids` ids; with `max_troubles` only so many times, counted in the model's folder.
    """

    slots: int = 4
    max_chunk_s: float = 30.0
    languages: tuple[str, ...] = ("en", "ko")
    can_translate: bool = True
    detected_language: str = "en"
    load_s: float = 0.0
    step_s: float = 0.0
    """Seconds a step takes, however many rows there are."""
    max_rows: int | None = None
    """Rows beyond this are out of memory."""
    num_retries: int = 0
    """Attempts the guards object to before they are content."""
    is_broken: bool = False
    """Loading the network fails."""
    crash_from: float | None = None
    hang_from: float | None = None
    raise_from: float | None = None
    trouble_after_ids: int = 0
    max_troubles: int | None = None


def toy_config(folder: Path) -> EngineConfig:
    """Return an engine's configuration whose files are all below `folder`, and that knows only toys."""
    return EngineConfig(
        models_folder=str(folder / "models"),
        cache_folder=str(folder / "cache"),
        log_folder=str(folder / "logs"),
        runtime_folder=str(folder / "run"),
        families=("tests.helpers.toy",),
    )


def write_toy_model(folder: Path, **options: object) -> Path:
    """Write a checkpoint folder of a toy with `ToyOptions(**options)` and return it."""
    toy = msgspec.convert(options, ToyOptions)
    folder.mkdir(parents=True, exist_ok=True)
    config = {"architectures": ["ToyForTests"], "toy": msgspec.to_builtins(toy)}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def toy_audio(*words: int | None) -> np.ndarray:
    """Return float32 samples at 16 kHz: half a second for each index into `WORDS`, silence for None.

    The level survives 16-bit files, and the tone is loud enough to be no silence.
    """
    time_s = np.arange(WORD_SAMPLES, dtype=np.float64) / SAMPLE_RATE_HZ
    # A square wave's mean absolute sample is its height.
    square = np.where((time_s * 200.0) % 1.0 < 0.5, 1.0, -1.0)
    blocks = [np.zeros(WORD_SAMPLES) if word is None else square * _level(word) for word in words]
    return np.concatenate([*blocks, np.zeros(0)]).astype(np.float32)


def expected_text(samples: np.ndarray) -> str:
    """Return what a toy writes for one chunk of these samples."""
    return "".join(WORDS[word] for word in toy_words(samples) if word is not None)


def expected_ids(samples: np.ndarray) -> list[int]:
    """Return the ids a toy generates for one chunk of these samples, time ids included."""
    ids: list[int] = []
    num_words = 0
    for index, word in enumerate(toy_words(samples)):
        if word is None:
            num_words = 0
            continue
        if num_words % MAX_SEGMENT_WORDS == 0:
            ids.append(FIRST_TIME_ID + index)
        ids += WORDS[word].encode("utf-8")
        num_words += 1
    return ids


class ToyAdapter:
    """Decodes by looking up what `expected_ids` says, one id a step, with the troubles asked for."""

    def __init__(self, folder: Path, options: ToyOptions, num_slots: int | None = None) -> None:
        self.device = "toy"
        self.slots = num_slots or options.slots
        self._folder = folder
        self._options = options
        self._pending: dict[Decode, list[int]] = {}
        self._times: dict[Decode, list[tuple[float, float]]] = {}

    def rows(self, chunk: Chunk) -> int:
        return 1

    def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
        num_rows = len(self._pending) + len(admissions)
        self._check_memory(num_rows)
        assert num_rows <= self.slots, "the scheduler admitted more rows than there are slots"
        decodes = [self._decode(admission) for admission in admissions]
        for decode in decodes:
            ids = expected_ids(_samples(decode.chunk))
            num_known = _num_known(ids, decode.chunk.prefix_ids)
            self._pending[decode] = ids[num_known:]
            self._times[decode] = _word_times(ids)[num_known:]
        return decodes

    def step(self, running: Sequence[Decode]) -> None:
        self._check_memory(len(running))
        if self._options.step_s:
            time.sleep(self._options.step_s)
        for decode in running:
            assert decode.outcome is None, "a decode that ended was passed again"
            self._trouble(decode)
            self._advance(decode)

    def release(self, decodes: Sequence[Decode]) -> None:
        for decode in decodes:
            del self._pending[decode], self._times[decode]

    def resize(self, slots: int) -> None:
        assert len(self._pending) <= slots, "rows in use were taken away"
        self.slots = slots

    def _decode(self, admission: Admission) -> Decode:
        chunk = admission.chunk
        language = chunk.options.language
        if language is not None and language not in self._options.languages:
            raise FailureError(failure(FailureKind.LANGUAGE_UNKNOWN, self._folder.name, language))
        return Decode(
            chunk=chunk,
            key=RequestKey(chunk.key.job, chunk.key.chunk, admission.attempt),
            prefix_ids=(START_ID, *chunk.prefix_ids),
            language=language or self._options.detected_language,
            language_probability=0.9 if language is None else 1.0,
        )

    def _advance(self, decode: Decode) -> None:
        pending = self._pending[decode]
        if len(decode.ids) < len(pending):
            decode.ids.append(pending[len(decode.ids)])
            decode.logprobs.append(-0.25)
            decode.attended_s.append(self._times[decode][len(decode.ids) - 1][0])
            return
        attempt = decode.key.attempt
        if attempt < min(self._options.num_retries, len(decode.chunk.options.temperatures) - 1):
            decode.outcome = Retry("the toy was told to object")
        else:
            decode.outcome = _finished(decode, self._times[decode])

    def _check_memory(self, num_rows: int) -> None:
        if self._options.max_rows is not None and num_rows > self._options.max_rows:
            raise OutOfMemory

    def _trouble(self, decode: Decode) -> None:
        if len(decode.ids) != self._options.trouble_after_ids:
            return
        samples = _samples(decode.chunk)
        loudest = float(np.max(np.abs(samples))) if len(samples) else 0.0
        if self._befalls(self._options.crash_from, loudest):
            os.kill(os.getpid(), signal.SIGKILL)
        if self._befalls(self._options.raise_from, loudest):
            raise ArithmeticError("the toy was told to raise")
        while self._befalls(self._options.hang_from, loudest):
            time.sleep(3600)

    def _befalls(self, threshold: float | None, loudest: float) -> bool:
        if threshold is None or loudest < threshold:
            return False
        if self._options.max_troubles is None:
            return True
        counter = self._folder / "troubles"
        num_troubles = int(counter.read_text()) if counter.exists() else 0
        counter.write_text(str(num_troubles + 1))
        return num_troubles < self._options.max_troubles


class ToyText:
    """Bytes and marks: the AsrText of a toy. `num_decoded` counts the ids it was asked to decode."""

    special_ids = frozenset(range(STOP_ID, NUM_IDS))
    stop_ids = frozenset({STOP_ID})

    def __init__(self) -> None:
        self.num_decoded = 0

    def decode(self, batch: Sequence[Sequence[int]], *, skip_special: bool) -> list[str]:
        self.num_decoded += sum(len(ids) for ids in batch)
        return [_bytes(ids, skip_special=skip_special).decode("utf-8", "replace") for ids in batch]

    def pieces(self, ids: Sequence[int]) -> tuple[bytes, ...]:
        return tuple(bytes([one]) if one < STOP_ID else b"" for one in ids)

    def segments(
        self, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> tuple[Segment, ...]:
        return tuple(_segments(ids, logprobs, finished))


@register("Toy")
class ToyFamily:
    """The three ways into a toy's folder."""

    def traits(self, folder: Path) -> ModelTraits:
        options = _options(folder)
        return ModelTraits(
            family="Toy",
            languages=options.languages,
            can_translate=options.can_translate,
            max_chunk_s=options.max_chunk_s,
        )

    def text(self, folder: Path) -> ToyText:
        _options(folder)
        return ToyText()

    def adapter(self, folder: Path, runtime: RuntimeOptions) -> ToyAdapter:
        options = _options(folder)
        time.sleep(options.load_s)
        if options.is_broken:
            raise FailureError(
                failure(FailureKind.MODEL_BROKEN, folder.name, "the toy was told to be broken")
            )
        return ToyAdapter(folder, options, runtime.num_slots)


def _options(folder: Path) -> ToyOptions:
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        return msgspec.convert(config["toy"], ToyOptions)
    except (OSError, KeyError, ValueError) as error:
        raise FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, str(error))) from error


def _level(word: int) -> float:
    """Return the middle of the loudness range that gives `WORDS[word]`."""
    return SILENCE + (word + 0.5) * LEVEL_STEP


def toy_words(samples: np.ndarray) -> Iterator[int | None]:
    """Yield an index into `WORDS` for each half second, None for silence."""
    for start in range(0, len(samples), WORD_SAMPLES):
        level = float(np.mean(np.abs(samples[start : start + WORD_SAMPLES])))
        yield None if level < SILENCE else int((level - SILENCE) / LEVEL_STEP) % len(WORDS)


def _samples(chunk: Chunk) -> np.ndarray:
    return np.frombuffer(chunk.pcm, dtype="<f4")


def _bytes(ids: Sequence[int], *, skip_special: bool) -> bytes:
    marks = (b"" if skip_special else f"<|{one}|>".encode() for one in ids if one >= STOP_ID)
    return b"".join(bytes([one]) if one < STOP_ID else next(marks) for one in ids)


def _word_times(ids: Sequence[int]) -> list[tuple[float, float]]:
    """Return start and end of the word each id belongs to; a time id belongs to the word after it."""
    times: list[tuple[float, float]] = []
    start_s = 0.0
    is_first = False
    for one in ids:
        if one >= FIRST_TIME_ID:
            start_s, is_first = (one - FIRST_TIME_ID) * WORD_S, True
        elif one == ord(" "):
            start_s, is_first = (start_s if is_first else start_s + WORD_S), False
        times.append((start_s, start_s + WORD_S))
    return times


def _num_known(ids: Sequence[int], prefix: Sequence[int]) -> int:
    """Return how many `ids` say what `prefix` does, marks aside; 0 where they say something else."""
    wanted = [one for one in prefix if one < STOP_ID]
    places = [index for index, one in enumerate(ids) if one < STOP_ID]
    if not wanted or [ids[index] for index in places[: len(wanted)]] != wanted:
        return 0
    return places[len(wanted) - 1] + 1


def _finished(decode: Decode, times: Sequence[tuple[float, float]]) -> Finished:
    options = decode.chunk.options
    return Finished(
        reason=FinishReason.STOP if decode.ids else FinishReason.SILENCE,
        temperature=options.temperatures[min(decode.key.attempt, len(options.temperatures) - 1)],
        avg_logprob=-0.25,
        no_speech_prob=0.0 if decode.ids else 1.0,
        compression_ratio=1.0,
        num_samples=decode.chunk.num_samples,
        token_times=tuple(times[: len(decode.ids)]) if options.word_timestamps else (),
    )


def _segments(ids: Sequence[int], logprobs: Sequence[float], finished: Finished) -> Iterator[Segment]:
    duration_s = finished.num_samples / SAMPLE_RATE_HZ
    times = _word_times(ids)
    starts = [index for index, one in enumerate(ids) if index == 0 or one >= FIRST_TIME_ID]
    for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
        own_ids, own_times = ids[start:end], times[start:end]
        yield Segment(
            start=own_times[0][0],
            end=min(own_times[-1][1], duration_s),
            text=_bytes(own_ids, skip_special=True).decode("utf-8", "replace"),
            words=tuple(_spoken(own_ids, own_times, duration_s)) if finished.token_times else (),
            tokens=tuple(own_ids),
            temperature=finished.temperature,
            avg_logprob=math.fsum(logprobs[start:end]) / (end - start),
            compression_ratio=finished.compression_ratio,
            no_speech_prob=finished.no_speech_prob,
            is_suspect=finished.is_suspect,
        )


def _spoken(ids: Sequence[int], times: Sequence[tuple[float, float]], duration_s: float) -> Iterator[Word]:
    starts = [index for index, one in enumerate(ids) if one == ord(" ")]
    for start, end in zip(starts, [*starts[1:], len(ids)], strict=True):
        text = _bytes(ids[start:end], skip_special=True).decode("utf-8", "replace")
        yield Word(text=text, start=times[start][0], end=min(times[start][1], duration_s), probability=0.8)
