"""Qwen3-ASR's ids as text and segments, for the detokenizer. Never imports torch."""

from __future__ import annotations

from collections.abc import Sequence

from engine.adapters.byte_text import ByteText
from engine.adapters.qwen3_asr.vocabulary import Vocabulary
from engine.adapters.segments import sentence_segments
from engine.messages import Finished
from engine.protocol.transcript import Segment


class Qwen3Text(ByteText):
    """Implements `AsrText` over a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(
            vocabulary.pieces,
            special_ids=vocabulary.special_ids,
            stop_ids=vocabulary.stop_ids,
            name=vocabulary.names.__getitem__,
        )

    def segments(
        self, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> tuple[Segment, ...]:
        """Group all ids of an accepted attempt into sentences, times in seconds within the chunk.

        The segments' texts joined are exactly the decoded text.
        """
        return sentence_segments(ids, self.pieces(ids), logprobs, finished)
