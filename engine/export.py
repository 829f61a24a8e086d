"""Transcripts as files: plain text, SubRip, WebVTT and JSON; pure, text out."""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec

from engine.protocol.transcript import Transcript


class ExportFormat(StrEnum):
    """The formats; the value is the file's extension."""

    TXT = "txt"
    SRT = "srt"
    VTT = "vtt"
    JSON = "json"


class SubtitleRules(msgspec.Struct, frozen=True, kw_only=True):
    """How captions are cut; the defaults are those of broadcasters' guides."""

    max_line_width: int = 42
    """Columns; a full-width (Korean, Chinese, Japanese) character takes more: see `max_wide_line_width`."""
    max_wide_line_width: int = 16
    """Characters of a line that is mostly full-width."""
    max_lines: int = 2
    min_duration_s: float = 1.0
    max_duration_s: float = 7.0
    min_gap_s: float = 0.08


class Cue(msgspec.Struct, frozen=True, kw_only=True):
    """One caption: `start < end`, lines never empty, never overlapping the next."""

    start: float
    end: float
    lines: tuple[str, ...]


def render(transcript: Transcript, format: ExportFormat, rules: SubtitleRules | None = None) -> str:
    """Return the whole file's text, to be written as UTF-8."""
    raise NotImplementedError


def cues(transcript: Transcript, rules: SubtitleRules | None = None) -> list[Cue]:
    """Cut a transcript into captions that can be read."""
    raise NotImplementedError


def file_name(source: str, format: ExportFormat, taken: Collection[str] = ()) -> str:
    """Return `{name}.srt` for a recording called `source`, numbered where `taken` has it already."""
    raise NotImplementedError
