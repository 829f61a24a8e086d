"""The first chunk of a long recording is short, and of a short recording as long as any."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.manager.cutter import Cutter, Cutting, Piece
from engine.manager.head_start import OPENING_S
from engine.manager.media import open_media


@pytest.mark.parametrize(
    ("name", "is_short"), [("en_synth_piper_joe_10min.flac", True), ("de_kerstin_concat_5min.flac", False)]
)
def test_only_a_long_recording_opens_with_a_short_chunk(speech: Path, name: str, is_short: bool) -> None:
    media = open_media(str(speech / "longform" / name))
    try:
        pieces = Cutter(media, Cutting(max_chunk_s=30.0)).pieces()
        first, second = (next(piece for piece in pieces if isinstance(piece, Piece)) for _ in range(2))
    finally:
        media.close()
    assert (len(first.samples) <= OPENING_S * 16_000) is is_short
    assert len(second.samples) > OPENING_S * 16_000
    assert first.range.end <= second.range.start
