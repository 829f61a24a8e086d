"""One chunk's answer while it comes: what is told of it at once, and what at its end; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from engine.messages import SAMPLE_RATE_HZ, Chunk, ChunkKind, StrOutput
from engine.protocol.transcript import Word
from engine.remote.hearsay import Placed, behind_prefix, finished, place, segments_of, spaced, word_id
from engine.remote.shapes import Reply

PROBABLE: Final = 0.9
"""Of a language that the server has found out: it does not say how sure it is."""


class Answering:
    """The answer to one chunk. Deltas told since the last `is_first` joined are its text so far."""

    def __init__(self, chunk: Chunk) -> None:
        self._chunk = chunk
        self.restart()

    def restart(self) -> None:
        """Forget what was told: the chunk is asked again."""
        self._heard, self._told = "", ""
        self._is_first = True

    def more(self, delta: str) -> StrOutput | None:
        """Take more text of a stream; a live chunk's is told only as a whole."""
        if self._chunk.kind is not ChunkKind.FILE:
            return None
        self._heard += delta
        text = spaced(self._heard)
        return self._output(text) if text != self._told else None

    def whole(self, reply: Reply) -> StrOutput:
        """Return the end of the answer, with everything that is known of it."""
        placed = place(reply, self._chunk.num_samples / SAMPLE_RATE_HZ, self._chunk.speech)
        if self._chunk.kind is ChunkKind.FILE:
            return self._file_answer(reply, placed)
        return self._live_answer(reply, placed)

    def _file_answer(self, reply: Reply, placed: Sequence[Placed]) -> StrOutput:
        chunk = self._chunk
        told = self._output("".join(one.text for one in placed))
        language, probability = self._language(reply)
        return StrOutput(
            key=chunk.key,
            delta=told.delta,
            is_first=told.is_first,
            language=language,
            language_probability=probability,
            segments=segments_of(placed, with_words=chunk.options.word_timestamps),
            finished=finished(placed, [], chunk),
        )

    def _live_answer(self, reply: Reply, placed: Sequence[Placed]) -> StrOutput:
        chunk = self._chunk
        all_words = [word for one in placed for word in one.words]
        confirmed = chunk.prefix_ids if reply.confirmed is None else reply.confirmed
        words = behind_prefix(all_words, confirmed)
        language, probability = self._language(reply)
        return StrOutput(
            key=chunk.key,
            delta="".join(word.text for word in words),
            is_first=True,
            ids=tuple(word_id(word.text) for word in words),
            pieces=tuple(word.text.encode("utf-8", "replace") for word in words),
            logprobs=tuple(_logprob(word) for word in words),
            attended_s=tuple((word.start + word.end) / 2 for word in words),
            language=language,
            language_probability=probability,
            finished=finished(placed, words, chunk),
        )

    def _output(self, text: str) -> StrOutput:
        """Return what makes `text` of what was told so far."""
        is_longer = text.startswith(self._told)
        output = StrOutput(
            key=self._chunk.key,
            delta=text[len(self._told) :] if is_longer else text,
            is_first=self._is_first or not is_longer,
        )
        self._told, self._is_first = text, False
        return output

    def _language(self, reply: Reply) -> tuple[str | None, float | None]:
        if self._chunk.options.language is not None:
            return self._chunk.options.language, 1.0
        return reply.language, PROBABLE if reply.language is not None else None


def _logprob(word: Word) -> float:
    return math.log(max(word.probability, 1e-9))
