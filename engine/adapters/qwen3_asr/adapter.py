"""Decodes many chunks at once with one Qwen3-ASR: admits, steps, judges and releases them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import torch
from torch import Tensor

from engine.adapters.base import Admission, Decode, OutOfMemory, Retry, RuntimeOptions
from engine.adapters.qwen3_asr.aligner import Companion
from engine.adapters.qwen3_asr.config import Kind
from engine.adapters.qwen3_asr.guards import (
    REPETITION_PENALTY,
    Attempt,
    is_leak,
    settle,
    silenced,
)
from engine.adapters.qwen3_asr.languages import codes
from engine.adapters.qwen3_asr.listening import Listener, MemoryLimits, Work
from engine.adapters.qwen3_asr.load import load_network
from engine.adapters.qwen3_asr.model import Qwen3Asr
from engine.adapters.qwen3_asr.prompt import build_prompt, context_of, silence_ids
from engine.adapters.qwen3_asr.row import Row
from engine.adapters.qwen3_asr.vocabulary import Vocabulary, read_vocabulary
from engine.adapters.recent import Recent
from engine.adapters.runtime import out_of_memory_raised
from engine.adapters.whisper.guards import compression_ratio
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, FinishReason, RequestKey
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Task, TimeSource

MAX_SLOT_BYTES: Final = {"cpu": 1 << 31, "cuda": 1 << 34}
"""Memory for the running rows, where nobody says how many there may be."""
MAX_SLOTS: Final = {"cpu": 8, "cuda": 32}
USUAL_ROW_TOKENS: Final = 1024
"""Half a minute of audio with its text."""
MEMORY: Final = {
    "cpu": MemoryLimits(encoded_bytes=1 << 26, read_bytes=1 << 29),
    "cuda": MemoryLimits(encoded_bytes=1 << 28, read_bytes=1 << 32),
}
"""A minute of audio takes 90 MB of keys and values in 16 bits, in either size of the model."""
RECENT_ATTEMPTS: Final = 256
QUIETEST_PEAK: Final = 2.0**-15
"""One step of 16-bit audio: below it there is nothing to hear."""

Pick = tuple[int, float]
"""An id, and its log-probability."""
AttemptsKey = tuple[bytes, DecodingOptions]
"""What the attempts of one chunk have in common: digest of audio and prefix, and how it is to be decoded."""


class Qwen3Adapter:
    """Implements `AsrAdapter`. `name` is the model's, for failures."""

    def __init__(
        self, network: Qwen3Asr, vocabulary: Vocabulary, name: str, slots: int, memory: MemoryLimits
    ) -> None:
        """Raises OutOfMemory where the slots do not fit."""
        self.device = str(network.runtime)
        self.slots = slots
        self._network = network
        self._vocabulary = vocabulary
        self._name = name
        self._cache = network.new_cache(slots)
        self._listener = Listener(network, self._cache, memory)
        self._languages = codes(network.config.languages)
        self._silence = silence_ids(vocabulary)
        self.companion = Companion(None, RuntimeOptions())
        """Who measures when words were said."""
        self._unaligned: dict[Decode, Finished] = {}
        """Answers that wait for the times of their words."""
        self._rows: dict[Decode, Row] = {}
        self._rejected: Recent[AttemptsKey, Attempt] = Recent(RECENT_ATTEMPTS, lambda _: 1)
        self._last_header: tuple[int, ...] = ()
        """How the last answer began: the next one probably begins so too."""

    @property
    def work(self) -> Work:
        """What was computed so far."""
        return self._listener.work

    @property
    def num_kept_bytes(self) -> int:
        """What is remembered of audio takes so much memory."""
        return self._listener.num_kept_bytes

    def rows(self, chunk: Chunk) -> int:  # noqa: ARG002
        """Return 1: attempts are greedy, never beams."""
        return 1

    def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
        """Let each hear its audio and choose its first ids.

        Raises FailureError where a chunk cannot be decoded, OutOfMemory; nothing is admitted then.
        """
        for admission in admissions:
            self._check(admission.chunk)
            if _wants_aligning(admission.chunk):
                self.companion.prepare()
        try:
            return self._admit(admissions)
        except OutOfMemory:
            if not self._listener.num_kept_bytes:
                raise
        # What is remembered of other audio must not keep anybody from being heard.
        self._listener.forget()
        return self._admit(admissions)

    def step(self, running: Sequence[Decode]) -> None:
        """Generate one token for each; a row whose header has just ended reads what is known behind it.

        Sets the outcome of those that ended; of those whose words are to be measured, of one. Raises
        OutOfMemory.
        """
        waiting = [decode for decode in running if decode in self._unaligned]
        if waiting:
            # One at a time: it takes as long as many tokens, and the others wait meanwhile.
            self._align(waiting[0])
        rows = [self._rows[decode] for decode in running if decode not in waiting]
        single = [row for row in rows if len(row.coming) == 1 and not row.draft]
        with torch.inference_mode(), out_of_memory_raised():
            if single:
                slots = [row.slot for row in single]
                logits = self._network.step(self._cache, slots, [row.coming[0] for row in single])
                self.work.num_steps += len(single)
                chosen = _choose(logits, [row.penalised for row in single])
                for row, scores, pick in zip(single, logits, chosen, strict=True):
                    self._say(row, [pick], scores[None], ())
            for row in rows:
                if row not in single:
                    self._read(row, self._network.embed(()), row.coming, row.draft)

    def release(self, decodes: Sequence[Decode]) -> None:
        """Free the slots of these; one that never had a slot is no mistake."""
        self._cache.free([self._rows.pop(decode).slot for decode in decodes if decode in self._rows])
        for decode in decodes:
            self._unaligned.pop(decode, None)

    def resize(self, slots: int) -> None:
        """Hold at most `slots` rows from now on, and nothing of what is past: memory is short."""
        self._listener.forget()
        self._cache.resize(slots)
        self.slots = slots

    def _admit(self, admissions: Sequence[Admission]) -> list[Decode]:
        rows = [self._new_row(admission) for admission in admissions]
        started: list[Row] = []
        try:
            for row in rows:
                if not self._is_answered(row):
                    started.append(row)
                    self._start(row)
        except BaseException:
            self._cache.free([row.slot for row in started if row.slot >= 0])
            for row in rows:
                self._unaligned.pop(row.decode, None)
            raise
        self._rows.update((row.decode, row) for row in started)
        return [row.decode for row in rows]

    def _check(self, chunk: Chunk) -> None:
        """Raises FailureError where the model cannot do what is asked."""
        options = chunk.options
        if options.language is not None and options.language not in self._languages:
            detail = f"{options.language!r} is not one of {sorted(self._languages)}"
            raise FailureError(failure(FailureKind.LANGUAGE_UNKNOWN, self._name, detail))
        if options.task is Task.TRANSLATE:
            raise FailureError(failure(FailureKind.TASK_UNSUPPORTED, self._name))

    def _new_row(self, admission: Admission) -> Row:
        chunk, attempt = admission.chunk, admission.attempt
        language = chunk.options.language
        decode = Decode(chunk=chunk, key=RequestKey(chunk.key.job, chunk.key.chunk, attempt))
        decode.prefix_ids = chunk.prefix_ids
        decode.language = language
        decode.language_probability = 1.0 if language else None
        options = chunk.options if attempt == 0 else DecodingOptions()
        return Row(
            decode=decode,
            vocabulary=self._vocabulary,
            prompt=build_prompt(self._vocabulary, options, language),
            context=context_of(options),
            is_last=attempt > 0,
            is_free=language is None,
        )

    def _is_answered(self, row: Row) -> bool:
        """Set the outcome of silence, and of a chunk that may not be tried again; True if it is set."""
        chunk = row.decode.chunk
        pcm = _samples(chunk)
        if not len(pcm) or float(np.abs(pcm).max()) < QUIETEST_PEAK:
            row.reason = FinishReason.SILENCE
            self._accept(row, row.attempt())
        elif row.is_last and len(chunk.options.temperatures) < 2 and (known := self._known_attempt(chunk)):
            # Nobody wants a second attempt: this one is what is left of the first.
            self._accept(row, settle([known], self._vocabulary.pieces), is_suspect=True)
        return row.decode.outcome is not None or row.decode in self._unaligned

    def _known_attempt(self, chunk: Chunk) -> Attempt | None:
        """Return the attempt at a chunk that was not believed, if it is still remembered."""
        return self._rejected.get(_attempts_key(chunk))

    def _start(self, row: Row) -> None:
        """Give a row its slot, let it hear and read, and choose its first ids."""
        chunk = row.decode.chunk
        row.slot = self._cache.allocate()
        with torch.inference_mode(), out_of_memory_raised():
            is_growing = chunk.kind is not ChunkKind.FILE
            rest = self._listener.listen(row.slot, row.prompt.head, _samples(chunk), is_growing=is_growing)
            num_audio = self._cache.length(row.slot) - len(row.prompt.head) + len(rest)
            row.begin(row.slot, num_audio, self._cache.shape.max_tokens)
            if row.is_free:
                self._read(row, rest, row.prompt.tail, self._last_header)
            else:
                self._read(row, rest, (*row.prompt.tail, *row.prefix), row.guess)

    def _read(self, row: Row, audio: Tensor, known: Sequence[int], draft: Sequence[int]) -> None:
        """Let a row read what is `known` and a `draft` behind it, and say as much as is right of that."""
        states = self._listener.read(row.slot, audio, (*known, *draft))
        logits = self._network.head(states[-1 - len(draft) :])
        if not row.is_free and not row.num_steps:
            # The state in front of the forced header, by its distance to the end.
            behind = len(draft) + len(row.prefix) + row.prompt.num_header
            self._judge_language(row, states[-1 - behind :])
        self._say(row, _choose(logits, [row.penalised] * len(logits)), logits, draft)

    def _judge_language(self, row: Row, states: Tensor) -> None:
        """Note what the model itself would have taken the audio for, by the states from the header on."""
        header = row.prompt.tail[-row.prompt.num_header :]
        # Where the names of the language and of no language part.
        place = next(
            n for n, (one, other) in enumerate(zip(header, self._silence, strict=False)) if one != other
        )
        shares = torch.softmax(self._network.head(states[place : place + 1])[0], dim=-1)
        row.no_speech_prob = float(shares[self._silence[place]])
        if row.decode.chunk.kind is not ChunkKind.FILE:
            # Whether a live session still hears the language it was locked to, if it hears any.
            named = float(shares[header[place]])
            row.decode.language_probability = min(1.0, named / max(1e-6, 1.0 - row.no_speech_prob))

    def _say(self, row: Row, picks: Sequence[Pick], logits: Tensor, draft: Sequence[int]) -> None:
        """Say what was chosen before each id of a draft and behind it, as far as the draft is right."""
        row.num_steps += 1
        end = self._cache.length(row.slot)
        for place, (id_, logprob) in enumerate(picks):
            self._note_silence(row, logits[place])
            row.say(id_, logprob)
            is_right = place < len(draft) and draft[place] == id_
            if row.reason is not None or not is_right or row.has_more:
                # What was read behind this place is not what is said.
                self._cache.set_length(row.slot, end - len(draft) + place)
                break
            row.num_drafted += 1
        if row.is_free and row.is_headed and row.header:
            self._last_header = (*row.header, self._vocabulary.marks.text_start)
        if row.reason is not None:
            self._judge(row)

    def _note_silence(self, row: Row, logits: Tensor) -> None:
        """Note how probable it is that the header is about to say that nobody speaks."""
        place, name = len(row.header), len(self._silence) - 1
        if not row.is_headed and place < name and tuple(row.header) == self._silence[:place]:
            row.silence_share *= float(torch.softmax(logits, dim=-1)[self._silence[place]])
            if place == name - 1:
                row.no_speech_prob = row.silence_share

    def _judge(self, row: Row) -> None:
        """Set the outcome of a row that has said its last."""
        attempt = row.attempt()
        if is_leak(attempt.text, row.context, attempt.no_speech_prob):
            self._accept(row, silenced(attempt))
        elif attempt.objection is None:
            self._accept(row, attempt)
        elif row.is_last:
            before = self._known_attempt(row.decode.chunk)
            attempts = [attempt, *([before] if before else [])]
            self._accept(row, settle(attempts, self._vocabulary.pieces), is_suspect=True)
        else:
            self._rejected.put(_attempts_key(row.decode.chunk), attempt)
            row.decode.outcome = Retry(attempt.objection)

    def _accept(self, row: Row, attempt: Attempt, *, is_suspect: bool = False) -> None:
        """Show what was not shown yet, and let the decoding end; silence is never suspect."""
        decode = row.decode
        decode.language, decode.language_probability = attempt.language, attempt.language_probability
        ids, logprobs = row.shown(attempt.ids, attempt.logprobs)
        num_shown = len(decode.ids)
        decode.ids += ids[num_shown:]
        decode.logprobs += logprobs[num_shown:]
        finished = Finished(
            reason=attempt.reason,
            temperature=0.0,
            avg_logprob=attempt.avg_logprob,
            no_speech_prob=attempt.no_speech_prob,
            compression_ratio=compression_ratio(attempt.text.strip().encode()),
            num_samples=decode.chunk.num_samples,
            is_suspect=is_suspect and attempt.objection is not None,
            num_steps=row.num_steps,
            num_drafted=row.num_drafted,
        )
        self._rejected.forget(_attempts_key(decode.chunk))
        if decode.ids and self.companion.is_ready and _wants_aligning(decode.chunk):
            self._unaligned[decode] = finished
        else:
            decode.outcome = finished

    def _align(self, decode: Decode) -> None:
        """Let an answer end with the times of its words, if they can be found."""
        finished = self._unaligned.pop(decode)
        shown = [index for index, id_ in enumerate(decode.ids) if self._vocabulary.pieces[id_]]
        pieces = [self._vocabulary.pieces[decode.ids[index]] for index in shown]
        times = self.companion.align(_samples(decode.chunk), pieces, decode.language)
        if times is not None:
            whole = times.among(shown, len(decode.ids))
            finished = msgspec.structs.replace(
                finished, token_times=whole.spans, guessed=whole.guessed, times_source=TimeSource.ALIGNED
            )
        decode.outcome = finished


def load_adapter(folder: Path, runtime: RuntimeOptions) -> Qwen3Adapter:
    """Load the network and the vocabulary in `folder`. Raises FailureError, OutOfMemory."""
    network = load_network(folder, runtime, Kind.RECOGNISER)
    vocabulary = read_vocabulary(folder, network.config)
    kind = "cpu" if network.device.type == "cpu" else "cuda"
    row_bytes = USUAL_ROW_TOKENS * network.row_shape.token_bytes(network.runtime.formats.audio)
    slots = runtime.num_slots or max(1, min(MAX_SLOTS[kind], MAX_SLOT_BYTES[kind] // row_bytes))
    adapter = Qwen3Adapter(network, vocabulary, folder.name, slots, MEMORY[kind])
    companion = Path(runtime.companion_folder) if runtime.companion_folder else None
    adapter.companion = Companion(companion, runtime)
    return adapter


def _choose(logits: Tensor, penalised: Sequence[Sequence[int]]) -> list[Pick]:
    """Return the likeliest id of each row of `logits`, (rows, vocabulary), and its log-probability.

    Rows may have ids that are made less likely, in place.
    """
    for scores, said_ids in zip(logits, penalised, strict=True):
        if said_ids:
            said = torch.tensor(said_ids, device=logits.device)
            known = scores[said]
            scores[said] = torch.where(known > 0, known / REPETITION_PENALTY, known * REPETITION_PENALTY)
    best, ids = logits.max(dim=-1)
    return list(zip(ids.tolist(), (best - logits.logsumexp(dim=-1)).tolist(), strict=True))


def _wants_aligning(chunk: Chunk) -> bool:
    """Live text is confirmed before it could be aligned, and waits for nothing."""
    return chunk.options.word_timestamps and chunk.kind is ChunkKind.FILE


def _samples(chunk: Chunk) -> np.ndarray:
    return np.frombuffer(chunk.pcm, dtype="<f4")


def _attempts_key(chunk: Chunk) -> AttemptsKey:
    digest = hashlib.blake2b(chunk.pcm, digest_size=16)
    digest.update(np.asarray(chunk.prefix_ids, dtype=np.int64).tobytes())
    return digest.digest(), chunk.options
