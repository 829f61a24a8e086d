"""Qwen3-ASR's ids as text and segments, for the detokenizer. Never imports torch."""

from __future__ import annotations

from collections.abc import Sequence

from engine.adapters.qwen3_asr.vocabulary import Vocabulary
from engine.adapters.segments import sentence_segments
from engine.messages import Finished
from engine.protocol.transcript import Segment


class Qwen3Text:
    """Implements `AsrText` over a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.special_ids = vocabulary.special_ids
        self.stop_ids = vocabulary.stop_ids

    def decode(self, batch: Sequence[Sequence[int]], *, skip_special: bool) -> list[str]:
        """Return the text of each id list; an incomplete UTF-8 sequence reads as U+FFFD."""
        return [self._decode(ids, skip_special=skip_special) for ids in batch]

    def pieces(self, ids: Sequence[int]) -> tuple[bytes, ...]:
        """Return the bytes of each id; marks, and ids that do not exist, are empty."""
        table = self._vocabulary.pieces
        return tuple(table[id_] if 0 <= id_ < len(table) else b"" for id_ in ids)

    def segments(
        self, ids: Sequence[int], logprobs: Sequence[float], finished: Finished
    ) -> tuple[Segment, ...]:
        """Group all ids of an accepted attempt into sentences, times in seconds within the chunk.

        The segments' texts joined are exactly the decoded text.
        """
        return sentence_segments(ids, self.pieces(ids), logprobs, finished)

    def _decode(self, ids: Sequence[int], *, skip_special: bool) -> str:
        pieces = self.pieces(ids)
        if not skip_special:
            names = self._vocabulary.names
            pieces = tuple(
                names[id_].encode() if id_ in names else piece for id_, piece in zip(ids, pieces, strict=True)
            )
        return b"".join(pieces).decode(errors="replace")
