"""What is known of a transcription while it runs, and how that reads as OpenAI's objects; pure."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final, assert_never

from engine.export import ExportFormat, render
from engine.protocol.events import JobDone, JobEvent, LanguageDetected, SegmentDone
from engine.protocol.transcript import Segment, Task, Transcript
from engine.server.form import Asked, ResponseFormat
from engine.server.languages import name_of

MEDIA_TYPES: Final = {
    ResponseFormat.TEXT: "text/plain",
    ResponseFormat.SRT: "application/x-subrip",
    ResponseFormat.VTT: "text/vtt",
}


@dataclass
class Heard:
    """Grows with each event of one job."""

    asked: Asked
    segments: list[Segment] = field(default_factory=list)
    language: str = ""
    duration_s: float = 0.0

    def take(self, event: JobEvent) -> None:
        """Note what an event says."""
        match event:
            case SegmentDone(segment=segment):
                self.segments.append(segment)
            case LanguageDetected(language=language):
                self.language = language
            case JobDone(duration=duration_s):
                self.duration_s = duration_s
            case _:
                pass

    @property
    def text(self) -> str:
        """The whole text, without blanks around it."""
        return "".join(segment.text for segment in self.segments).strip()

    def answer(self) -> str | dict[str, Any]:
        """Return the finished transcript as it was asked for: an object, or the text of a file."""
        match self.asked.format:
            case ResponseFormat.JSON:
                return self._plain()
            case ResponseFormat.VERBOSE_JSON:
                return self._verbose()
            case ResponseFormat.TEXT:
                return self.text + "\n"
            case ResponseFormat.SRT:
                return render(self._transcript(), ExportFormat.SRT)
            case ResponseFormat.VTT:
                return render(self._transcript(), ExportFormat.VTT)
            case _:
                assert_never(self.asked.format)

    def logprobs(self) -> list[dict[str, Any]]:
        """Return how sure the model was of each token."""
        return [one for segment in self.segments for one in logprobs_of(segment)]

    def _plain(self) -> dict[str, Any]:
        body: dict[str, Any] = {"text": self.text, "usage": self._usage()}
        if self.language:
            body["languages"] = [{"code": self.language}]
        if self.asked.wants_logprobs:
            body["logprobs"] = self.logprobs()
        return body

    def _verbose(self) -> dict[str, Any]:
        task = self.asked.options.task
        spoken = name_of(self.language or self.asked.options.language or "")
        body: dict[str, Any] = {
            "task": str(task),
            "language": "english" if task is Task.TRANSLATE else spoken,
            "duration": round(self.duration_s, 3),
            "text": self.text,
        }
        if self.asked.wants_words:
            body["words"] = [
                {"word": word.text.strip(), "start": round(word.start, 3), "end": round(word.end, 3)}
                for segment in self.segments
                for word in segment.words
            ]
        if self.asked.wants_segments:
            body["segments"] = [_segment(index, one) for index, one in enumerate(self.segments)]
        body["usage"] = self._usage()
        return body

    def _usage(self) -> dict[str, Any]:
        return {"type": "duration", "seconds": math.ceil(self.duration_s)}

    def _transcript(self) -> Transcript:
        return Transcript(
            segments=tuple(self.segments),
            language=self.language or None,
            duration=self.duration_s,
            task=self.asked.options.task,
        )


class Deltas:
    """Cuts confirmed text into deltas that joined are exactly `Heard.text`.

    Blanks wait until something follows them: the text begins and ends without.
    """

    def __init__(self) -> None:
        self._held = ""
        self._has_begun = False

    def take(self, text: str) -> str:
        """Return what may be sent now that `text` is confirmed; empty where that is nothing."""
        text = self._held + text
        spoken = text.rstrip()
        self._held = text[len(spoken) :]
        if not self._has_begun:
            spoken = spoken.lstrip()
        self._has_begun = self._has_begun or bool(spoken)
        return spoken


def logprobs_of(segment: Segment) -> list[dict[str, Any]]:
    """Return how sure the model was of each of a segment's tokens."""
    return [
        {
            "token": one.piece.decode("utf-8", "replace"),
            "bytes": list(one.piece),
            "logprob": one.logprob,
        }
        for one in segment.token_logprobs
    ]


def _segment(index: int, segment: Segment) -> dict[str, Any]:
    return {
        "id": index,
        "seek": segment.seek,
        "start": round(segment.start, 3),
        "end": round(segment.end, 3),
        "text": segment.text,
        "tokens": list(segment.tokens),
        "temperature": segment.temperature,
        "avg_logprob": segment.avg_logprob,
        "compression_ratio": segment.compression_ratio,
        "no_speech_prob": segment.no_speech_prob,
    }
