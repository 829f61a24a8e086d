"""Decodes many chunks at once with one Whisper: admits, steps, judges and releases them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, assert_never

import msgspec
import numpy as np
import torch
from torch import Tensor

from engine.adapters.base import Admission, Decode, OutOfMemory, Retry, RuntimeOptions
from engine.adapters.recent import Recent
from engine.adapters.runtime import out_of_memory_raised, slot_budget_bytes
from engine.adapters.whisper.beam import Choice
from engine.adapters.whisper.features import heard_frames, log_mel
from engine.adapters.whisper.guards import Attempt, Verdict, judge, settle, silenced, without_loop
from engine.adapters.whisper.load import load_whisper
from engine.adapters.whisper.model import Whisper
from engine.adapters.whisper.prompt import build_prompt
from engine.adapters.whisper.row import Row
from engine.adapters.whisper.rules import Allowed, TokenRules
from engine.adapters.whisper.sampling import new_dice, pick
from engine.adapters.whisper.vocabulary import NUM_TIMESTAMPS, Vocabulary, read_vocabulary
from engine.messages import Chunk, ChunkKind, DecodingOptions, Finished, FinishReason, RequestKey
from engine.protocol.failures import FailureError, FailureKind, failure
from engine.protocol.transcript import Mode, Task

MAX_SLOTS: Final = {"cpu": 24, "cuda": 32}
"""More rows than these make a step longer than they save. (CPU, int8, base, 21 windows: 16 slots take 227
steps of 20.4 ms, 24 take 138 of 28.1)"""
RECENT_AUDIO_BYTES: Final = 1 << 26
RECENT_ATTEMPTS: Final = 256
QUIETEST_PEAK: Final = 2.0**-15
"""One step of 16-bit audio: below it there is nothing to hear."""
NUM_BEAMS: Final = 5
"""Answers that are followed side by side where the best is wanted."""
ENGLISH: Final = "en"

AudioKey = tuple[bytes, int]
"""Digest of the audio, and how many frames of its window are heard."""
AttemptsKey = tuple[bytes, DecodingOptions]
"""What the attempts of one chunk have in common: digest of the audio, and how it is to be decoded."""


class WhisperAdapter:
    """Implements `AsrAdapter`. `name` is the model's, for failures."""

    def __init__(self, network: Whisper, vocabulary: Vocabulary, name: str, slots: int) -> None:
        """Raises OutOfMemory where the slots do not fit."""
        self.slots = slots
        self._network = network
        self._vocabulary = vocabulary
        self._name = name
        self._cache = network.new_cache(slots)
        self.device = network.described
        self._rules = TokenRules(vocabulary, network.config.suppress_ids, network.config.suppress_ids_begin)
        self._rows: dict[Decode, Row] = {}
        self._recent_audio: Recent[AudioKey, Tensor] = Recent(
            RECENT_AUDIO_BYTES, lambda states: states.nbytes
        )
        self._rejected: Recent[AttemptsKey, tuple[Attempt, ...]] = Recent(RECENT_ATTEMPTS, len)

    def rows(self, chunk: Chunk) -> int:
        """Return how many answers are followed: 1, or a beam of as many as fit where the best is wanted."""
        return min(NUM_BEAMS, self.slots) if chunk.options.mode is Mode.BEST else 1

    def admit(self, admissions: Sequence[Admission]) -> list[Decode]:
        """Encode together, detect missing languages, prefill the prompts and choose each first id.

        Raises FailureError where a chunk cannot be decoded, OutOfMemory; nothing is admitted then.
        """
        for admission in admissions:
            self._check(admission.chunk)
        rows = [self._new_row(admission) for admission in admissions]
        sounding = [row for row in rows if not self._is_answered(row)]
        if sounding:
            self._start(sounding)
        return [row.decode for row in rows]

    def step(self, running: Sequence[Decode]) -> None:
        """Generate a token for each, two where one was guessed; sets the outcome of those that ended.

        Raises OutOfMemory.
        """
        rows = [self._rows[decode] for decode in running]
        said = [place for row in rows for place in row.last_said]
        with torch.inference_mode(), out_of_memory_raised():
            decoded = self._network.step(
                self._cache,
                [slot for slot, _ in said],
                [id_ for _, id_ in said],
                with_attention=any(row.hears_each_step for row in rows),
            )
            self._advance(rows, decoded.logits, decoded.attention)

    def release(self, decodes: Sequence[Decode]) -> None:
        """Free the slots of these; one that never had a slot is no mistake."""
        rows = [self._rows.pop(decode) for decode in decodes if decode in self._rows]
        self._cache.free([slot for row in rows for slot in row.slots])

    def resize(self, slots: int) -> None:
        """Hold at most `slots` rows from now on."""
        self._cache.resize(slots)
        self.slots = slots

    def _check(self, chunk: Chunk) -> None:
        """Raises FailureError where the model cannot do what is asked."""
        options, languages = chunk.options, self._vocabulary.special.languages or {ENGLISH: 0}
        if options.language is not None and options.language not in languages:
            detail = f"{options.language!r} is not one of {sorted(languages)}"
            raise FailureError(failure(FailureKind.LANGUAGE_UNKNOWN, self._name, detail))
        if options.task is Task.TRANSLATE and not self._vocabulary.is_multilingual:
            raise FailureError(failure(FailureKind.TASK_UNSUPPORTED, self._name))

    def _new_row(self, admission: Admission) -> Row:
        chunk, attempt = admission.chunk, admission.attempt
        temperatures = chunk.options.temperatures or (0.0,)
        content = hashlib.blake2b(chunk.pcm, digest_size=16).digest()
        is_final = attempt >= len(temperatures)
        key = RequestKey(chunk.key.job, chunk.key.chunk, attempt)
        decode = Decode(chunk=chunk, key=key, prefix_ids=chunk.prefix_ids)
        decode.language = chunk.options.language if self._vocabulary.is_multilingual else ENGLISH
        decode.language_probability = 1.0 if decode.language else None
        return Row(
            decode=decode,
            vocabulary=self._vocabulary,
            content=content,
            dice=new_dice(content, temperatures[0 if is_final else attempt]),
            is_final=is_final,
            may_guess=self._network.takes_any_size,
        )

    def _is_answered(self, row: Row) -> bool:
        """Set the outcome of silence, and of a chunk whose attempts are all known; True if it is set."""
        pcm = np.frombuffer(row.decode.chunk.pcm, dtype="<f4")
        if not len(pcm) or float(np.abs(pcm).max()) < QUIETEST_PEAK:
            row.reason = FinishReason.SILENCE
            self._accept(row, row.attempt())
        elif row.is_final and (rejected := self._rejected.get(_attempts_key(row))):
            self._accept(row, settle(rejected), is_suspect=True)
        return row.decode.outcome is not None

    def _start(self, rows: Sequence[Row]) -> None:
        """Give each row its slots and its first id; all or none of them."""
        slots: list[list[int]] = []
        try:
            for row in rows:
                slots.append(self._cache.allocate(1))
                slots[-1] += self._cache.allocate_beside(slots[-1][0], self._num_beams(row) - 1)
            firsts = [of_row[0] for of_row in slots]
            with torch.inference_mode(), out_of_memory_raised():
                self._network.listen(self._cache, firsts, self._encode(rows))
                self._detect_languages(rows, firsts)
                self._prefill(rows, slots)
        except BaseException:
            self._cache.free([slot for of_row in slots for slot in of_row])
            raise
        self._rows.update((row.decode, row) for row in rows)

    def _num_beams(self, row: Row) -> int:
        """Return how many answers are followed; one that is drawn by dice is alone."""
        return self.rows(row.decode.chunk) if row.dice.temperature == 0 else 1

    def _encode(self, rows: Sequence[Row]) -> list[Tensor]:
        """Return audio states, (frames, width) of each row; those of a retry may still be known."""
        keys = [self._audio_key(row) for row in rows]
        known = {key: self._recent_audio.get(key) for key in keys}
        for row, key in zip(rows, keys, strict=True):
            row.num_windows, row.num_windows_known = 1, int(known[key] is not None)
        states = {key: found for key, found in known.items() if found is not None}
        unknown = {key: row for row, key in zip(rows, keys, strict=True) if key not in states}
        for num_frames in sorted({num_frames for _, num_frames in unknown}):
            alike = {key: row for key, row in unknown.items() if key[1] == num_frames}
            pcm = [np.frombuffer(row.decode.chunk.pcm, dtype="<f4").copy() for row in alike.values()]
            mel = log_mel(pcm, self._network.config.dims.n_mels)[..., : 2 * num_frames]
            states.update(zip(alike, self._network.encode(mel), strict=True))
        for key, window in states.items():
            # A copy, because a view would keep the windows it was encoded with.
            self._recent_audio.put(key, window.clone())
        return [states[key] for key in keys]

    def _audio_key(self, row: Row) -> AudioKey:
        """Return what the row hears: all of its window, or less where the answer has to be quick."""
        chunk, num_frames = row.decode.chunk, self._network.config.dims.n_audio_ctx
        if chunk.kind is ChunkKind.INTERIM and self._network.takes_any_size:
            num_frames = heard_frames(chunk.num_samples, num_frames)
        return row.content, num_frames

    def _prefill(self, rows: Sequence[Row], slots: Sequence[Sequence[int]]) -> None:
        """Let each row read its prompt, and choose its first id."""
        num_positions = self._network.config.dims.n_text_ctx
        for row, of_row in zip(rows, slots, strict=True):
            prompt = build_prompt(self._vocabulary, row.decode.chunk.options, row.decode.language)
            row.begin(of_row, prompt, num_positions)
        start = self._vocabulary.special.start
        passed = [(*row.prompt, *row.prefix, *row.draft) for row in rows]
        decoded = self._network.prefill(
            self._cache,
            [row.slots[0] for row in rows],
            passed,
            logits_at=[(row.prompt.index(start), *range(-1 - len(row.draft), 0)) for row in rows],
            with_attention=any(row.hears_each_step for row in rows),
        )
        logits = _portions(decoded.logits, [2 + len(row.draft) for row in rows])
        heard: Sequence[Tensor | None] = [None] * len(rows)
        if decoded.attention is not None:
            heard = _portions(decoded.attention, [len(ids) for ids in passed])
        for row, scores in zip(rows, logits, strict=True):
            self._judge_start(row, scores[0])
        self._check_drafts(rows, torch.cat([scores[1:] for scores in logits]), heard)

    def _judge_start(self, row: Row, logits: Tensor) -> None:
        """Note what the start of the transcript says of the audio: (vocabulary,)."""
        special, decode = self._vocabulary.special, row.decode
        row.no_speech_prob = float(torch.softmax(logits, dim=-1)[special.no_speech])
        language_id = special.languages.get(decode.language or "")
        if decode.chunk.kind is not ChunkKind.FILE and language_id is not None:
            # Whether a live session still hears the language it was locked to.
            all_ids = list(special.languages.values())
            shares = torch.softmax(logits[all_ids], dim=-1)
            decode.language_probability = float(shares[all_ids.index(language_id)])

    def _check_drafts(self, rows: Sequence[Row], logits: Tensor, attention: Sequence[Tensor | None]) -> None:
        """Say of each draft what would have been said without it, and the id behind that.

        `logits` has a row before each id of a draft and one behind it, all rows' one after another.
        """
        choices = self._choose(rows, logits, [row.allowed_in_draft for row in rows])
        for row, of_row, heard in zip(rows, choices, attention, strict=True):
            row.num_steps += 1
            if row.search is None:
                self._take_draft(row, [of_place[0] for of_place in of_row], heard)
            else:
                self._cache.copy_text(row.search_on(of_row))
        self._judge_ended(rows)

    def _take_draft(self, row: Row, choices: Sequence[Choice], attention: Tensor | None) -> None:
        """Say `choices` as far as the draft they were chosen behind is right."""
        begin = len(row.prompt) - 1
        behind = begin + len(row.prefix)
        if attention is not None and row.wants_attention:
            row.hear_prefix(attention[begin:behind])
        row.say_foretold(row.draft, choices, None if attention is None else attention[behind:])
        self._cache.set_length(row.slots[0], row.num_cached)

    def _detect_languages(self, rows: Sequence[Row], slots: Sequence[int]) -> None:
        """Ask the start of the transcript for its language; the slots are empty again afterwards."""
        asking = [(row, slot) for row, slot in zip(rows, slots, strict=True) if row.decode.language is None]
        if not asking:
            return
        languages = self._vocabulary.special.languages
        asking_slots = [slot for _, slot in asking]
        starts = [(self._vocabulary.special.start,)] * len(asking)
        logits = self._network.prefill(self._cache, asking_slots, starts).logits
        probabilities = torch.softmax(logits[:, list(languages.values())], dim=-1)
        for (row, slot), shares in zip(asking, probabilities.tolist(), strict=True):
            row.decode.language_probability, row.decode.language = max(zip(shares, languages, strict=True))
            self._cache.set_length(slot, 0)

    def _advance(self, rows: Sequence[Row], logits: Tensor, attention: Tensor | None) -> None:
        """Choose what each row says next from `logits`, (places, vocabulary), which is used up."""
        allowed = [row.allowed_next for row in rows]
        choices = self._choose(rows, logits, allowed)
        heard: Sequence[Tensor | None] = [None] * len(rows)
        if attention is not None:
            heard = _portions(attention, [len(places) for places in allowed])
        moves = []
        for row, of_row, of_heard in zip(rows, choices, heard, strict=True):
            row.num_steps += 1
            if row.search is not None:
                moves.extend(row.search_on(of_row))
                continue
            row.say_foretold(row.guess, [of_place[0] for of_place in of_row], of_heard)
            self._cache.set_length(row.slots[0], row.num_cached)
        self._cache.copy_text(moves)
        self._judge_ended(rows)

    def _choose(
        self, rows: Sequence[Row], logits: Tensor, allowed: Sequence[Sequence[Allowed]]
    ) -> list[list[list[Choice]]]:
        """Return for each row, and each of its places in `logits`, what may be said, likeliest first."""
        counts = [len(of_row) for of_row in allowed]
        ways = [row.way for row, count in zip(rows, counts, strict=True) for _ in range(count)]
        masked = self._rules.apply(logits, [place for of_row in allowed for place in of_row])
        choices = pick(masked, ways)
        return [choices[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]

    def _judge_ended(self, rows: Sequence[Row]) -> None:
        """Set the outcome of the rows that have said their last."""
        ended = [row for row in rows if row.reason is not None]
        self._hear([row for row in ended if row.search is not None and row.wants_attention])
        for row in ended:
            self._judge(row)

    def _hear(self, rows: Sequence[Row]) -> None:
        """Read the kept answers of beams once more, to know where their ids lie in the audio."""
        if not rows:
            return
        slots = [row.slots[0] for row in rows]
        for slot in slots:
            self._cache.set_length(slot, 0)
        read = [(*row.prompt, *row.prefix, *row.ids) for row in rows]
        decoded = self._network.prefill(self._cache, slots, read, with_attention=True)
        assert decoded.attention is not None
        heard = _portions(decoded.attention, [len(ids) for ids in read])
        for row, attention in zip(rows, heard, strict=True):
            row.hear_answer(attention)

    def _judge(self, row: Row) -> None:
        """Set the outcome of a row that has said its last."""
        attempt = row.attempt()
        verdict, objection = judge(attempt)
        if verdict is Verdict.RETRY and row.decode.chunk.options.accepts_first:
            self._accept(row, attempt, is_suspect=True)
            return
        match verdict:
            case Verdict.ACCEPT:
                self._accept(row, attempt)
            case Verdict.SILENCE:
                self._accept(row, silenced(attempt))
            case Verdict.RETRY:
                self._reject(row, attempt, objection)
            case _:
                assert_never(verdict)

    def _reject(self, row: Row, attempt: Attempt, objection: str) -> None:
        """Ask for the next temperature; behind the last one, settle for one of all attempts.

        That one is asked for as one more attempt, because what was shown of this one cannot be changed.
        """
        key = _attempts_key(row)
        rejected = (*(self._rejected.get(key) or ()), attempt)
        is_last = row.decode.key.attempt + 1 >= len(row.decode.chunk.options.temperatures)
        settled = settle(rejected)
        is_shown = attempt.reason is FinishReason.STOP and settled is attempt
        if row.is_final or (is_last and is_shown):
            self._accept(row, settled, is_suspect=True)
        else:
            self._rejected.put(key, rejected)
            row.decode.outcome = Retry(objection)

    def _accept(self, row: Row, attempt: Attempt, *, is_suspect: bool = False) -> None:
        """Show what was not shown yet, and let the decoding end; silence is never suspect."""
        if attempt.reason is not FinishReason.STOP and not row.decode.chunk.options.accepts_first:
            attempt = without_loop(attempt, self._vocabulary.special.end, self._vocabulary.pieces)
        decode, num_shown = row.decode, len(row.decode.ids)
        decode.language, decode.language_probability = attempt.language, attempt.language_probability
        decode.ids += attempt.ids[num_shown:]
        decode.logprobs += attempt.logprobs[num_shown : len(attempt.ids)]
        decode.attended_s += attempt.attended_s[num_shown : len(attempt.ids)]
        decode.outcome = Finished(
            reason=attempt.reason,
            temperature=attempt.temperature,
            avg_logprob=attempt.avg_logprob,
            no_speech_prob=attempt.no_speech_prob,
            compression_ratio=attempt.compression_ratio,
            num_samples=decode.chunk.num_samples,
            token_times=attempt.token_times[: len(attempt.ids)],
            is_suspect=is_suspect and attempt.reason is not FinishReason.SILENCE,
            num_steps=row.num_steps,
            num_drafted=row.num_drafted,
            num_windows=row.num_windows,
            num_windows_known=row.num_windows_known,
        )
        self._rejected.forget(_attempts_key(row))
        self._recent_audio.forget(self._audio_key(row))


def load_adapter(folder: Path, runtime: RuntimeOptions) -> WhisperAdapter:
    """Load the network and the vocabulary in `folder`. Raises FailureError, OutOfMemory.

    A graphics card that nobody asked for by name gives way to the CPU where the network does not fit.
    """
    try:
        return _load(folder, runtime)
    except OutOfMemory:
        if runtime.device is not None or not torch.cuda.is_available():
            raise
    adapter = _load(folder, msgspec.structs.replace(runtime, device="cpu"))
    adapter.device += " (the network does not fit the graphics card)"
    return adapter


def _load(folder: Path, runtime: RuntimeOptions) -> WhisperAdapter:
    vocabulary = read_vocabulary(folder)
    network = load_whisper(folder, runtime)
    num_ids = vocabulary.special.first_timestamp + NUM_TIMESTAMPS
    if network.config.dims.n_vocab < num_ids:
        detail = f"{num_ids} ids in the vocabulary, {network.config.dims.n_vocab} in the network"
        raise FailureError(failure(FailureKind.MODEL_BROKEN, folder.name, detail))
    slots = runtime.num_slots or _default_slots(network)
    return WhisperAdapter(network, vocabulary, folder.name, slots)


def _default_slots(network: Whisper) -> int:
    """Return how many rows fit what their memory may be."""
    kind = "cpu" if network.device.type == "cpu" else "cuda"
    slot_bytes = network.slot_shape.num_bytes(network.runtime.formats)
    return max(1, min(MAX_SLOTS[kind], slot_budget_bytes(network.device) // slot_bytes))


def _portions(tensor: Tensor, counts: Sequence[int]) -> list[Tensor]:
    """Cut `tensor` along its first axis into parts of these lengths."""
    return [tensor[end - count : end] for count, end in zip(counts, accumulate(counts), strict=True)]


def _attempts_key(row: Row) -> AttemptsKey:
    return row.content, row.decode.chunk.options
