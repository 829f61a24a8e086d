"""One live session on its way from audio to events: what is fed, heard, decoded, and told."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from engine.adapters.base import ModelTraits
from engine.manager.confirm import Update, paced, text_of
from engine.manager.ears import Ears
from engine.manager.live import Answer, LiveSession, Plan
from engine.manager.live_audio import LiveAudio, Samples
from engine.manager.live_text import LiveText, Quality
from engine.manager.placing import Reply, place_pieces
from engine.manager.turns import Turns
from engine.manager.vad import FRAME_SAMPLES, Frames
from engine.messages import (
    SAMPLE_RATE_HZ,
    Chunk,
    ChunkKind,
    DecodingOptions,
    Ended,
    EndedReason,
    RequestKey,
    Spans,
    StrOutput,
    seconds_of,
)
from engine.protocol.events import (
    Backlog,
    Flushed,
    Gap,
    JobDone,
    JobEvent,
    JobStarted,
    LanguageDetected,
    SpeechEnded,
    SpeechStarted,
    Tail,
)
from engine.protocol.requests import Feed, Listen
from engine.protocol.transcript import DEFAULT_VAD, MediaInfo, Mode

BACKLOG_SAMPLES: Final = SAMPLE_RATE_HZ // 4
"""How often, in audio, the backlog is told."""


@dataclass
class LiveJob:
    """A live session that runs. Methods return the events to tell, in order."""

    request: Listen
    model: str
    """Key of the loaded model."""
    traits: ModelTraits
    started_at_s: float
    session: LiveSession = field(init=False)
    is_closing: bool = False
    is_finish_sent: bool = False
    is_finish_back: bool = False
    is_cancelled: bool = False
    num_steps: int = 0
    num_drafted: int = 0

    def __post_init__(self) -> None:
        first = self.request.start_sample
        options, languages = self.request.options, self.traits.languages
        self.session = LiveSession(
            first_sample=first,
            # The last second of a window is for what arrives while it is decoded.
            max_window=int((self.traits.max_chunk_s - 1.0) * SAMPLE_RATE_HZ),
            confirmation=paced(self.traits.confirmation, options.live_chunk_s),
            language=languages[0] if len(languages) == 1 else options.language,
        )
        self._audio = LiveAudio(first)
        self._text = LiveText(self.job, first)
        turns = self.request.turns
        self._ears = Ears(use_vad=options.vad, threshold=(turns or DEFAULT_VAD).threshold)
        self._turns = Turns(turns, first) if turns is not None else None
        self._flushes: deque[int] = deque()
        self._plans: dict[int, Plan] = {}
        self._replies: dict[int, Reply] = {}
        self._quality = Quality()
        self._language: str | None = None
        self._told_tail = ""
        self._told_backlog = (-1, -1)
        self._num_speech_frames = 0

    @property
    def job(self) -> str:
        return self.request.job

    @property
    def num_chunks(self) -> int:
        return self.session.counts.num_planned

    @property
    def is_complete(self) -> bool:
        """Closed, and everything is confirmed and has made its way."""
        is_round = self.is_finish_back or (self.is_closing and not self.num_chunks)
        return is_round and self.session.is_settled

    def opened(self) -> list[JobEvent]:
        """Tell that the session listens."""
        media = MediaInfo(duration=None, tracks=())
        started = JobStarted(job=self.job, media=media, model=self.request.options.model)
        return [started, *self._language_news()]

    def feed(self, feed: Feed) -> list[JobEvent]:
        """Take audio; what was missing before it is silence, what is known already is left out."""
        told: list[JobEvent] = []
        samples: Samples = np.frombuffer(feed.pcm[: len(feed.pcm) // 4 * 4], dtype="<f4").astype(np.float32)
        received = self.session.received
        if feed.first_sample > received:
            told.append(
                Gap(job=self.job, start=received / SAMPLE_RATE_HZ, end=feed.first_sample / SAMPLE_RATE_HZ)
            )
            missing = feed.first_sample - received
            self._audio.append_silence(missing)
            told += self._hear(self._ears.miss(missing), missing)
        samples = samples[max(0, self.session.received - feed.first_sample) :]
        if len(samples):
            # A broken sample would make the network say nonsense for a whole window.
            samples = np.clip(np.nan_to_num(samples), -1.0, 1.0)
            self._audio.append(samples)
            told += self._hear(self._ears.judge(samples), len(samples))
        return told

    def flush(self, at: int | None = None) -> None:
        """Have everything before a sample confirmed (None: everything), and tell when it is."""
        self._flushes.append(self.session.flush(at))

    def take_chunks(self) -> tuple[list[Chunk], list[JobEvent]]:
        """Return what is to be decoded now, and what can be told."""
        chunks: list[Chunk] = []
        told: list[JobEvent] = []
        while (found := self.session.next()) is not None:
            if isinstance(found, Plan):
                self._plans[found.index] = found
                chunks.append(self._chunk(found))
            else:
                told += self._confirmed(found, ends=True)
        self._audio.forget(self.session.start)
        return chunks, told + self._tail_news() + self._flush_news() + self._backlog_news()

    def answered(self, output: StrOutput) -> list[JobEvent]:
        """Take new text of a chunk; only whole answers count."""
        index = output.key.chunk
        plan = self._plans.get(index)
        if plan is None:
            return []
        if output.is_first:
            self._replies[index] = Reply()
        reply = self._replies.setdefault(index, Reply())
        reply.take(output)
        if output.finished is None:
            return []
        self.num_steps += output.finished.num_steps
        self.num_drafted += output.finished.num_drafted
        quality = Quality.of(output.finished)
        answer = Answer(
            index=index,
            pieces=place_pieces(reply, output.finished, plan),
            reason=output.finished.reason,
            is_suspect=output.finished.is_suspect,
            language=output.language,
            language_probability=output.language_probability or 0.0,
        )
        update = self.session.answer(answer)
        self._forget_plans()
        told = self._language_news()
        if update is not None:
            self._quality = quality
            told += self._confirmed(update, ends=plan.kind is ChunkKind.CLOSING)
        return told + self._tail_news()

    def ended(self, message: Ended) -> list[JobEvent]:
        """Take the answer of a chunk that yields no text."""
        is_superseded = message.reason is EndedReason.SUPERSEDED
        update = self.session.ended(message.key.chunk, is_superseded=is_superseded)
        self._forget_plans()
        return self._confirmed(update, ends=True) if update is not None else []

    def restart(self, index: int) -> None:
        """Forget what was told of a chunk that is decoded anew."""
        self._replies.pop(index, None)

    def done(self, now_s: float) -> list[JobEvent]:
        """Return the last events of a complete session."""
        first = self.request.start_sample
        done = JobDone(
            job=self.job,
            duration=(self.session.received - first) / SAMPLE_RATE_HZ,
            speech=self._num_speech_frames * FRAME_SAMPLES / SAMPLE_RATE_HZ,
            elapsed=now_s - self.started_at_s,
            num_steps=self.num_steps,
            num_steps_saved=self.num_drafted,
        )
        return [*self._text.end_segment(), *self._tail_news(), *self._backlog_news(), done]

    def set_language(self, language: str | None) -> list[JobEvent]:
        """Choose the language from here on; None: find it out anew."""
        self.session.set_language(language)
        self._language = None
        return self._language_news()

    def _hear(self, frames: Frames, num_samples: int) -> list[JobEvent]:
        self._num_speech_frames += int(frames.has_speech.sum())
        self.session.hearing.hear(frames, num_samples)
        told: list[JobEvent] = []
        for change in self._turns.hear(frames.has_speech) if self._turns is not None else ():
            if change.is_speaking:
                told.append(SpeechStarted(job=self.job, sample=change.sample))
            else:
                told.append(SpeechEnded(job=self.job, sample=change.sample))
                self.flush(change.sample)
        return told

    def _confirmed(self, update: Update, *, ends: bool) -> list[JobEvent]:
        told = self._text.confirm(update.confirmed, self._quality)
        return told + (self._text.end_segment() if ends else [])

    def _chunk(self, plan: Plan) -> Chunk:
        options = self.request.options
        is_closing = plan.kind is ChunkKind.CLOSING
        return Chunk(
            key=RequestKey(self.job, plan.index),
            kind=plan.kind,
            start_sample=plan.start,
            pcm=self._audio.cut(plan.start, plan.end).astype("<f4").tobytes(),
            speech=self._speech(plan),
            options=DecodingOptions(
                language=plan.language,
                task=options.task,
                # What an interim decode says may still change: it has to be quick.
                mode=options.mode if is_closing else Mode.FAST,
                initial_prompt=options.initial_prompt,
                hotwords=options.hotwords,
                word_timestamps=True,
                # An interim decode that fails is followed by another anyway.
                temperatures=options.temperatures if is_closing else options.temperatures[:1],
            ),
            prefix_ids=tuple(piece.id for piece in plan.prefix),
            draft_ids=tuple(piece.id for piece in plan.draft),
        )

    def _speech(self, plan: Plan) -> Spans:
        if not self.request.options.vad:
            return ()
        return seconds_of(self.session.hearing.spans(plan.start, plan.end), plan.start)

    def _forget_plans(self) -> None:
        for index in [index for index in self._plans if not self.session.awaits(index)]:
            del self._plans[index]
            self._replies.pop(index, None)

    def _language_news(self) -> list[JobEvent]:
        lock = self.session.lock
        if lock.language is None or lock.language == self._language:
            return []
        self._language = lock.language
        return [LanguageDetected(job=self.job, language=lock.language, probability=lock.probability)]

    def _tail_news(self) -> list[JobEvent]:
        tail = text_of(self.session.tail).rstrip("\ufffd")
        if tail == self._told_tail:
            return []
        self._told_tail = tail
        return [Tail(job=self.job, text=tail)]

    def _flush_news(self) -> list[JobEvent]:
        told: list[JobEvent] = []
        while self._flushes and self.session.is_confirmed(self._flushes[0]):
            told += [*self._text.end_segment(), Flushed(job=self.job, sample=self._flushes.popleft())]
        return told

    def _backlog_news(self) -> list[JobEvent]:
        received, decoded = self.session.received, self.session.decoded
        told_received, told_decoded = self._told_backlog
        is_news = received - told_received >= BACKLOG_SAMPLES or decoded - told_decoded >= BACKLOG_SAMPLES
        is_last = self.is_complete and (received, decoded) != self._told_backlog
        if not (is_news or is_last):
            return []
        self._told_backlog = (received, decoded)
        return [
            Backlog(
                job=self.job,
                received_samples=received,
                decoded_samples=decoded,
                seconds=(received - decoded) / SAMPLE_RATE_HZ,
            )
        ]
