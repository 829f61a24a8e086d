"""Every awkward file of the wider speech set is read, or refused with the right words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.manager.cutter import Cutter, Cutting, Piece
from engine.manager.media import open_media
from engine.protocol.failures import FailureError, FailureKind

pytestmark = pytest.mark.speech

CLIP_S = 9.655
_K = FailureKind
REFUSALS = {
    'clear "empty file" error': {_K.EMPTY_AUDIO},
    'clear "empty audio" error or empty transcript': {_K.EMPTY_AUDIO},
    'clear "not audio" error, no crash': {_K.BAD_MEDIA},
    'clear "not audio" error': {_K.BAD_MEDIA},
    "clear error, or an empty/near-empty transcript (decoders may find false mp3 frames)": {_K.BAD_MEDIA},
    'clear "no audio track" error': {_K.NO_AUDIO},
    "clear error: the moov atom at the end is missing": {_K.UNFINISHED_MEDIA},
}
PARTS = {
    "the first part of the text": (5.0, 6.5),
    "the first 60 % of the text, or a clear error": (5.0, 6.5),
    "empty transcript, no crash": (0.0, 0.1),
    '"print"/"printing" or empty, no crash': (0.3, 0.5),
}


def _awkward(speech: Path) -> list[dict[str, Any]]:
    entries = json.loads((speech / "manifest.json").read_text(encoding="utf-8"))
    return [entry for entry in entries if entry["file"].startswith("awkward/")]


def test_every_awkward_file_does_what_the_manifest_expects(speech: Path) -> None:
    entries = _awkward(speech)
    assert len(entries) > 50
    problems = [problem for entry in entries if (problem := _problem(speech, entry))]
    assert problems == []


def _problem(speech: Path, entry: dict[str, Any]) -> str | None:
    """Return what is wrong with how the file is read, or None."""
    path = speech / entry["file"]
    expect = entry["expect"]
    try:
        num_samples, pieces = _read(path)
    except FailureError as error:
        failure = error.failure
        if path.name not in failure.message or not failure.hint:
            return f"{path.name}: the message does not name the file: {failure.message}"
        is_right = failure.kind in REFUSALS.get(expect, set())
        return None if is_right else f"{path.name}: {failure.kind} where expected: {expect}"
    shortest_s, longest_s = PARTS.get(expect, (CLIP_S - 0.25, CLIP_S + 0.25))
    if expect in REFUSALS:
        return None if not num_samples else f"{path.name}: read, where expected: {expect}"
    if not shortest_s <= num_samples / 16_000 <= longest_s:
        return f"{path.name}: {num_samples / 16_000:.2f} s, expected: {expect}"
    if shortest_s < 1:
        return None
    has_voice = sum(piece.range.speech for piece in pieces) > 0.7 * num_samples
    is_sound = all(np.isfinite(piece.samples).all() for piece in pieces)
    return None if has_voice and is_sound else f"{path.name}: the voice is lost"


def _read(path: Path) -> tuple[int, list[Piece]]:
    media = open_media(str(path))
    try:
        cutter = Cutter(media, Cutting(max_chunk_s=30.0))
        pieces = [piece for piece in cutter.pieces() if isinstance(piece, Piece)]
        return cutter.num_samples, pieces
    finally:
        media.close()
