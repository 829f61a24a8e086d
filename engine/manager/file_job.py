"""One file on its way to text: what was read, what is answered, what may be told."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.manager.assembler import Assembler
from engine.manager.head_start import HeadStart
from engine.manager.language_gate import LanguageGate
from engine.manager.progress import Pace
from engine.manager.reader import MediaReader
from engine.messages import (
    SAMPLE_RATE_HZ,
    Chunk,
    ChunkKind,
    DecodingOptions,
    MediaChunk,
    MediaEnd,
    MediaOpened,
    NothingUntil,
    RequestKey,
    StrOutput,
)
from engine.protocol.events import JobDone, JobEvent, JobStarted, LanguageDetected, Progress
from engine.protocol.requests import TranscribeFile


@dataclass
class FileJob:
    """A transcription that runs. Methods return the events to tell, in order."""

    request: TranscribeFile
    model: str
    """Key of the loaded model."""
    reader: MediaReader
    started_at_s: float
    assembler: Assembler = field(init=False)
    gate: LanguageGate = field(init=False)
    head_start: HeadStart = field(default_factory=HeadStart)
    pace: Pace = field(default_factory=Pace)
    credits: int = 0
    """Given to the reader and not used yet."""
    duration_s: float | None = None
    num_chunks: int | None = None
    num_samples: int = 0
    num_speech_samples: int = 0
    is_finish_sent: bool = False
    is_finish_back: bool = False
    is_cancelled: bool = False
    chunks_with_text: set[int] = field(default_factory=set)
    told_done_s: float = -1.0

    def __post_init__(self) -> None:
        resume_at = self.request.resume_at_sample or 0
        self.assembler = Assembler(
            self.request.job,
            resume_at_sample=resume_at,
            confirms_tokens=self.request.options.confirms_tokens,
        )
        self.gate = LanguageGate(self.request.options.language)

    @property
    def job(self) -> str:
        return self.request.job

    @property
    def is_read(self) -> bool:
        return self.num_chunks is not None

    @property
    def is_complete(self) -> bool:
        return self.is_finish_back and self.assembler.is_complete

    @property
    def num_held_bytes(self) -> int:
        """How much audio was read that may not be decoded yet."""
        return self.gate.num_held_bytes + self.head_start.num_held_bytes

    def take_chunks(self) -> list[Chunk]:
        """Return the chunks that may be decoded from now on, in order."""
        return self.head_start.through(self.gate.take())

    def opened(self, message: MediaOpened) -> list[JobEvent]:
        """Note what the file is."""
        self.duration_s = message.info.duration
        self.head_start.opened(self.duration_s)
        events: list[JobEvent] = [
            JobStarted(job=self.job, media=message.info, model=self.request.options.model)
        ]
        if self.gate.language is not None:
            events.append(LanguageDetected(job=self.job, language=self.gate.language, probability=1.0))
        return events

    def read(self, message: MediaChunk | NothingUntil | MediaEnd, now_s: float) -> list[JobEvent]:
        """Take what the reader found."""
        told: list[JobEvent] = []
        match message:
            case MediaChunk():
                self.credits -= 1
                self.num_speech_samples += message.speech_samples
                told += self.assembler.add_chunk(message)
                self.gate.push(self._chunk(message))
            case NothingUntil():
                self.credits -= 1
                told += self.assembler.nothing_until(message.sample)
            case MediaEnd():
                self.num_chunks, self.num_samples = message.num_chunks, message.num_samples
                told += self.assembler.end(message.num_chunks, message.num_samples)
        return told + self._progress(now_s)

    def answered(self, output: StrOutput, now_s: float) -> list[JobEvent]:
        """Take new text of a chunk."""
        events: list[JobEvent] = []
        if output.finished is not None:
            self.head_start.answered()
        if output.delta.strip():
            self.chunks_with_text.add(output.key.chunk)
        if self.gate.heard(output, has_text=output.key.chunk in self.chunks_with_text):
            language = self.gate.language or ""
            events.append(
                LanguageDetected(job=self.job, language=language, probability=self.gate.probability)
            )
        events += self.assembler.answer(output)
        return events + self._progress(now_s)

    def done(self, now_s: float) -> JobDone:
        """Return the ending of a complete job."""
        return JobDone(
            job=self.job,
            duration=self.num_samples / SAMPLE_RATE_HZ,
            speech=self.num_speech_samples / SAMPLE_RATE_HZ,
            elapsed=now_s - self.started_at_s,
        )

    def _progress(self, now_s: float) -> list[JobEvent]:
        done_s = self.assembler.done_samples / SAMPLE_RATE_HZ
        if done_s <= self.told_done_s:
            return []
        self.told_done_s = done_s
        total_s = self.num_samples / SAMPLE_RATE_HZ if self.is_read else self.duration_s
        if total_s is not None:
            total_s = max(total_s, done_s)
        self.pace.update(done_s=done_s, now_s=now_s)
        remaining_s = self.pace.remaining_s(total_s=total_s, now_s=now_s)
        return [Progress(job=self.job, done=done_s, total=total_s, remaining_s=remaining_s)]

    def _chunk(self, message: MediaChunk) -> Chunk:
        options = self.request.options
        return Chunk(
            key=RequestKey(self.job, message.index),
            kind=ChunkKind.FILE,
            start_sample=message.start_sample,
            pcm=message.pcm,
            speech=message.speech,
            options=DecodingOptions(
                task=options.task,
                mode=options.mode,
                initial_prompt=options.initial_prompt,
                hotwords=options.hotwords,
                word_timestamps=options.word_timestamps,
                temperatures=options.temperatures,
                token_logprobs=options.token_logprobs,
                accepts_first=options.confirms_tokens,
            ),
        )
